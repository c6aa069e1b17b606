/** Approvals at admission: who can give one, and what is recorded. */
import { describe, expect, it } from 'vitest';
import type { RolloutGate } from '../../../api/types.ts';
import { goJsonBytes } from '../../../core/kube/json.ts';
import { LIMITS } from '../../../core/limits.ts';
import { compile } from '../../../dev/sim/apiServer/cel.ts';
import { mutateRolloutGate } from '../../../webhooks/rolloutGate/rolloutGateAdmission.ts';
import { object } from '../../hooks/rollout/call.ts';
import { objectIn } from '../../manifests/files.ts';
import { requestedBy } from '../../support/requestRecords.ts';
import { write } from '../gate/call.ts';

const P = 'rollout.kuberik.com/';
const KUSTOMIZE_CONTROLLER = 'system:serviceaccount:flux-system:kustomize-controller';
const AT = '2026-03-01T12:00:00Z';

type Rule = NonNullable<NonNullable<RolloutGate['spec']>['approvals']>;

const app = (annotations = {}) => {
  const rollout = object('kuberik.com/v1alpha1', 'Rollout', 'app', {});
  const status = { availableReleases: [{ tag: '1.0.0' }, { tag: '1.1.0' }] };
  return { ...rollout, status, metadata: { ...rollout.metadata, annotations } };
};

/** `approvals` null: none are required. */
const gate = (annotations: Record<string, string> = {}, approvals: Rule | null = { required: 2 }) => {
  const made = object('kuberik.com/v1alpha1', 'RolloutGate', 'prod', {
    rolloutRef: { name: 'app' },
    passing: true,
    ...(approvals && { approvals }),
  });
  return { ...made, metadata: { ...made.metadata, labels: { [`${P}rollout-name`]: 'app' }, annotations } };
};

/** The stored object after a write by `user`. */
async function approve(
  annotations: Record<string, string | undefined>,
  { user = 'alice', old = gate(), rule = { required: 2 } as Rule | null, at = AT, rollout = app() } = {},
) {
  const all = Object.entries({ ...old.metadata.annotations, ...annotations });
  const next = Object.fromEntries(all.filter((entry): entry is [string, string] => entry[1] !== undefined));
  const object = gate(next, rule);
  const answered = await write(mutateRolloutGate, { object, old, user, at, objects: [rollout] });
  return { ...answered, stored: answered.object as ReturnType<typeof gate> };
}

const recorded = ({ metadata }: ReturnType<typeof gate>) => {
  const { [`${P}approvals`]: record, ...others } = metadata.annotations ?? {};
  expect(others).toEqual({});
  return JSON.parse(record ?? '{"given":[]}');
};

