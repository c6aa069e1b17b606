/** A remedy is pasted into a shell: each is a command line that the program takes. */
import { describe, expect, it } from 'vitest';
import { createProgram } from '../../cli/program.ts';
import type { Remedy } from '../../client/explain/application.ts';
import { objectRef } from '../../client/explain/objectRef.ts';
import {
  approveVersion,
  bypassObject,
  closeGate,
  continueVersion,
  deployByHand,
  giveApproval,
  openGate,
  openRolloutGate,
  PROGRAM,
  resumeObject,
} from '../../client/explain/remedies.ts';
import { explainRollout } from '../../client/explain/rollout/explainRollout.ts';
import { NO_SURROUNDINGS } from '../../client/explain/surroundings.ts';
import { objectOf } from '../support/objects.ts';

const gate = objectRef('Gate', { namespace: 'flux-system', name: 'freeze' });
const rolloutGate = objectRef('RolloutGate', { namespace: 'shop', name: 'qa' });
const kustomization = objectRef('Kustomization', { namespace: 'shop', name: 'web' });
const rollout = objectOf('Rollout', { metadata: { namespace: 'shop', name: 'app' } });

const remedies: [string, Remedy][] = [
  ['open a Gate', openGate(gate)],
  ['close a Gate', closeGate(gate)],
  ['open a RolloutGate', openRolloutGate(rolloutGate)],
  ['put a version on a list', approveVersion(rolloutGate, '1.1.0')],
  ['approve', giveApproval(rolloutGate, '1.1.0')],
  ['deploy by hand', deployByHand(rollout as never, '1.1.0')],
  ['bypass', bypassObject(kustomization, gate)],
  ['resume', resumeObject(kustomization)],
  ['continue', continueVersion(objectRef('RolloutBudget', { namespace: 'shop', name: 'fleet' }), '1.1.0')],
  ...ofRollout(),
];

/** Those that are made only with a Rollout: bypass, retry, unblock, unpin. */
function ofRollout(): [string, Remedy][] {
  const conditions = [
    { type: 'DeploymentBlocked', status: 'True', reason: 'x', message: '1.0.0 has failed', lastTransitionTime: '' },
  ];
  const history = [{ id: 1, version: { tag: '1.0.0' }, timestamp: '', bakeStatus: 'Failed' }];
  const gates = [{ kind: 'Gate', name: 'shop/freeze', passing: false }];
  const object = {
    metadata: { namespace: 'shop', name: 'app' },
    spec: { wantedVersion: '1.0.0' },
    status: { pendingVersion: '1.1.0', conditions, history, gates },
  };
  const unread = [{ kind: 'Gate' as const, why: 'x' }];
  const { remedies } = explainRollout(object as never, { ...NO_SURROUNDINGS, unread }, 0);
  return remedies.map((remedy) => [remedy.text, remedy]);
}

describe('of a Gate that does not exist', () => {
  const named = (seen: boolean, spec: object = {}) =>
    objectOf('Rollout', {
      metadata: { namespace: 'shop', name: 'app', generation: 3 },
      spec: { gates: [{ name: 'typo' }, { name: 'freeze', namespace: 'ops' }], ...spec },
      status: { observedGeneration: 3, pendingVersion: '1.1.0', namedGates: [{ gate: 'shop/typo', seen }] },
    } as never);
  const around = (gates: string[] = []) => ({
    ...NO_SURROUNDINGS,
    gates: gates.map((name) =>
      objectOf('Gate', { metadata: { namespace: 'ops', name }, spec: { default: 'opened' as const } }),
    ),
  });
  const found = (of: object, gates?: string[]) => explainRollout(of as never, around(gates), 0).remedies;
  const patchOf = (of: object) => {
    const { kubectl = '' } = found(of, ['freeze']).find((remedy) => remedy.kubectl.includes(' patch ')) ?? {};
    return JSON.parse(/ -p '(.*)'$/.exec(kubectl)?.[1] ?? 'null');
  };

  it('says how to create it, and nothing that takes one to be there', () => {
    const remedies = found(named(false), ['freeze']);
    expect(remedies.map(({ verb, resource }) => [verb, resource])).toEqual([
      ['create', 'gates'],
      ['patch', 'rollouts'],
    ]);
    const manifest = /^echo '(.*)' \| kubectl -n shop create -f -$/.exec(remedies[0]!.command)?.[1];
    expect(JSON.parse(manifest!)).toMatchObject({
      kind: 'Gate',
      metadata: { name: 'typo' },
      spec: { default: 'opened' },
    });
  });

  it('takes back a name that never was one, and leaves the others', () => {
    expect(patchOf(named(false))).toEqual({ spec: { gates: [{ name: 'freeze', namespace: 'ops' }] } });
    expect(patchOf(named(false, { gates: [{ name: 'typo', namespace: 'shop' }] }))).toEqual({ spec: { gates: null } });
  });

  it('says that it takes a bypass where there was one', () => {
    expect(found(named(true), ['freeze']).at(-1)).toMatchObject({ verb: 'bypass', name: 'typo' });
    expect(patchOf(named(true))).toMatchObject({
      metadata: { annotations: { 'gate.fluxcd.io/bypass-reason': '<why>' } },
      spec: { gates: [{ name: 'freeze' }] },
    });
  });
});

describe.each(remedies)('to %s', (_, remedy) => {
  it('names the object, the namespace and the right', () => {
    expect(remedy.command).toMatch(/ -n (shop|flux-system)/);
    expect(remedy.kubectl).toMatch(/^kubectl -n (shop|flux-system) /);
    expect(remedy).toMatchObject({ verb: expect.any(String), resource: expect.any(String), name: expect.any(String) });
  });

  it('is a command line that the program takes, or one of kubectl or Flux', async () => {
    const [, line] = new RegExp(`^${PROGRAM} (.*)`).exec(remedy.command) ?? [];
    if (line === undefined) expect(remedy.command).toMatch(/^(flux|kubectl) /);
    else await expect(parsed(line)).resolves.toMatch(/\w/);
  });

  it('has no version in it that is none: nobody should paste it into a shell', () => {
    expect(deployByHand(rollout as never, '1.0; rm -rf /').command).toContain(" '<version>' ");
    expect(giveApproval(rolloutGate, '$(date)').kubectl).toContain("='<version>' ");
    expect(approveVersion(rolloutGate, "'; rm -rf /").kubectl).not.toContain('rm');
  });
});

/** The arguments of a command line, as the program reads it. @throws where it does not. */
async function parsed(line: string): Promise<string> {
  const words = line.replaceAll('"', '').split(' ');
  let seen = '';
  const program = await createProgram(
    {
      name: PROGRAM,
      version: '0.0.0',
      columns: 100,
      print: () => {},
      note: () => {},
      run: async (_, __, invocation) => {
        seen = invocation.arguments.join(' ');
      },
    },
    new Set(words.slice(0, 1)),
  );
  await program.parseAsync(words, { from: 'user' });
  return seen;
}
