/** A grant lets one deployment bypass closed Gates (docs/adr/0028-bypass-for-one-deployment.md). */
import { describe, expect, it } from 'vitest';
import { BYPASSED_GATES } from '../../../api/annotations.ts';
import type { HistoryEntry, Rollout } from '../../../api/types.ts';
import { currentGrant, formatBypassGrant, grantCovers, mayBypass } from '../../../core/suspension/bypassGrant.ts';
import { NOW, rollout } from '../admission/objects.ts';

const FREEZE = 'shop/freeze@close=2026-03-04T09:00:00Z';
const OTHER = 'ops/other';
const GRANTED = Date.parse('2026-03-04T09:30:00Z');

/** A Rollout at 1.1.0 (2), deployed at 09:00, with a grant from 09:30. */
function granted(head: Partial<HistoryEntry> = {}, annotations: Record<string, string | undefined> = {}): Rollout {
  const base = rollout('my-app', '1.1.0', '1.0.0');
  const [newest, ...older] = base.status!.history!;
  const text = formatBypassGrant({ version: '1.1.0', id: 2, grantedAt: GRANTED, closures: [FREEZE, OTHER] });
  const all = { [BYPASSED_GATES]: text, ...annotations };
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

it('a grant is parsed as it was formatted', () => {
  const grant = { version: '1.1.0-rc.1_x', id: 12, grantedAt: GRANTED, closures: [OTHER, FREEZE] };
  const found = granted({}, { [BYPASSED_GATES]: formatBypassGrant(grant) });
  expect(grant.closures.every(mayBypass(found, { id: 11 } as never, grant.version))).toBe(true);
});

it('a grant for one limit is for the other too, because each needs the right for all Gates', () => {
  const text = formatBypassGrant({ version: '1.1.0', id: 2, grantedAt: GRANTED, closures: ['(too-many)'] });
  expect(grantCovers(granted({}, { [BYPASSED_GATES]: text }), ['(too-many-rollouts)'], NOW)).toBe(true);
  expect(grantCovers(granted(), ['(too-many)'], NOW)).toBe(false);
});

it('a grant for many Gates with long names stays small, and is for these closures alone', () => {
  const named = (i: number) => `${'n'.repeat(63)}/${`${i}`.padEnd(253, 'g')}@close=2026-03-04T09:00:00Z`;
  const closures = Array.from({ length: 200 }, (_, i) => named(i));
  const text = formatBypassGrant({ version: '1.1.0', id: 2, grantedAt: GRANTED, closures });
  expect(text.length).toBeLessThan(4096);
  const found = granted({}, { [BYPASSED_GATES]: text });
  expect(grantCovers(found, closures, NOW)).toBe(true);
  expect(grantCovers(found, [named(7)], NOW)).toBe(true);
  expect(grantCovers(found, [...closures, named(200)], NOW)).toBe(false);
  expect(grantCovers(found, [closures[0]!.slice(0, -1)], NOW)).toBe(false);
  const isBypassed = mayBypass(
    granted({}, { [BYPASSED_GATES]: text.replace('(2)', '(3)') }),
    { id: 2 } as never,
    '1.1.0',
  );
  expect([7, 200].map((i) => isBypassed(named(i)))).toEqual([true, false]);
});

it.each([
  '',
  'shop/freeze',
  `1.1.0 2026-03-04T09:30:00Z: ${FREEZE}`,
  `1.1.0 (2): ${FREEZE}`,
  `1.1.0 (2) yesterday: ${FREEZE}`,
  `1.1.0 (2) 2026-03-04T09:30:00Z b: ${FREEZE}`,
  `1.1.0 (x) 2026-03-04T09:30:00Z: ${FREEZE}`,
  '1.1.0 (2) 2026-03-04T09:30:00Z: ',
  `${'1'.repeat(129)} (2) 2026-03-04T09:30:00Z: ${FREEZE}`,
])('another text is no grant: %j', (text) => {
  const found = granted({}, { [BYPASSED_GATES]: text });
  expect(grantCovers(found, [FREEZE], NOW)).toBe(false);
});

describe('a deployment that is rolling out bypasses', () => {
  it.each<[title: string, rollout: Rollout, closures: string[], isBypassed: boolean]>([
    ['a closure in its grant', granted(), [FREEZE], true],
    ['all closures in it together', granted(), [OTHER, FREEZE], true],
    ['not a Gate that has closed since', granted(), [FREEZE, 'shop/new'], false],
    ['not another closure of the same Gate', granted(), ['shop/freeze@close=2026-03-04T09:59:00Z'], false],
    ['nothing if no Gate is closed', granted(), [], false],
    ['not once it is applied', granted({ appliedTime: '2026-03-04T09:45:00Z' }), [FREEZE], false],
    ['not once it has failed', granted({ bakeStatus: 'Failed' }), [FREEZE], false],
    ['not once it is cancelled', granted({ bakeStatus: 'Cancelled' }), [FREEZE], false],
    [
      'not after a retry, which needs no right on the Gate',
      granted({ lastRetryTimestamp: '2026-03-04T09:50:00Z' }),
      [FREEZE],
      false,
    ],
    [
      'a closure in a grant from after a retry',
      granted({ lastRetryTimestamp: '2026-03-04T09:20:00Z' }),
      [FREEZE],
      true,
    ],
    ['a closure in its grant, without a bake', granted({ bakeStatus: 'Succeeded' }), [FREEZE], true],
    ['not as another version with its id', granted({ version: { tag: '6.6.6' } }), [FREEZE], false],
    ['not as the same version, deployed later', granted({ id: 3 }), [FREEZE], false],
    ['not without a grant', granted({}, { [BYPASSED_GATES]: undefined }), [FREEZE], false],
  ])('%s', (_, of, closures, isBypassed) => {
    expect(grantCovers(of, closures, NOW)).toBe(isBypassed);
  });

  it('for an hour at most, from its grant or its start, whichever is later', () => {
    const at = (time: string) => Date.parse(`2026-03-04T${time}Z`);
    expect(currentGrant(granted())?.end).toBe(at('10:30:00'));
    expect(grantCovers(granted(), [FREEZE], at('10:29:59'))).toBe(true);
    expect(grantCovers(granted(), [FREEZE], at('10:30:00'))).toBe(false);
    expect(currentGrant(granted({ timestamp: '2026-03-04T09:40:00Z' }))?.end).toBe(at('10:40:00'));
  });
});

describe('the next deployment bypasses closures', () => {
  const head = granted().status!.history![0];
  const next = granted(
    {},
    { [BYPASSED_GATES]: formatBypassGrant({ version: '1.2.0', id: 3, grantedAt: GRANTED, closures: [FREEZE] }) },
  );

  it.each<[title: string, rollout: Rollout, head: HistoryEntry | undefined, version: string, closures: string[]]>([
    ['with the version and the id of the grant', next, head, '1.2.0', [FREEZE]],
    ['not as another version', next, head, '1.3.0', []],
    ['not after another deployment', next, { ...head!, id: 3 }, '1.2.0', []],
    ['not if the grant is for the head itself', granted(), head, '1.1.0', []],
  ])('%s', (_, found, before, version, closures) => {
    expect([FREEZE, OTHER].filter(mayBypass(found, before, version))).toEqual(closures);
  });
});
