/** Approvals on a Gate: the Rollout an approval is for, and requests to open. */
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Gate, Rollout } from '../../../api/types.ts';
import { formatAcceptedRequests } from '../../../core/gate/gateRequests.ts';
import { evaluateGate } from '../../../core/gate/gateTimeline.ts';
import { LIMITS } from '../../../core/limits.ts';
import { fakeCluster, fakeWebhookCall } from '../../../dev/fakes/ports.ts';
import { requestOf } from '../../../dev/fakes/requests.ts';
import { createSharedReads } from '../../../server/cluster/sharedReads.ts';
import { mutateGate, validateGate } from '../../../webhooks/gate/gateAdmission.ts';
import { gate } from '../../core/gate/gate.ts';
import { objectOf } from '../../support/objects.ts';
import { day, write } from './call.ts';

const APPROVE = 'approve.gate.fluxcd.io/for';
const UNAPPROVE = 'unapprove.gate.fluxcd.io/for';
const RECORD = 'gate.fluxcd.io/approvals';
const OPEN = 'open.gate.fluxcd.io/requestedAt';
const CLOSE = 'close.gate.fluxcd.io/requestedAt';
const SYNC = 'system:serviceaccount:flux-system:kustomize-controller';

const SPEC: Gate['spec'] = { default: 'closed', approvals: { required: 2 } };

const FORGED = formatAcceptedRequests({
  current: { action: 'close', at: Date.parse(day('09:00:00')) },
  handled: {},
});

/** Rollouts that name the Gate, with their releases. */
const rollouts = (releases: Record<string, string[]>): Rollout[] =>
  Object.entries(releases).map(([name, tags]) =>
    objectOf('Rollout', `shop/${name}`, {
      metadata: { uid: `uid-${name}` },
      spec: { releasesImagePolicy: { name }, gates: [{ namespace: 'platform', name: 'freeze' }] },
      status: { availableReleases: tags.map((tag) => ({ tag })) },
    }),
  );

interface Given {
  spec?: Gate['spec'];
  old?: Gate;
  user?: string;
  at?: string;
  releases?: Record<string, string[]>;
}

async function written(annotate: Record<string, string>, given: Given = {}) {
  const { spec = SPEC, user = 'alice', at = '10:00:00', releases = { web: ['1.0.0'] } } = given;
  const old = given.old ?? gate(spec);
  const object = gate(spec, { ...old.metadata.annotations, ...annotate });
  const of = { object, old, user, at: day(at), objects: rollouts(releases) };
  const answer = await write([mutateGate, validateGate], of);
  return { ...answer, stored: answer.allowed ? (answer.object as Gate) : old };
}

const given = ({ metadata }: Gate) => JSON.parse(metadata.annotations?.[RECORD] ?? '{"given":[]}').given;

