/** What the page asks for is the write that the command makes for the same: of each request, with the object as it is. */
import { describe, expect, it } from 'vitest';
import type { Gate, Rollout, RolloutGate } from '../../../api/types.ts';
import { type Asked, commandOf, equivalentOf, type Found, requestOf } from '../../../client/board/requests.ts';
import { freeze } from '../../../client/requests/freeze.ts';
import { approveAtGate, closeGate, openGate } from '../../../client/requests/gate.ts';
import { isRequest } from '../../../client/requests/request.ts';
import { bypass, deploy, passRolloutGates, pin, retry, unblock, unpin } from '../../../client/requests/rollout.ts';
import { approve, reject } from '../../../client/requests/rolloutGate.ts';
import { evaluateGate } from '../../../core/gate/evaluate.ts';
import { objectOf } from '../../support/objects.ts';

const NOW = Date.parse('2026-11-22T08:00:00Z');
const HOUR = 3_600_000;
const rollout = { namespace: 'shop', name: 'checkout' };
const gate = { namespace: 'shop', name: 'freeze' };
const rolloutGate = { namespace: 'shop', name: 'qa' };

const head = (bakeStatus: string) => ({ history: [{ id: 1, version: { tag: '1.2.0' }, timestamp: '', bakeStatus }] });
const rolloutWith = (spec: object, status: object, annotations = {}): Rollout =>
  objectOf('Rollout', { metadata: { ...rollout, annotations }, spec, status } as never);
const FAILED = rolloutWith({}, head('Failed'), { 'rollout.kuberik.com/deploy-message': 'an older one' });
const PINNED = rolloutWith({ wantedVersion: '1.1.0' }, head('Succeeded'));
const QA: RolloutGate = objectOf('RolloutGate', {
  metadata: { ...rolloutGate, resourceVersion: '7' },
  spec: { rolloutRef: { name: 'checkout' }, allowedVersions: ['1.1.0'], rejectedVersions: ['1.0.9'] },
} as never);
const gateWith = (spec: object, annotations = {}): Gate =>
  objectOf('Gate', { metadata: { ...gate, annotations }, spec } as never);
const CLOSED = gateWith({ default: 'closed' }, { 'open.gate.fluxcd.io/reason': 'an older one' });
const ASKING = gateWith({ default: 'closed', approvals: { required: 2 } });
const OPENED = gateWith({ default: 'opened' });
const kinds = ['Kustomization' as const, 'Rollout' as const];
const rules = [{ daysOfWeek: ['Friday' as const] }];
const selects = { kinds };

