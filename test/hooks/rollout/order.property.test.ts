/**
 * No version is deployed automatically before the stages of its Rollout have it: random graphs of Rollouts, caches that are behind,
 * clocks that jump, failures, retries, rollbacks and people. The judge below keeps its own books and knows no code of ours.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../api/kubernetes.ts';
import type { Rollout, RolloutSpec, RolloutStatus } from '../../../api/types.ts';
import { fakeCluster, fakeHookCall } from '../../../dev/fakes/ports.ts';
import { rolloutHook } from '../../../hooks/rollout/rollout.ts';
import { imagePolicy, NOW, request, rollout } from './call.ts';

const NAMES = ['r0', 'r1', 'r2', 'r3'];
const BAKED_FOR_MS = { '0s': 0, '10m': 600_000 };

interface Node {
  /** Indices of Rollouts; those that are not before it are left out, so that there is no cycle. */
  after: number[];
  bakedFor: keyof typeof BAKED_FOR_MS;
  bakeTime: '5m' | undefined;
  onFailure: 'Continue' | 'Rollback';
}

type Action =
  | { do: 'publish' }
  | { do: 'advance'; seconds: number }
  | { do: 'jump'; hours: 1 | -1 }
  | { do: 'sync'; who: number; behind: number }
  | { do: 'fail' | 'retry'; who: number }
  | { do: 'force'; who: number; back: number };

const who = fc.nat(NAMES.length - 1);
const graph: fc.Arbitrary<Node[]> = fc.array(
  fc.record({
    after: fc.uniqueArray(who, { maxLength: 3 }),
    bakedFor: fc.constantFrom('0s' as const, '10m' as const),
    bakeTime: fc.constantFrom(undefined, '5m' as const),
    onFailure: fc.constantFrom('Continue' as const, 'Rollback' as const),
  }),
  { minLength: NAMES.length, maxLength: NAMES.length },
);
const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 2, arbitrary: fc.constant({ do: 'publish' as const }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('advance' as const), seconds: fc.nat(400) }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('jump' as const), hours: fc.constantFrom(1 as const, -1 as const) }),
  },
  { weight: 14, arbitrary: fc.record({ do: fc.constant('sync' as const), who, behind: fc.nat(3) }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constantFrom('fail' as const, 'retry' as const), who }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('force' as const), who, back: fc.nat(2) }) },
);

/** What each Rollout last made known of each version, and when. */
class Books {
  private readonly last = new Map<string, { outcome: string; at: number }>();

  note(name: string, status: RolloutStatus, before: RolloutStatus | undefined, now: number): void {
    const known = new Map(before?.history?.map((entry) => [entry.id, entry.bakeStatus]));
    for (const { id, version, bakeStatus = '' } of [...(status.history ?? [])].reverse()) {
      if (known.get(id) !== bakeStatus && bakeStatus !== 'Cancelled')
        this.last.set(`${name} ${version.tag}`, { outcome: bakeStatus, at: Math.floor(now / 1000) * 1000 });
    }
  }

  objection(stage: string, tag: string, bakedFor: number, now: number): string | undefined {
    const last = this.last.get(`${stage} ${tag}`);
    if (!last) return `${stage} never had ${tag}`;
    if (last.outcome !== 'Succeeded') return `${stage} has ${tag} ${last.outcome}`;
    return now - last.at >= bakedFor ? undefined : `${stage} has ${tag} for ${now - last.at} ms only`;
  }
}

class World {
  now = NOW;
  released = 0;
  private asked = 0;
  readonly rollouts = new Map<string, Rollout>();
  /** What a cache that is behind may still have, newest first. */
  private readonly past: Map<string, Rollout>[] = [];
  private readonly books = new Books();
  private readonly nodes: Node[];

  constructor(nodes: Node[]) {
    this.nodes = nodes;
    NAMES.forEach((name, index) => {
      const { bakeTime, onFailure } = nodes[index]!;
      const spec: Partial<RolloutSpec> = { onFailure, ...(bakeTime && { bakeTime }), after: this.stagesOf(index) };
      this.rollouts.set(name, rollout(spec, {}, name));
    });
  }

  private stagesOf(index: number) {
    const { after, bakedFor } = this.nodes[index]!;
    return after.filter((each) => each < index).map((each) => ({ name: NAMES[each]!, bakedFor }));
  }