describe('an approval on a Gate', () => {
  it('is recorded for the one Rollout that has the version, and a Warning names it', async () => {
    const releases = { web: ['1.0.0'], api: ['2.0.0'] };
    const { stored, warnings } = await written({ [APPROVE]: '2.0.0' }, { releases });
    expect(warnings).toEqual([
      "approved 2.0.0 for Rollout 'shop/api' only: no other Rollout that requires this Gate has this release",
    ]);
    expect(given(stored)).toEqual([
      { version: '2.0.0', rollout: 'shop/api', uid: 'uid-api', by: 'alice', at: day('10:00:00') },
    ]);
    expect(stored.metadata.annotations).not.toHaveProperty(APPROVE);
  });

  it('for a Rollout that was made anew under its name is another, and takes the place of the first', async () => {
    const before = { version: '1.0.0', rollout: 'shop/web', uid: 'uid-before', by: 'alice', at: day('09:00:00') };
    const old = gate(SPEC, { [RECORD]: JSON.stringify({ given: [before] }) });
    const { stored, warnings } = await written({ [APPROVE]: '1.0.0' }, { old });
    expect(given(stored)).toMatchObject([{ uid: 'uid-web', at: day('10:00:00') }]);
    expect(warnings).toEqual([]);
  });

  it.each([
    ['for all Rollouts', '1.0.0', []],
    ['for the one that it names', 'shop/web:1.0.0', ['shop/api']],
  ])('is withdrawn %s', async (_, value, kept) => {
    const both = ['shop/web', 'shop/api'].map((rollout) => ({
      version: '1.0.0',
      rollout,
      by: 'alice',
      at: day('09:00:00'),
    }));
    const old = gate(SPEC, { [RECORD]: JSON.stringify({ given: both }) });
    const { stored } = await written({ [UNAPPROVE]: value }, { old });
    expect(given(stored).map(({ rollout }: { rollout: string }) => rollout)).toEqual(kept);
  });

  it.each([
    ['keeps the user’s own of the same version for another Rollout', '24h', ['shop/api', 'shop/web']],
    ['removes those that have expired', '30m', ['shop/web']],
  ])('%s', async (_, expireAfter, rollouts) => {
    const spec: Gate['spec'] = { ...SPEC, approvals: { required: 2, expireAfter } };
    const earlier = { version: '1.0.0', rollout: 'shop/api', by: 'alice', at: day('09:00:00') };
    const old = gate(spec, { [RECORD]: JSON.stringify({ given: [earlier] }) });
    const { stored } = await written({ [APPROVE]: '1.0.0' }, { spec, old });
    expect(given(stored).map(({ rollout }: { rollout: string }) => rollout)).toEqual(rollouts);
  });

  it('is not recorded beside a withdrawal that fits none: the write is denied', async () => {
    const { allowed, message } = await written({ [APPROVE]: '1.0.0', [UNAPPROVE]: '0.9.0' });
    expect([allowed, message]).toEqual([
      false,
      `Gate 'platform/freeze': not withdrawn: alice has not approved "0.9.0".`,
    ]);
  });

  it('counts after a request to close that is dated ahead', async () => {
    const current = { action: 'close' as const, at: Date.parse(day('10:00:30')) };
    const old = gate(SPEC, { 'gate.fluxcd.io/accepted-request': formatAcceptedRequests({ current, handled: {} }) });
    const { stored } = await written({ [APPROVE]: '1.0.0' }, { old });
    expect(given(stored)).toMatchObject([{ at: day('10:00:31') }]);
  });

  it('is refused where no Rollout requires it', async () => {
    const { allowed, message } = await written({ [APPROVE]: '1.0.0' }, { releases: {} });
    expect(allowed).toBe(false);
    expect(message).toContain("no Rollout requires this Gate: name the Gate in the Rollout's spec.gates");
  });

  it('for another user, written into the record, is dropped with a Warning', async () => {
    const forged = { given: [{ version: '2.0.0', rollout: 'shop/api', by: 'bob', at: day('10:00:00') }] };
    const { stored, allowed, warnings } = await written({ [RECORD]: JSON.stringify(forged) });
    expect([allowed, given(stored)]).toEqual([true, []]);
    expect(warnings).toEqual(['ignored: you cannot record an approval for another user (2.0.0, bob)']);
  });

  it('reads the Rollout that it names, and no other, whatever others have made of theirs', async () => {
    const { stored, requests } = await written({ [APPROVE]: 'shop/web:1.0.0' });
    expect(given(stored)).toMatchObject([{ rollout: 'shop/web' }]);
    const reads = requests.filter(({ resource }) => resource === 'rollouts');
    expect(new Set(reads.map(({ verb, namespace, name }) => `${verb} ${namespace}/${name}`))).toEqual(
      new Set(['get shop/web']),
    );
  });

  it.each(['web:1.0.0', '/web:1.0.0', 'shop/web/x:1.0.0', 'shop:1.0.0'])('names no Rollout with %s', async (value) => {
    const { allowed, message } = await written({ [APPROVE]: value });
    expect([allowed, message]).toEqual([false, expect.stringContaining('requires this Gate')]);
  });

  it('without the name of a Rollout requires it if there are too many to read', async () => {
    const many = Array.from({ length: LIMITS.approvalRollouts }, (_, i) => [`other-${i}`, ['0.1.0']] as const);
    const releases = { ...Object.fromEntries(many.map(([name, tags]) => [name, [...tags]])), web: ['1.0.0'] };
    const { allowed, message } = await written({ [APPROVE]: '1.0.0' }, { releases });
    expect(allowed).toBe(false);
    expect(message).toContain(
      'more than 100 Rollouts require this Gate (limit approvalRollouts): name the Rollout too',
    );
    expect(message).toContain('<namespace>/<rollout>:1.0.0');
    expect(given((await written({ [APPROVE]: 'shop/web:1.0.0' }, { releases })).stored)).toHaveLength(1);
  });

  it.each([APPROVE, 'open.gate.fluxcd.io/for'])(
    'without a Rollout, %s lists Rollouts once for many writes',
    async (key) => {
      const others = rollouts({ other: ['1.0.0'] }).map(({ spec, ...rest }) => ({
        ...rest,
        spec: { ...spec, gates: [] },
      }));
      const cluster = fakeCluster([...rollouts({ web: ['1.0.0'] }), ...others]);
      const { call } = fakeWebhookCall({ now: Date.parse(day('10:00:00')), cluster });
      const old = gate(key === APPROVE ? SPEC : { default: 'closed' });
      const annotations = { [key]: '1.0.0', ...(key !== APPROVE && { [OPEN]: day('10:00:00') }) };
      const request = requestOf({ object: gate(old.spec, annotations), oldObject: old });
      for (let write = 0; write < 10; write++) {
        const { object } = (await mutateGate(request, call)) as { object: Gate };
        await validateGate({ ...request, object: object as never }, call);
      }
      const reads = cluster.requests.filter(({ resource }) => resource === 'rollouts');
      // All Rollouts, and those of the Gate's namespace.
      const lists = reads.filter(({ verb }) => verb !== 'get').map(({ namespace = '' }) => namespace);
      expect(lists.sort()).toEqual(['', 'platform']);
      expect(new Set(reads.flatMap(({ name }) => name ?? []))).toEqual(new Set(['web']));
    },
  );

  it.each([
    ['fails', async () => Promise.reject(new Error('timeout'))],
    ['hangs', () => new Promise<never>(() => {})],
  ])('without the name of a Rollout requires it if the list of all %s', async (_, listMetadata) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const cluster = { ...fakeCluster(rollouts({ web: ['1.0.0'] })), listMetadata };
    const { call } = fakeWebhookCall({ now: Date.parse(day('10:00:00')), cluster });
    const approving = mutateGate(
      requestOf({ object: gate(SPEC, { [APPROVE]: '1.0.0' }), oldObject: gate(SPEC) }),
      call,
    );
    await vi.advanceTimersByTimeAsync(2500);
    const early = await Promise.race([approving, new Promise(setImmediate)]);
    expect(early).toMatchObject({
      allowed: false,
      message: expect.stringContaining('name the Rollout too, as <namespace>/'),
    });
  });

  it('counts for a Rollout of the Gate’s namespace that the list for all Gates lacks, while it requires the Gate', async () => {
    const web = objectOf('Rollout', 'shop/web', {
      metadata: { uid: 'uid-web' },
      spec: { releasesImagePolicy: {}, gates: [{ name: 'freeze' }] },
      status: { availableReleases: [{ tag: '1.0.0' }] },
    });
    let now = Date.parse(day('10:00:00'));
    const sharedReads = createSharedReads(() => now);
    const approve = async (objects: Rollout[]) => {
      const { call } = fakeWebhookCall({ now, objects });
      const old = gate(SPEC, undefined, { namespace: 'shop' });
      const object = gate(SPEC, { [APPROVE]: '1.0.0' }, { namespace: 'shop' });
      return mutateGate(requestOf({ object, oldObject: old }), { ...call, sharedReads });
    };
    expect(await approve([])).toMatchObject({ allowed: false });
    now += 1000;
    expect(await approve([web])).toMatchObject({ allowed: true });
    // The list still has it as one that requires the Gate.
    expect(await approve([{ ...web, spec: { releasesImagePolicy: {} } } as Rollout])).toMatchObject({ allowed: false });
  });

  it('is revoked by a close request, even with a clock that is behind, and counts after it', async () => {
    const { stored: approved } = await written({ [APPROVE]: '1.0.0' });
    const { stored: closed } = await written({ [CLOSE]: day('09:55:00') }, { old: approved, at: '10:01:00' });
    expect(given(closed)).toEqual([]);
    const { stored } = await written({ [APPROVE]: '1.0.0' }, { old: closed, at: '10:01:00' });
    expect(given(stored)).toMatchObject([{ at: day('10:01:00') }]);
  });

  it('is revoked by a closure that the same write ends', async () => {
    const { stored: approved } = await written({ [APPROVE]: '1.0.0' });
    const annotate = { [CLOSE]: day('10:00:10'), [OPEN]: day('10:00:20') };
    const { stored } = await written(annotate, { old: approved, user: SYNC, at: '10:01:00' });
    expect(given(stored)).toEqual([]);
  });
});