describe('an approval', () => {
  it('is recorded with the authenticated user, and the request is removed', async () => {
    const { stored, allowed } = await approve({ [`${P}approve`]: '1.1.0', [`${P}approve-reason`]: 'CHG-1\n by root' });
    expect(allowed).toBe(true);
    expect(recorded(stored).given).toEqual([{ version: '1.1.0', by: 'alice', at: AT, reason: 'CHG-1 by root' }]);
  });

  it('by the same user counts once, from the last time', async () => {
    const { stored: first } = await approve({ [`${P}approve`]: '1.1.0' });
    const later = '2026-03-01T13:00:00Z';
    const { stored, warnings } = await approve({ [`${P}approve`]: '1.1.0' }, { old: first, at: later });
    expect(recorded(stored).given).toEqual([{ version: '1.1.0', by: 'alice', at: later }]);
    expect(warnings).toEqual([`you approved 1.1.0 before, at ${AT}: this approval replaces that one`]);
  });

  it('of a long version, by the same user, has a Warning that is not cut', async () => {
    const version = '1'.repeat(128);
    const rollout = { ...app(), status: { availableReleases: [{ tag: version }] } };
    const { stored: first } = await approve({ [`${P}approve`]: version }, { rollout });
    const { warnings } = await approve({ [`${P}approve`]: version }, { old: first, rollout });
    expect(warnings).toEqual([`you approved ${'1'.repeat(32)} before, at ${AT}: this approval replaces that one`]);
  });

  it('is withdrawn and another one given in one write', async () => {
    const { stored: first } = await approve({ [`${P}approve`]: '1.1.0' });
    const moved = { [`${P}unapprove`]: '1.1.0', [`${P}approve`]: '1.0.0' };
    const { stored } = await approve(moved, { old: first });
    expect(recorded(stored).given).toMatchObject([{ version: '1.0.0', by: 'alice' }]);
  });

  it('can’t be written or removed by any user', async () => {
    const { stored: first } = await approve({ [`${P}approve`]: '1.1.0' });
    for (const text of [undefined, '', '[]', '{"given":[]}', '{"given":[{"version":"1.1.0","by":"bob","at":"now"}]}']) {
      const { stored } = await approve(
        { [`${P}approvals`]: text },
        { old: first, user: text ? 'mallory' : KUSTOMIZE_CONTROLLER },
      );
      expect(stored.metadata.annotations).toEqual(first.metadata.annotations);
    }
  });

  it.each([
    ['of a version that does not exist', '1.2.0', 'alice', { required: 2 }, 'has no release 1.2.0'],
    ['of no version', '', 'alice', { required: 2 }, 'the annotation names no version'],
    ['of what is no tag', '1.1.0 and 1.2.0', 'alice', { required: 2 }, 'is not a tag'],
    [
      'where none is asked for',
      '1.1.0',
      'alice',
      null,
      'not approved: without spec.approvals, no version needs approval',
    ],
    ['by nobody', '1.1.0', 'system:anonymous', { required: 2 }, 'system:anonymous is a system user'],
  ])('%s is denied and not recorded', async (_, version, user, rule, why) => {
    const { allowed, message } = await approve({ [`${P}approve`]: version }, { user, old: gate({}, rule), rule });
    expect(allowed).toBe(false);
    expect(message).toContain(why);
  });

  it('does not stop a ServiceAccount, which gets a Warning, and may be named', async () => {
    const bot = { user: 'system:serviceaccount:ci:bot' };
    const { stored, warnings, allowed } = await approve({ [`${P}approve`]: '1.1.0' }, bot);
    expect([allowed, recorded(stored).given]).toEqual([true, []]);
    expect(warnings[0]).toMatch(
      /^not approved: ci\/bot is a ServiceAccount: add it to spec\.approvals\.serviceAccounts, or approve as a person$/,
    );
    const rule = { required: 2, serviceAccounts: ['ci/bot'] };
    const named = await approve({ [`${P}approve`]: '1.1.0' }, { ...bot, rule, old: gate({}, rule) });
    expect(recorded(named.stored).given).toMatchObject([{ by: bot.user }]);
  });

  it('of the requester is recorded, with a Warning that it does not count', async () => {
    const rule: Rule = { required: 2, notBy: ['requester'] };
    const rollout = app({ [`${P}force-deploy`]: '1.1.0', ...requestedBy({ 'force-deploy': 'alice' }) });
    const { warnings } = await approve({ [`${P}approve`]: '1.1.0' }, { rule, old: gate({}, rule), rollout });
    expect(warnings).toEqual(['you requested 1.1.0, so your approval does not count (spec.approvals.notBy)']);
  });

  it.each([
    ['approval', 'approve'],
    ['withdrawal', 'unapprove'],
  ])(
    'from before the webhook’s return counts for no user, and the next writer gets a Warning: %s',
    async (what, key) => {
      const old = gate({ [P + key]: '1.1.0' });
      const { stored, allowed, warnings } = await approve({}, { old, user: 'bob' });
      expect(recorded(stored).given).toEqual([]);
      expect(allowed).toBe(true);
      expect(warnings).toEqual([
        `${what} not recorded: ${P}${key} had this value already and was removed. Set it again`,
      ]);
    },
  );

  it.each([
    ['rolloutgate', `${P}approve`],
    ['rolloutgate', `${P}unapprove`],
    ['gate', 'approve.gate.fluxcd.io/for'],
    ['gate', 'unapprove.gate.fluxcd.io/for'],
  ])('from before the webhook’s return reaches it if the user repeats it: %s, %s', (kind, annotation) => {
    const { matchConditions } = objectIn('webhooks/mutating.yaml').webhooks.find(
      ({ name }: { name: string }) => name === `${kind}.admission.kuberik.com`,
    );
    const isSent = (object: object, oldObject = object) =>
      compile(matchConditions[0].expression)({ object, oldObject, request: { operation: 'UPDATE' } } as never);
    const repeated = gate({ [annotation]: '1.1.0' });
    expect(isSent(repeated)).toBe(true);
    expect(isSent(gate())).toBe(false);
    // So that the Gate can be deleted while the webhook is down.
    const deleted = { ...repeated, metadata: { ...repeated.metadata, finalizers: ['x.example/y'] } };
    expect(isSent(repeated, deleted)).toBe(false);
  });

  it('beyond the limit removes the oldest one, with a Warning', async () => {
    const given = Array.from({ length: LIMITS.approvals }, (_, i) => ({ version: `0.${i}.0`, by: 'bob', at: AT }));
    const old = gate({ [`${P}approvals`]: JSON.stringify({ given }) });
    const { stored, warnings } = await approve({ [`${P}approve`]: '1.1.0' }, { old });
    const kept = recorded(stored).given;
    expect([kept.length, kept[0].version, kept.at(-1).version]).toEqual([LIMITS.approvals, '0.1.0', '1.1.0']);
    expect(warnings).toEqual(['the record is full: removed the oldest approval, of 0.0.0 by bob']);
    const { stored: below } = await approve(
      { [`${P}approve`]: '1.1.0' },
      { old: gate({ [`${P}approvals`]: JSON.stringify({ given: given.slice(1) }) }) },
    );
    expect(recorded(below).given.length).toBe(LIMITS.approvals);
  });

  const longest = '<'.repeat(LIMITS.reason);
  it.each([
    { title: 'many', user: 'mallory', reason: 'x' },
    { title: 'many', user: 'bob', reason: 'x' },
    { title: 'long', user: 'mallory', reason: longest },
    { title: 'long', user: 'bob', reason: longest },
  ])('by $user beyond the limits removes none of others than of who gave $title ones', async ({ user, reason }) => {
    const first = { version: '1.1.0', by: 'alice', at: AT };
    const many = Array.from({ length: LIMITS.approvals - 1 }, (_, i) => ({
      version: `0.${i}.0`,
      by: 'mallory',
      at: AT,
      reason,
    }));
    const old = gate({ [`${P}approvals`]: JSON.stringify({ given: [first, ...many] }) });
    const { stored, allowed } = await approve(
      { [`${P}approve`]: '1.1.0', [`${P}approve-reason`]: longest },
      { user, old },
    );
    const { given } = recorded(stored);
    expect([allowed, given[0].by, given.at(-1).by]).toEqual([true, 'alice', user]);
    expect(given.length).toBeLessThanOrEqual(LIMITS.approvals);
    // A RolloutGate may have 65,536 bytes: see policies/object-sizes.yaml.
    expect(goJsonBytes(stored.metadata.annotations)).toBeLessThan(34_000);
  });
});