  async act(step: Action): Promise<void> {
    if (step.do === 'publish') this.released += 1;
    else if (step.do === 'advance') this.now += step.seconds * 1000 + 13;
    else if (step.do === 'jump') this.now += step.hours * 3_600_000;
    else if (step.do === 'sync') await this.sync(step.who, step.behind);
    else if (step.do === 'force') this.ask(step.who, 'force-deploy', `1.${Math.max(1, this.released - step.back)}.0`);
    else if (step.do === 'retry') this.ask(step.who, 'retry', '');
    else this.fail(step.who);
  }

  /** Somebody says that the bake has failed. */
  private fail(index: number): void {
    const object = this.rollouts.get(NAMES[index]!)!;
    const [head, ...older] = object.status?.history ?? [];
    if (head?.bakeStatus !== 'InProgress') return;
    this.store({ ...object, status: { ...object.status, history: [{ ...head, bakeStatus: 'Failed' }, ...older] } });
  }

  ask(index: number, key: string, value: string): void {
    const object = this.rollouts.get(NAMES[index]!)!;
    const annotations = {
      [`rollout.kuberik.com/${key}`]: value,
      'rollout.kuberik.com/request': `${key}=q${++this.asked}`,
    };
    this.store({ ...object, metadata: { ...object.metadata, annotations } });
  }

  private store(object: Rollout): void {
    const name = object.metadata.name!;
    this.past.unshift(new Map(this.rollouts));
    this.past.length = Math.min(this.past.length, 3);
    this.books.note(name, object.status ?? {}, this.rollouts.get(name)!.status, this.now);
    this.rollouts.set(name, object);
  }

  async sync(index: number, behind = 0): Promise<boolean> {
    const name = NAMES[index]!;
    const parent = this.rollouts.get(name)!;
    const cached = this.past[behind - 1] ?? this.rollouts;
    const policy = this.released > 0 ? [imagePolicy(`1.${this.released}.0`)] : [];
    const live = [...this.rollouts.values(), ...policy] as KubeObject<any, any>[];
    const { call } = fakeHookCall({
      now: this.now,
      cluster: fakeCluster(live),
      metadata: { lookup: () => ({}), isAwaited: () => false },
    });
    const related = [...policy, ...this.stagesOf(index).map((ref) => cached.get(ref.name)!)] as KubeObject<any, any>[];
    const status = (await rolloutHook.sync(structuredClone(request(parent, related)), call)).status as RolloutStatus;
    const [head] = status.history ?? [];
    if (head && head.id !== parent.status?.history?.[0]?.id) this.judge(index, head);
    const changed = JSON.stringify(status) !== JSON.stringify(parent.status);
    if (changed) this.store({ ...parent, status });
    return changed;
  }

  private judge(index: number, head: NonNullable<RolloutStatus['history']>[number]): void {
    if (!head.message!.startsWith('Automatic deployment')) return;
    const { bakedFor } = this.nodes[index]!;
    const found = this.stagesOf(index).flatMap(
      ({ name }) => this.books.objection(name, head.version.tag, BAKED_FOR_MS[bakedFor], this.now) ?? [],
    );
    if (found.length > 0) throw new Error(`${NAMES[index]} deploys ${head.version.tag} though ${found.join(', ')}`);
  }

  /** Everybody is asked again as time goes by, until nothing is written any more. */
  async settle(): Promise<void> {
    for (let quiet = 0, round = 0; quiet < 4; round++) {
      if (round > 200) throw new Error('does not come to rest');
      let changed = false;
      for (const index of NAMES.keys()) changed = (await this.sync(index)) || changed;
      quiet = changed ? 0 : quiet + 1;
      this.now += 301_000;
    }
  }
}

describe('a graph of stages, whatever happens', () => {
  it('deploys no version automatically before each stage has it, for long enough; in the end everything arrives', async () => {
    await fc.assert(
      fc.asyncProperty(graph, fc.array(action, { maxLength: 100 }), async (nodes, actions) => {
        const world = new World(nodes);
        for (const step of actions) await world.act(step);
        // A clock that was set back is waited for; what failed is begun again; then comes a version that nobody has touched.
        world.now += actions.length * 3_600_000;
        for (const index of NAMES.keys()) world.ask(index, 'retry', '');
        await world.settle();
        world.released += 1;
        await world.settle();
        const heads = [...world.rollouts.values()].map(({ status }) => status?.history?.[0]?.version.tag);
        expect(heads).toEqual(NAMES.map(() => `1.${world.released}.0`));
      }),
      { numRuns: 60 },
    );
  });
});
