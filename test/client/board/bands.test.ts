import { describe, expect, it } from 'vitest';
import type { Gate } from '../../../api/types.ts';
import { gateView, ruleText, selectsText } from '../../../client/board/planViews.ts';

const SUNDAY = Date.parse('2026-11-22T08:00:00Z');
const gateOf = (spec: Partial<Gate['spec']>, status: Gate['status'] = {}): Gate => ({
  apiVersion: 'gating.toolkit.fluxcd.io/v1alpha1',
  kind: 'Gate',
  metadata: { namespace: 'shop', name: 'freeze' },
  spec: { default: 'opened', ...spec },
  status,
});
const bandsOf = (gate: Gate) => gateView(gate, SUNDAY).bands;

describe('the bands of a Gate', () => {
  it('show planned requests, with user and reason', () => {
    const planned = { action: 'close' as const, at: '2026-11-24T10:00:00Z', by: 'alice', reason: 'stocktaking' };
    const bands = bandsOf(gateOf({ window: '4h' }, { planned }));
    expect(bands[1]).toMatchObject({
      from: '2026-11-24T10:00:00Z',
      to: '2026-11-24T14:00:00Z',
      state: 'closed',
      planned: true,
      why: 'closed by alice: stocktaking',
    });
    expect(bands[2]).toMatchObject({ state: 'open' });
  });

  it('have no end if none is known', () => {
    expect(bandsOf(gateOf({ default: 'closed' }))).toEqual([
      { from: '2026-11-22T08:00:00Z', state: 'closed', why: 'closed by default' },
    ]);
  });

  it('are as many as can be drawn, for any calendar', () => {
    const rules = Array.from({ length: 64 }, (_, hour) => ({
      timeRange: { start: `${String(hour % 24).padStart(2, '0')}:00`, end: `${String(hour % 24).padStart(2, '0')}:30` },
    }));
    expect(bandsOf(gateOf({ schedule: { rules } })).length).toBe(120);
  });
});

describe('a Gate in words', () => {
  it.each<[Parameters<typeof selectsText>[0], string]>([
    [{}, 'all governed kinds of Flux in its own namespace'],
    [{ kinds: ['Rollout'], namespaceSelector: {} }, 'Rollout in all namespaces'],
    [
      {
        kinds: ['Kustomization', 'HelmRelease'],
        namespaceSelector: { matchLabels: { team: 'shop' } },
        labelSelector: { matchLabels: { tier: 'x' } },
      },
      'Kustomization, HelmRelease in namespaces with team=shop, with tier=x',
    ],
  ])('%j', (selects, text) => {
    expect(selectsText(selects)).toBe(text);
  });

  it('has its rules', () => {
    expect(ruleText({ name: 'evenings', daysOfWeek: ['Friday'], timeRange: { start: '16:00', end: '00:00' } })).toBe(
      'Friday 16:00–00:00 (evenings)',
    );
    expect(gateView(gateOf({ schedule: { action: 'Open', rules: [{}] } }), SUNDAY).rules).toEqual(['open every day']);
  });
});