describe('a request of the page is the one of the command', () => {
  it.each<[Asked, Found | undefined, unknown]>([
    [{ do: 'deploy', rollout, version: '1.3.0', reason: 'fix' }, FAILED, deploy(FAILED, '1.3.0', 'fix')],
    [{ do: 'deploy', rollout, version: '1.3.0', reason: '' }, PINNED, deploy(PINNED, '1.3.0', undefined)],
    [{ do: 'pin', rollout, version: '1.1.0', reason: '' }, FAILED, pin(FAILED, '1.1.0', undefined)],
    [{ do: 'bypass', rollout, version: '1.3.0', reason: 'INC-7' }, PINNED, bypass(PINNED, '1.3.0', 'INC-7', NOW)],
    [{ do: 'pass-gates', rollout, version: '1.3.0', reason: '' }, FAILED, passRolloutGates(FAILED, '1.3.0', undefined)],
    [{ do: 'unpin', rollout, reason: 'over' }, PINNED, unpin(PINNED, 'over')],
    [{ do: 'retry', rollout, reason: 'it is back' }, FAILED, retry(FAILED, 'it is back')],
    [{ do: 'unblock', rollout, reason: 'known' }, FAILED, unblock(FAILED, 'known')],
    [{ do: 'approve', rolloutGate, version: '1.2.0', reason: 'CHG-7' }, QA, approve(QA, '1.2.0', 'CHG-7')],
    [{ do: 'reject', rolloutGate, version: '1.2.0', reason: '' }, QA, reject(QA, '1.2.0', undefined)],
    [
      { do: 'approve-at-gate', gate, rollout, version: '1.2.0', reason: 'QA-88' },
      ASKING,
      approveAtGate(ASKING, '1.2.0', { reason: 'QA-88', rollout }, NOW),
    ],
    [{ do: 'open', gate, reason: '' }, CLOSED, openGate(CLOSED, {}, NOW)],
    [{ do: 'open', gate, reason: '', version: '1.2.0' }, CLOSED, openGate(CLOSED, { version: '1.2.0' }, NOW)],
    [
      { do: 'close', gate, reason: 'INC-7', at: '2026-11-23T08:00:00Z' },
      OPENED,
      closeGate(OPENED, { reason: 'INC-7', at: NOW + 24 * HOUR }, NOW),
    ],
    [
      { do: 'freeze', gate, reason: 'INC-7', closes: true, spec: { default: 'opened', window: '24h', selects } },
      undefined,
      freeze({ ref: gate, kinds, reason: 'INC-7', until: NOW + 24 * HOUR }, undefined, NOW),
    ],
    [
      { do: 'freeze', gate, reason: '', closes: true, spec: { default: 'opened', selects } },
      undefined,
      freeze({ ref: gate, kinds }, undefined, NOW),
    ],
    [
      {
        do: 'freeze',
        gate,
        reason: '',
        closes: true,
        at: '2026-11-23T08:00:00Z',
        spec: { default: 'opened', window: '4h', selects },
      },
      undefined,
      freeze({ ref: gate, kinds, at: NOW + 24 * HOUR, window: 4 * HOUR }, undefined, NOW),
    ],
    [
      {
        do: 'freeze',
        gate,
        reason: '',
        closes: false,
        spec: { default: 'opened', schedule: { timezone: 'UTC', rules }, selects },
      },
      undefined,
      freeze({ ref: gate, kinds, every: { days: ['Friday'], timezone: 'UTC' } }, undefined, NOW),
    ],
  ])('%j', (asked, found, expected) => {
    expect(requestOf(asked, found, NOW)).toEqual(expected);
  });

  it('a freeze that ends leaves no end behind for the next one', () => {
    const spec = { default: 'opened' as const, window: '24h', selects };
    const made = requestOf({ do: 'freeze', gate, reason: '', closes: true, spec }, undefined, NOW);
    if (!isRequest(made)) throw new Error(made.none);
    expect(made.body.spec).toEqual({ default: 'opened', selects });
    expect(evaluateGate(made.body as unknown as Gate, NOW)).toMatchObject({ opened: false, until: NOW + 24 * HOUR });
  });

  it('a bypass of a pinned Rollout moves the pin', () => {
    const made = requestOf({ do: 'bypass', rollout, version: '1.3.0', reason: 'INC-7' }, PINNED, NOW);
    expect(made).toMatchObject({ body: { spec: { wantedVersion: '1.3.0' } } });
    expect(made).not.toMatchObject({
      body: { metadata: { annotations: { 'rollout.kuberik.com/force-deploy': '1.3.0' } } },
    });
  });

  it.each<[Asked, string]>([
    [{ do: 'retry', rollout, reason: '' }, 'There is no Rollout shop/checkout.'],
    [{ do: 'approve-at-gate', gate, rollout, version: '1.2.0', reason: '' }, 'There is no Gate shop/freeze.'],
  ])('there is none for what is gone: %j', (asked, none) => {
    expect(requestOf(asked, undefined, NOW)).toEqual({ none, isWrong: true });
  });
});

describe('the equivalent that the page shows', () => {
  const shown = (asked: Asked, found?: Found) => equivalentOf(asked, found, NOW).kubectl;

  it('is of the object, where it is known', () => {
    expect(shown({ do: 'retry', rollout, reason: '' }, FAILED)).toBe(
      'kubectl -n shop annotate --overwrite rollout/checkout rollout.kuberik.com/retry=1.2.0',
    );
    expect(shown({ do: 'approve', rolloutGate, version: '1.2.0', reason: '' }, QA)).toBe(
      `kubectl -n shop patch rolloutgate/qa --type=merge -p '{"spec":{"allowedVersions":["1.1.0","1.2.0"]}}'`,
    );
  });

  it('of an approval at a Gate is for one Rollout', () => {
    const asked: Asked = { do: 'approve-at-gate', gate, rollout, version: '1.2.0', reason: '' };
    expect(shown(asked)).toBe(
      'kubectl -n shop annotate --overwrite gate/freeze approve.gate.fluxcd.io/for=shop/checkout:1.2.0',
    );
    expect(commandOf(asked)).toBe('kubectl rollouts -n shop approve gate/freeze shop/checkout:1.2.0');
  });

  it('takes off what somebody may have said before, where it is not', () => {
    expect(shown({ do: 'pin', rollout, version: '1.1.0', reason: '' })).toContain(
      '"rollout.kuberik.com/deploy-message":null',
    );
    expect(shown({ do: 'open', gate, reason: 'over' })).toBe(
      'kubectl -n shop annotate --overwrite gate/freeze open.gate.fluxcd.io/requestedAt=2026-11-22T08:00:00Z open.gate.fluxcd.io/reason=over open.gate.fluxcd.io/for-',
    );
  });

  it('what a person wrote is one word of the shell', () => {
    expect(commandOf({ do: 'retry', rollout, reason: `it's $(rm -rf /) "now"` })).toBe(
      `kubectl rollouts -n shop retry checkout --reason 'it'\\''s $(rm -rf /) "now"'`,
    );
  });
});