it.each([
  ['nonsense', 'alice has not approved "nonsense"; you have approved 1.0.0'],
  ['', 'the annotation names no version; you have approved 1.0.0'],
])('a withdrawal that fits no approval is denied as one: "%s"', async (value, why) => {
  const { stored: old } = await written({ [APPROVE]: '1.0.0' });
  const { allowed, message } = await written({ [UNAPPROVE]: value }, { old });
  expect([allowed, message]).toEqual([false, `Gate 'platform/freeze': not withdrawn: ${why}.`]);
});

describe('a request to open a Gate with approvals', () => {
  it('opens nothing in a Git sync, which is allowed with a Warning', async () => {
    const { allowed, stored, warnings } = await written({ [OPEN]: day('10:00:00') }, { user: SYNC });
    expect(allowed).toBe(true);
    expect(warnings).toEqual(['the request opens nothing: this Gate has spec.approvals, so approve a version instead']);
    expect(evaluateGate(stored, Date.parse(day('10:00:01')))).toMatchObject({ opened: false });
  });

  it.each(['closed', 'opened'] as const)(
    'ends the closure of the same write, and opens nothing that is %s by default',
    async (standard) => {
      const spec: Gate['spec'] = { ...SPEC, default: standard };
      const annotate = { [CLOSE]: day('10:00:00'), [OPEN]: day('14:00:00') };
      const { allowed, stored, warnings } = await written(annotate, { spec });
      expect(allowed).toBe(true);
      expect(warnings).not.toContainEqual(expect.stringContaining('opens nothing'));
      const opened = (at: string) => evaluateGate(stored, Date.parse(day(at))).opened;
      expect([opened('10:00:01'), opened('13:59:59'), opened('14:00:00'), opened('23:00:00')]).toEqual([
        false,
        false,
        standard === 'opened',
        standard === 'opened',
      ]);
    },
  );

  it.each([
    ['alone', { [OPEN]: day('10:00:00') }],
    ['later', { [OPEN]: day('14:00:00') }],
    ['before a planned closure', { [OPEN]: day('10:00:00'), [CLOSE]: day('14:00:00') }],
    ['after a closure in a forged record', { [OPEN]: day('14:00:00'), 'gate.fluxcd.io/accepted-request': FORGED }],
    ['after a planned closure, which it would replace', { [CLOSE]: day('11:00:00'), [OPEN]: day('14:00:00') }],
  ])('is denied %s', async (_, annotate) => {
    const { allowed, message } = await written(annotate as Record<string, string>);
    expect([allowed, message]).toEqual([
      false,
      expect.stringContaining('a Gate with spec.approvals cannot be opened by a request'),
    ]);
  });
});

