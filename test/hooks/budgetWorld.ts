/**
 * Rollouts and the budgets that select them, stored as the API server would store them, with every version kept: a sync may see any of them.
 * What a hook answers is written later, or never; another Metacontroller may have written in between.
 */
import { FORCE_DEPLOY, REQUEST } from '../../api/annotations.ts';
import type { EpochMs, KubeObject } from '../../api/kubernetes.ts';
import type { Budget, BudgetStatus, Rollout, RolloutStatus } from '../../api/types.ts';
import { sameJson } from '../../core/kube/json.ts';
import { isBaking } from '../../core/rollout/deployment/bake.ts';
import { usedAnnotations } from '../../core/rollout/evaluation/requests.ts';
import { fakeCluster, fakeHookCall } from '../../dev/fakes/ports.ts';
import { rolloutHook } from '../../hooks/rollout/rollout.ts';
import { rolloutBudgetHook } from '../../hooks/rolloutBudget.ts';
import { acceptStatus } from '../../webhooks/rollout/rolloutStatusAdmission.ts';
import { objectOf } from '../support/objects.ts';
import { imagePolicy, NOW, object, request } from './rollout/call.ts';

type Kept = (Rollout | Budget)[];

interface Answer {
  to: Kept;
  uid: string | undefined;
  status: RolloutStatus | BudgetStatus;
  /** By a clock that nobody sets. */
  at: EpochMs;
}

/** So far behind is a cache that does not have the Rollout at all. */
export const ABSENT = 6;

/** A write is stored within a minute of its decision, or not at all: the one thing that rests on a clock (docs/adr/0003-status-revision.md). */
const LATEST_MS = 59_000;

export interface Seen {
  kind: 'rollout' | 'budget';
  before: Rollout | Budget;
  after: Rollout | Budget;
}

export class BudgetWorld {
  now: EpochMs = NOW;
  #elapsed = 0;
  #requests = 0;
  #tag = 1;
  readonly rollouts: Kept[];
  readonly budgets: Kept[];
  readonly closed = new Set<string>();
  readonly gone = new Set<Kept>();
  readonly #answers: Answer[] = [];
  readonly #onWrite: (world: BudgetWorld, seen: Seen) => void;

  constructor(
    names: readonly { name: string; ring: string }[],
    specs: readonly { name: string; cluster: boolean; spec: Budget['spec'] }[],
    onWrite: (world: BudgetWorld, seen: Seen) => void,
  ) {
    this.rollouts = names.map(({ name, ring }) => [newRollout(name, ring, 0)]);
    this.budgets = specs.map(({ name, cluster, spec }) => [
      objectOf(cluster ? 'ClusterRolloutBudget' : 'RolloutBudget', {
        metadata: { name, uid: `uid-of-${name}`, generation: 1, ...(!cluster && { namespace: 'team-a' }) },
        spec,
      }),
    ]);
    this.#onWrite = onWrite;
  }

  get newest(): string {
    return `1.${this.#tag}.0`;
  }

  publish(): void {
    this.#tag++;
  }

  pass(seconds: number): void {
    this.now += seconds * 1000;
    this.#elapsed += seconds * 1000;
  }

  /** The clock is set back; nothing else passes. */
  setBack(seconds: number): void {
    this.now -= seconds * 1000;
  }

  live(): { rollouts: Rollout[]; budgets: Budget[] } {
    const existing = (all: readonly Kept[]) => all.flatMap((kept) => (this.gone.has(kept) ? [] : [kept.at(-1)!]));
    return { rollouts: existing(this.rollouts) as Rollout[], budgets: existing(this.budgets) as Budget[] };
  }

  /** `lag`: how many versions behind the parent is. A hook that throws answers nothing. */
  async syncRollout(index: number, lag = 0): Promise<void> {
    const kept = this.#at(this.rollouts, index);
    if (this.gone.has(kept)) return;
    const parent = behind(kept, lag) as Rollout;
    const answer = await this.#ask(() =>
      rolloutHook.sync(request(parent, [imagePolicy(this.newest), ...this.#gates()]), this.#call()),
    );
    if (answer)
      this.#answers.push({
        to: kept,
        uid: parent.metadata.uid,
        status: answer.status as RolloutStatus,
        at: this.#elapsed,
      });
  }