describe('a withdrawal', () => {
  it('needs no Rollout: it works while the Rollout cannot be read', async () => {
    const { stored: old } = await approve({ [`${P}approve`]: '1.1.0' });
    const object = gate({ ...old.metadata.annotations, [`${P}unapprove`]: '1.1.0' });
    const answer = await write(mutateRolloutGate, { object, old, at: AT, broken: ['rollouts'] });
    expect(answer).toMatchObject({ allowed: true, warnings: [] });
    expect(recorded(answer.object as never).given).toEqual([]);
  });
});

describe('a withdrawal that fits no approval', () => {
  const HAS_RULE: Rule = { required: 2 };
  it.each([
    ['of another user', '1.1.0', 'bob', HAS_RULE, 'bob has not approved "1.1.0"'],
    ['of another version', 'nonsense', 'alice', HAS_RULE, 'alice has not approved "nonsense"; you have approved 1.1.0'],
    ['of no version', '', 'alice', HAS_RULE, 'the annotation names no version; you have approved 1.1.0'],
    ['where none is required', '1.1.0', 'alice', null, 'without spec.approvals, no version needs approval'],
  ])('%s is denied as a withdrawal', async (_, value, user, rule, why) => {
    const { stored: old } = await approve({ [`${P}approve`]: '1.1.0' });
    const { allowed, message } = await approve({ [`${P}unapprove`]: value }, { user, old, rule });
    expect([allowed, message]).toEqual([false, `RolloutGate 'team-a/prod': not withdrawn: ${why}.`]);
  });
});

