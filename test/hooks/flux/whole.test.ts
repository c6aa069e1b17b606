/** A Kustomization and its source, both bound to Rollout my-app, whatever happens to them and in whatever order hooks get to it. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { ARTIFACT, AWAITS_ARTIFACT, DEPLOYED, GATE_STATE, SUSPENDED } from '../../../api/annotations.ts';
import type { FluxObject } from '../../../api/flux.ts';
import { deployment, gate, kustomization, ociRepository, rollout } from '../../core/admission/objects.ts';
import { Cluster } from './cluster.ts';

const OWN = { 'rollout.kuberik.com/substitute.APP.from': 'my-app', 'gate.fluxcd.io/gates': 'freeze' };

const SOURCE = { sourceRef: { kind: 'OCIRepository', name: 'web' } };

/** 1.0.0 is deployed, and where it is `running`, fetched and written. */
class Pair {
  readonly cluster = new Cluster(
    kustomization({
      annotations: OWN,
      substitute: null,
      spec: SOURCE,
    }),
  );
  readonly tags = ['1.0.0'];
  /** Of the source. */
  #tag = '';
  #id = 0;
  #generation = 0;
  #suspended = false;
  #status: Record<string, unknown> = {};

  /** Nothing is deployed; the source has what Git says, and so has the variable. */
  static async bound(): Promise<Pair> {
    const pair = new Pair();
    pair.gate(true);
    pair.cluster.rollouts = [rollout('my-app')];
    pair.#tag = 'dev';
    pair.#generation = 1;
    pair.fetch(true);
    pair.show();
    pair.cluster.object = kustomization({ annotations: OWN, substitute: { APP: 'dev' }, spec: SOURCE });
    await pair.cluster.settle();
    pair.commit();
    return pair;
  }

  static async running(): Promise<Pair> {
    const pair = new Pair();
    pair.gate(true);
    pair.commit();
    pair.writeTag();
    pair.fetch(true);
    pair.show();
    await pair.cluster.settle();
    return pair;
  }

  commit(tag = this.tags[0]!): void {
    if (this.cluster.rollouts[0]?.status?.history?.length) this.tags.unshift(tag);
    this.cluster.rollouts = [rollout('my-app', ...this.tags)];
  }