  /** `lags`: how far the caches of the Rollouts are behind; one that is deleted may be there still. */
  async syncBudget(index: number, lag = 0, lags: readonly number[] = []): Promise<void> {
    const kept = this.#at(this.budgets, index);
    const parent = behind(kept, lag) as Budget;
    const related = this.rollouts.flatMap((each, i) => {
      const behindBy = lags[i % Math.max(1, lags.length)] ?? 0;
      return behindBy === ABSENT || (this.gone.has(each) && behindBy === 0) ? [] : [behind(each, behindBy)];
    });
    const sent = { ...request(parent as never, related as KubeObject<any, any>[]), children: {} };
    const answer = await this.#ask(() => rolloutBudgetHook.sync(sent, this.#call()));
    // An answer settles: a sync of its own answer changes nothing.
    const stored = { ...sent, parent: { ...parent, status: answer?.status } as never };
    const again = await this.#ask(() => rolloutBudgetHook.sync(stored, this.#call()));
    if (!sameJson(answer?.status, again?.status))
      throw new Error(`${JSON.stringify(answer)} becomes ${JSON.stringify(again)}`);
    if (answer)
      this.#answers.push({
        to: kept,
        uid: parent.metadata.uid,
        status: answer.status as BudgetStatus,
        at: this.#elapsed,
      });
  }

  /** One of the answers reaches the API server, as the CRDs take it. */
  write(index: number): void {
    const [answer] = this.#answers.splice(this.#answers.length === 0 ? 0 : index % this.#answers.length, 1);
    if (!answer || this.#elapsed - answer.at > LATEST_MS) return;
    const { to, uid, status } = answer;
    const current = to.at(-1)!;
    if (this.gone.has(to) || current.metadata.uid !== uid || sameJson(current.status, status)) return;
    if (status.revision !== (current.status?.revision ?? 0) + 1) return;
    this.#store(to, { ...current, status } as Rollout | Budget);
  }

  /** The newest answer is stored at once. */
  writeLast(): void {
    this.write(this.#answers.length - 1);
  }

  writeAll(): void {
    while (this.#answers.length > 0) this.write(0);
  }

  /** The process that has an answer dies. */
  lose(index: number): void {
    this.#answers.splice(this.#answers.length === 0 ? 0 : index % this.#answers.length, 1);
  }

  /** A person or a dashboard ends a bake. */
  endBake(index: number, bakeStatus: 'Succeeded' | 'Failed'): void {
    const kept = this.#at(this.rollouts, index);
    const rollout = kept.at(-1) as Rollout;
    const [head, ...older] = rollout.status?.history ?? [];
    if (this.gone.has(kept) || !head || !isBaking(head)) return;
    const written = { ...rollout.status, revision: undefined, history: [{ ...head, bakeStatus }, ...older] };
    const { revision: _, ...status } = written;
    this.#store(kept, { ...rollout, status: acceptStatus(status, rollout.status) });
  }

  forceDeploy(index: number): void {
    const kept = this.#at(this.rollouts, index);
    const rollout = kept.at(-1) as Rollout;
    const annotations = { [FORCE_DEPLOY]: this.newest, [REQUEST]: `force-deploy=r${++this.#requests}` };
    if (!this.gone.has(kept)) this.#store(kept, { ...rollout, metadata: { ...rollout.metadata, annotations } });
  }

  /** Nobody asks for anything by hand any more. */
  callOff(): void {
    for (const kept of this.rollouts) {
      const { annotations: _, ...metadata } = kept.at(-1)!.metadata;
      kept.push({ ...kept.at(-1)!, metadata } as Rollout);
    }
  }

  /** It is deleted, or, where it is gone already, created again. */
  deleteOrCreate(index: number): void {
    const kept = this.#at(this.rollouts, index);
    const { name = '', labels = {} } = kept.at(-1)!.metadata;
    if (!this.gone.delete(kept)) {
      this.gone.add(kept);
      return;
    }
    this.gone.delete(kept);
    kept.push(newRollout(name, labels.ring ?? '', kept.length));
  }

  setMax(index: number, maxConcurrent: number): void {
    const kept = this.#at(this.budgets, index);
    const budget = kept.at(-1) as Budget;
    const generation = (budget.metadata.generation ?? 0) + 1;
    kept.push({
      ...budget,
      metadata: { ...budget.metadata, generation },
      spec: { ...budget.spec, maxConcurrent },
    } as Budget);
  }

  toggleGate(index: number): void {
    const { name = '' } = this.#at(this.rollouts, index).at(-1)!.metadata;
    if (!this.closed.delete(name)) this.closed.add(name);
  }

  #at(all: readonly Kept[], index: number): Kept {
    return all[index % all.length]!;
  }

  #store(kept: Kept, after: Rollout | Budget): void {
    const before = kept.at(-1)!;
    kept.push(withoutUsed(after));
    this.#onWrite(this, { kind: this.rollouts.includes(kept) ? 'rollout' : 'budget', before, after });
  }

  #gates(): KubeObject<any, any>[] {
    return [...this.closed].map((name) =>
      object('kuberik.com/v1alpha1', 'RolloutGate', `gate-of-${name}`, { rolloutRef: { name }, passing: false }),
    );
  }

  #call() {
    const { rollouts, budgets } = this.live();
    const home = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team-a' } };
    const objects = [...rollouts, ...budgets, ...this.#gates(), home] as KubeObject<any, any>[];
    return fakeHookCall({ now: this.now, cluster: fakeCluster(objects) }).call;
  }

  async #ask<T>(sync: () => Promise<T>): Promise<T | undefined> {
    try {
      return await sync();
    } catch (error) {
      if ((error as { status?: number }).status === 429) return undefined;
      throw error;
    }
  }
}

function newRollout(name: string, ring: string, life: number): Rollout {
  return objectOf('Rollout', {
    metadata: { name, namespace: 'team-a', uid: `uid-of-${name}-${life}`, generation: 1, labels: { ring } },
    spec: { releasesImagePolicy: { name: 'policy' }, bakeTime: '5m', gateFirstDeployment: true },
  });
}

/** As the decorator `rollout-requests` does it. */
function withoutUsed<T extends Rollout | Budget>(object: T): T {
  const used = object.kind === 'Rollout' && usedAnnotations(object as Rollout).length > 0;
  const { annotations: _, ...metadata } = object.metadata;
  return used ? { ...object, metadata } : object;
}

function behind(kept: Kept, lag: number): Rollout | Budget {
  return kept[Math.max(0, kept.length - 1 - lag)]!;
}