describe('a forged record', () => {
  const record = (...by: string[]) =>
    JSON.stringify({ given: by.map((each) => ({ version: '1.1.0', by: each, at: AT })) });

  it.each<[string, string, string, string[]]>([
    [
      'one more approval, in another’s name',
      record('alice', 'bob'),
      'mallory',
      ['ignored: you cannot record an approval for another user (1.1.0, bob)'],
    ],
    ['an approval less', record(), 'mallory', []],
    ['no record at all', 'approved!', 'mallory', []],
    [
      'more than can be named',
      record('alice', 'b\u0007\no\nb'.padEnd(300, 'b'), 'c', 'd', 'e', 'f'),
      KUSTOMIZE_CONTROLLER,
      [
        `ignored: you cannot record an approval for another user (1.1.0, b o ${'b'.repeat(27)})`,
        'ignored: you cannot record an approval for another user (1.1.0, c)',
        'ignored: you cannot record an approval for another user (1.1.0, d)',
        'ignored: 2 more approvals for other users',
      ],
    ],
  ])('with %s is allowed; the text is ignored, with a Warning', async (_, text, user, told) => {
    const { stored: first } = await approve({ [`${P}approve`]: '1.1.0' });
    const { stored, allowed, warnings } = await approve({ [`${P}approvals`]: text }, { old: first, user });
    expect([allowed, stored.metadata.annotations]).toEqual([true, first.metadata.annotations]);
    expect(warnings).toEqual(told);
    for (const warning of warnings) expect(warning.length).toBeLessThanOrEqual(120);
  });

  it('together with an own approval keeps the latter', async () => {
    const both = { [`${P}approvals`]: record('bob'), [`${P}approve`]: '1.1.0' };
    const { stored } = await approve(both, { user: 'mallory' });
    expect(recorded(stored).given).toMatchObject([{ by: 'mallory' }]);
  });

  it('is none if a write leaves the annotation unchanged, or a sync removes it', async () => {
    const { stored: first } = await approve({ [`${P}approve`]: '1.1.0' });
    expect((await approve({}, { old: first, user: 'bob' })).warnings).toEqual([]);
    const stripped = await approve({ [`${P}approvals`]: undefined }, { old: first, user: KUSTOMIZE_CONTROLLER });
    expect(stripped.warnings).toEqual([]);
  });
});