  writeTag(): void {
    if (this.#id === this.tags.length) return;
    if (this.#tag !== this.tags[0]) this.#generation++;
    this.#tag = this.tags[0]!;
    this.#id = this.tags.length;
  }

  fetch(succeeds: boolean): void {
    if (this.#suspended) return;
    const { artifact } = this.#status;
    const conditions = [
      {
        type: 'FetchFailed',
        status: 'True',
        reason: 'Failed',
        message: '',
        lastTransitionTime: '',
        observedGeneration: this.#generation,
      },
    ];
    this.#status = succeeds
      ? { observedGeneration: this.#generation, artifact: { revision: `${this.#tag}@sha256:0` } }
      : { ...this.#status, artifact, conditions };
  }

  suspendSource(suspended: boolean): void {
    if (this.#suspended !== suspended) this.#generation++;
    this.#suspended = suspended;
  }

  gate(opened: boolean): void {
    this.cluster.gates = [gate('shop/freeze', { default: opened ? 'opened' : 'closed' })];
  }

  /** The world as the next write sees it. */
  show(): void {
    const source = ociRepository(
      { tag: this.#tag },
      {
        ...(this.#id > 0 && { deployed: deployment('my-app', this.#id, this.#tag) }),
        generation: this.#generation,
        status: this.#status,
        spec: this.#suspended ? { suspend: true } : {},
      },
    );
    this.cluster.source = source;
  }

  /** A kustomize-controller that reads what is stored, and the policy whole-versions. */
  attempt(): { artifact: string; variable: string | undefined } | undefined {
    const { metadata, spec } = this.cluster.object;
    const revision = (this.#status.artifact as { revision: string } | undefined)?.revision;
    if (spec?.suspend === true || revision === undefined) return undefined;
    if (!revision.startsWith(`${metadata.annotations?.[ARTIFACT]}@`)) return undefined;
    return { artifact: revision.split('@')[0]!, variable: variableOf(this.cluster.object) };
  }
}

function variableOf({ spec }: FluxObject): string | undefined {
  return (spec?.postBuild as { substitute?: Record<string, string> } | undefined)?.substitute?.APP;
}

type Step = (pair: Pair) => unknown;

const write = (change: (object: FluxObject) => FluxObject): Step => {
  return (pair) => pair.cluster.write(change(structuredClone(pair.cluster.object)));
};
const withSuspend = (suspend: boolean) => write((object) => ({ ...object, spec: { ...object.spec, suspend } }));
const withAnnotation = (key: string, value: string) =>
  write((object) => ({
    ...object,
    metadata: { ...object.metadata, annotations: { ...object.metadata.annotations, [key]: value } },
  }));

const STEPS: Record<string, Step> = {
  'deploys 2.0.0': (pair) => pair.commit('2.0.0'),
  'deploys 3.0.0': (pair) => pair.commit('3.0.0'),
  'goes back to 1.0.0': (pair) => pair.commit('1.0.0'),
  'tag is written': (pair) => pair.writeTag(),
  fetches: (pair) => pair.fetch(true),
  'cannot fetch': (pair) => pair.fetch(false),
  'source is suspended': (pair) => pair.suspendSource(true),
  'source is resumed': (pair) => pair.suspendSource(false),
  'gate closes': (pair) => pair.gate(false),
  'gate opens': (pair) => pair.gate(true),
  'hooks settle': (pair) => pair.cluster.settle(),
  'somebody resumes': withSuspend(false),
  'somebody suspends': withSuspend(true),
  'somebody edits the variable': write((object) => ({
    ...object,
    spec: { ...object.spec, postBuild: { substitute: { APP: '9.9.9' } } },
  })),
  'somebody forges the artifact': withAnnotation(ARTIFACT, '9.9.9'),
  'somebody forges the wait': withAnnotation(AWAITS_ARTIFACT, deployment('my-app', 1, '1.0.0')),
  'somebody forges the deployment': withAnnotation(DEPLOYED, deployment('my-app', 9, '9.9.9')),
  'something else is written': withAnnotation('team', 'web'),
};

const USUAL = [
  'deploys 2.0.0',
  'deploys 3.0.0',
  'goes back to 1.0.0',
  'tag is written',
  'fetches',
  'cannot fetch',
  'hooks settle',
];
const steps = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...USUAL) },
    { weight: 1, arbitrary: fc.constantFrom(...Object.keys(STEPS)) },
  ),
  { minLength: 5, maxLength: 40 },
);

it('is never applied as a mix of two versions, and has the newest when all is over', async () => {
  await fc.assert(
    fc.asyncProperty(fc.constantFrom('bound' as const, 'running' as const), steps, async (from, names) => {
      const pair = await Pair[from]();
      for (const name of names) {
        await STEPS[name]!(pair);
        pair.show();
        const applied = pair.attempt();
        if (applied)
          expect(applied.variable, `applied with ${applied.artifact}, after: ${name}`).toBe(applied.artifact);
      }
      pair.gate(true);
      pair.suspendSource(false);
      pair.writeTag();
      pair.fetch(true);
      pair.show();
      await pair.cluster.settle();
      const { metadata } = pair.cluster.object;
      expect(variableOf(pair.cluster.object)).toBe(pair.tags[0]);
      expect(metadata.annotations).toMatchObject({ [ARTIFACT]: pair.tags[0], [GATE_STATE]: 'open' });
      expect(Object.keys(metadata.annotations ?? {})).not.toContain(AWAITS_ARTIFACT);
      expect(Object.keys(metadata.annotations ?? {})).not.toContain(SUSPENDED);
    }),
    { numRuns: 300 },
  );
});