it('a Gate with approvals that selects Flux objects gets a Warning that approvals don’t open it for them', async () => {
  const object = gate({ ...SPEC, selects: { kinds: ['Kustomization'] } });
  const { warnings } = await write(validateGate, { object, at: day('10:00:00') });
  expect(warnings).toEqual([
    'spec.approvals release versions of Rollouts only: for the selected Flux objects the Gate stays closed',
  ]);
});

describe('an opening for one version', () => {
  const opened = async (version: string, releases: Record<string, string[]>, at = '10:00:00') => {
    const annotate = { [OPEN]: day(at), 'open.gate.fluxcd.io/for': version };
    const { allowed, warnings } = await written(annotate, { spec: { default: 'closed' }, releases });
    return { allowed, warnings };
  };
  const both = { web: ['1.0.0'], api: ['2.0.0'] };

  it.each([
    ['of every Rollout that requires the Gate warns', '1.0.0', both, 'opens for version 1.0.0 of each of 2 Rollouts'],
    ['of one that is named does not', 'shop/web:1.0.0', both, undefined],
    ['where only one requires it does not', '1.0.0', { web: ['1.0.0'] }, undefined],
  ])('%s', async (_, version, releases, warning) => {
    const expected = warning === undefined ? [] : [expect.stringContaining(warning)];
    const answer = await opened(version, releases);
    expect(answer).toEqual({ allowed: true, warnings: expected });
    for (const text of answer.warnings) expect(text.length).toBeLessThanOrEqual(120);
    const planned = await opened(version, releases, '18:00:00');
    expect(planned.warnings.some((text) => text.startsWith('opens for version'))).toBe(warning !== undefined);
  });

  it.each(['web:1.0.0', 'shop/web:', 'shop/web:1.0.0:2', 'a b/web:1'])('%s is refused', async (version) => {
    expect((await opened(version, both)).allowed).toBe(false);
  });
});
