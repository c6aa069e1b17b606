/** The Gates that a deployment may bypass (docs/adr/0028-bypass-for-one-deployment.md). */
import { describe, expect, it } from 'vitest';
import { BYPASSED_BY, BYPASSED_GATES } from '../../../api/annotations.ts';
import type { HistoryEntry, Rollout } from '../../../api/types.ts';
import {
  bypassedClosings,
  bypassesGates,
  bypassGrantEnds,
  bypassGrantOf,
  formatBypassGrant,
} from '../../../core/suspension/bypassGrant.ts';
import { NOW, rollout } from '../admission/objects.ts';

const FREEZE = 'shop/freeze@close=2026-03-04T09:00:00Z';
const OTHER = 'ops/other';

/** A deployment of 1.1.0 (2), made at 09:00 and requested at 09:30. */
function passing(head: Partial<HistoryEntry> = {}, annotations: Record<string, string | undefined> = {}): Rollout {
  const base = rollout('my-app', '1.1.0', '1.0.0');
  const [newest, ...older] = base.status!.history!;
  const text = formatBypassGrant({ version: '1.1.0', id: 2, closings: [FREEZE, OTHER] });
  const all = { [BYPASSED_GATES]: text, [BYPASSED_BY]: '2026-03-04T09:30:00Z sre', ...annotations };
  const kept = Object.fromEntries(Object.entries(all).filter((entry) => entry[1] !== undefined)) as Record<
    string,
    string
  >;
  return {
    ...base,
    metadata: { ...base.metadata, annotations: kept },
    status: { ...base.status, history: [{ ...newest!, ...head }, ...older] },
  };
}

it('a passage is read as it was written', () => {
  const passage = { version: '1.1.0-rc.1_x', id: 12, closings: [OTHER, FREEZE] };
  expect(bypassGrantOf(passing({}, { [BYPASSED_GATES]: formatBypassGrant(passage) }))).toEqual(passage);
});

it.each([
  '',
  'shop/freeze',
  '1.1.0: shop/freeze',
  '1.1.0 (2): ',
  '1.1.0 (x): shop/freeze',
  `${'1'.repeat(129)} (2): a`,
])('a text that is not ours lets nothing through: %j', (text) => {
  const found = passing({}, { [BYPASSED_GATES]: text });
  expect(bypassGrantOf(found)).toBeUndefined();
  expect(bypassesGates(found, [FREEZE], NOW)).toBe(false);
});

describe('the objects of a deployment that is rolling out bypass the Gate', () => {
  it.each<[title: string, rollout: Rollout, closings: string[], passes: boolean]>([
    ['the closings that were bypassed', passing(), [FREEZE], true],
    ['all of them together', passing(), [OTHER, FREEZE], true],
    ['not a Gate that has closed since', passing(), [FREEZE, 'shop/new'], false],
    ['not another closing of the same Gate', passing(), ['shop/freeze@close=2026-03-04T09:59:00Z'], false],
    ['not where no Gate is closed: there is nothing to pass', passing(), [], false],
    ['not once it has arrived', passing({ appliedTime: '2026-03-04T09:45:00Z' }), [FREEZE], false],
    ['not once it has failed', passing({ bakeStatus: 'Failed' }), [FREEZE], false],
    ['not once it is cancelled', passing({ bakeStatus: 'Cancelled' }), [FREEZE], false],
    ['where it does not bake', passing({ bakeStatus: 'Succeeded' }), [FREEZE], true],
    ['not another version under its id', passing({ version: { tag: '6.6.6' } }), [FREEZE], false],
    ['not the same version deployed later', passing({ id: 3 }), [FREEZE], false],
    ['not without a passage', passing({}, { [BYPASSED_GATES]: undefined }), [FREEZE], false],
  ])('%s', (_, found, closings, passes) => {
    expect(bypassesGates(found, closings, NOW)).toBe(passes);
  });

  it('for at most an hour, from the bypass or the deployment, whichever is later', () => {
    const at = (time: string) => Date.parse(`2026-03-04T${time}Z`);
    expect(bypassGrantEnds(passing())).toBe(at('10:30:00'));
    expect(bypassesGates(passing(), [FREEZE], at('10:29:59'))).toBe(true);
    expect(bypassesGates(passing(), [FREEZE], at('10:30:00'))).toBe(false);
    expect(bypassGrantEnds(passing({ timestamp: '2026-03-04T09:40:00Z' }))).toBe(at('10:40:00'));
    expect(bypassGrantEnds(passing({}, { [BYPASSED_BY]: undefined }))).toBe(at('10:00:00'));
  });
});

describe('the next deployment passes', () => {
  const head = passing().status!.history![0];
  const next = passing({}, { [BYPASSED_GATES]: formatBypassGrant({ version: '1.2.0', id: 3, closings: [FREEZE] }) });

  it.each<[title: string, rollout: Rollout, head: HistoryEntry | undefined, version: string, closings: string[]]>([
    ['as the version and with the id of the bypass', next, head, '1.2.0', [FREEZE]],
    ['not as another version', next, head, '1.3.0', []],
    ['not after another deployment', next, { ...head!, id: 3 }, '1.2.0', []],
    ['not where the passage is for the head itself', passing(), head, '1.1.0', []],
  ])('%s', (_, found, before, version, closings) => {
    expect([...bypassedClosings(found, before, version)]).toEqual(closings);
  });
});