describe('a change of the rule', () => {
  const changed = async (old: ReturnType<typeof gate>, rule: Rule | null, { user = 'bob', rollout = 'app' } = {}) => {
    const next = gate(old.metadata.annotations, rule);
    const object = { ...next, spec: { ...next.spec, rolloutRef: { name: rollout } } };
    return (await write(mutateRolloutGate, { object, old, user, at: AT })).object as typeof old;
  };

  it('is recorded with its user and the number of approvals', async () => {
    const { stored: first } = await approve({ [`${P}approve`]: '1.1.0' });
    const old = { ...first, status: { approvals: { required: 2, progress: '1/2 for 1.1.0' } } } as never;
    expect(recorded(await changed(old, { required: 1 }))).toMatchObject({
      given: [{ by: 'alice' }],
      changes: [
        {
          number: 1,
          by: 'bob',
          at: AT,
          fields: [{ path: 'approvals.required', from: '2', to: '1' }],
          progress: '1/2 for 1.1.0',
        },
      ],
    });
  });

  it.each<[string, Rule, Rule, object[]]>([
    ['more approvals', { required: 1 }, { required: 2 }, [{ path: 'approvals.required', from: '1', to: '2' }]],
    [
      'whose do not count',
      { required: 1, notBy: ['requester', 'author'] },
      { required: 1 },
      [{ path: 'approvals.notBy', from: 'requester, author' }],
    ],
    [
      'how long they count, and the ServiceAccounts whose do',
      { required: 1, expireAfter: '1h' },
      { required: 1, serviceAccounts: ['ci/bot'] },
      [
        { path: 'approvals.expireAfter', from: '1h' },
        { path: 'approvals.serviceAccounts', to: 'ci/bot' },
      ],
    ],
  ])('is noted whatever it changes: %s', async (_, before, after, fields) => {
    expect(recorded(await changed(gate({}, before), after)).changes).toMatchObject([{ by: 'bob', fields }]);
  });

  it('that removes it drops the approvals, and is recorded; so is one that restores it', async () => {
    const { stored: first } = await approve({ [`${P}approve`]: '1.1.0' });
    const without = await changed(first, null);
    const removal = { number: 1, fields: [{ path: 'approvals.required', from: '2' }] };
    expect(recorded(without)).toMatchObject({ given: [], changes: [removal] });
    expect(recorded(await changed(without, { required: 1 }))).toMatchObject({
      changes: [removal, { number: 2, fields: [{ path: 'approvals.required', to: '1' }] }],
    });
  });

  it('moves the gate to another Rollout and back: both are noted', async () => {
    const there = await changed(gate(), { required: 2 }, { rollout: 'other' });
    expect(recorded(await changed(there, { required: 2 }, { rollout: 'app' })).changes).toMatchObject([
      { number: 1, fields: [{ path: 'rolloutRef.name', from: 'app', to: 'other' }] },
      { number: 2, fields: [{ path: 'rolloutRef.name', from: 'other', to: 'app' }] },
    ]);
  });

  it('an owner that the gate gets is noted: the garbage collector deletes it, and has no user', async () => {
    const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'gone', uid: 'u-9' };
    const owned = (old: ReturnType<typeof gate>) => ({
      ...old,
      metadata: { ...old.metadata, ownerReferences: [owner] },
    });
    const noted = async (old: ReturnType<typeof gate>) =>
      recorded((await write(mutateRolloutGate, { object: owned(old), old, user: 'bob', at: AT })).object as never);
    const fields = [{ path: 'metadata.ownerReferences', to: 'ConfigMap gone (u-9)' }];
    expect((await noted(gate())).changes).toMatchObject([{ by: 'bob', fields }]);
    expect(await noted(gate({}, null))).toEqual({ given: [] });
  });

  it('is not recorded without a rule before, or without a change of it', async () => {
    expect(recorded(await changed(gate({}, null), { required: 1 }))).toEqual({ given: [] });
    expect(recorded(await changed(gate({}, null), null, { rollout: 'other' }))).toEqual({ given: [] });
    expect(recorded(await changed(gate(), { required: 2, notBy: [] }))).toEqual({ given: [] });
  });

  it('made again and again keeps the last ones, each value cut short', async () => {
    let stored = gate();
    for (let i = 0; i < 25; i++) stored = await changed(stored, { required: 2 }, { rollout: `${i}\n`.repeat(99) });
    const { changes } = recorded(stored);
    expect(changes.map(({ number }: { number: number }) => number)).toEqual([16, 17, 18, 19, 20, 21, 22, 23, 24, 25]);
    expect(changes[0].fields[0].to.length).toBeLessThan(100);
    expect(changes[0].fields[0].to).not.toContain('\n');
  });

  it('to a time that cannot be read is refused', async () => {
    const rule = { required: 1, expireAfter: 'soon' };
    expect((await approve({}, { rule })).message).toContain('is not a duration');
  });
});
