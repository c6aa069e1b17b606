/** The views of the page. A change of an object makes views stale; these are computed again in batches. */
import type { AnyObject, EpochMs } from '../api/kubernetes.ts';
import type { Budget, FluxBinding, Gate, Rollout, RolloutSchedule } from '../api/types.ts';
import { budgetView } from '../client/board/budgetView.ts';
import type { StreamEvents } from '../client/board/pageMessages.ts';
import { gateView, scheduleView } from '../client/board/planViews.ts';
import { type Row, rowOf } from '../client/board/row.ts';
import type { Application } from '../client/explain/application.ts';
import { relatedGates } from '../client/explain/related.ts';
import { explainRollout } from '../client/explain/rollout/explainRollout.ts';
import { nextDeployment } from '../client/explain/rollout/gateSteps.ts';
import type { NextDeployment } from '../core/gate/gateApprovals.ts';
import { identityOf, refKey } from '../core/kube/names.ts';
import { parseTime } from '../core/kube/time.ts';
import { upstreamRefs } from '../core/rollout/upstream/dependencies.ts';
import {
  isBoundKind,
  isSameForExplanations,
  ownersOf,
  type WatchedKind,
  WatchedObjects,
  withoutUnusedFields,
} from './objects.ts';

/** Returns the same version of the object that is in memory already, or else this object. */
export type ShareObject = <T extends AnyObject>(object: T) => T;

/** The changes of each view. */
export type ViewChanges = Pick<StreamEvents, 'rows' | 'gates' | 'schedules' | 'budgets'>;
type ViewName = keyof ViewChanges;
type View<Name extends ViewName> = ViewChanges[Name]['set'][number];

const VIEW_OF: { [Kind in WatchedKind]?: ViewName } = {
  Rollout: 'rows',
  Gate: 'gates',
  RolloutSchedule: 'schedules',
  ClusterRolloutSchedule: 'schedules',
  RolloutBudget: 'budgets',
  ClusterRolloutBudget: 'budgets',
};

/** The most versions that are listed on the page of a Gate. */
const MAX_WAITING = 50;
/** The time for which views of one kind are computed before other work gets a turn: one long calendar takes 0.1 s. */
const TURN_MS = 50;

/** A map for each view. */
const perView = () => ({ rows: new Map(), gates: new Map(), schedules: new Map(), budgets: new Map() });

export class Views {
  readonly objects = new WatchedObjects();
  readonly #views: { [Name in ViewName]: Map<string, View<Name>> } = perView();
  /** The ids of stale views, with the kinds of their objects. */
  readonly #stale: Record<ViewName, Map<string, WatchedKind>> = perView();
  /** The Rollouts that depend on each Gate or upstream Rollout, by its kind and id. */
  readonly #readers = new Map<string, Set<string>>();
  /** The keys in `#readers` that have the Rollout, by its id. */
  readonly #dependencies = new Map<string, readonly string[]>();
  readonly #now: () => EpochMs;
  readonly #share: ShareObject;
  readonly #clock: () => number;

  /** @param clock milliseconds that only grow */
  constructor(now: () => EpochMs, share: ShareObject = (object) => object, clock = () => performance.now()) {
    this.#now = now;
    this.#share = share;
    this.#clock = clock;
  }

  get isStale(): boolean {
    return Object.values(this.#stale).some(({ size }) => size > 0);
  }

  /** All views, as if each had changed. */
  snapshot(): ViewChanges {
    const all = <Name extends ViewName>(name: Name) => ({ set: [...this.#views[name].values()], gone: [] });
    return { rows: all('rows'), gates: all('gates'), schedules: all('schedules'), budgets: all('budgets') };
  }

  /** The explanation of an application, as of now. */
  application(id: string): Application | undefined {
    const rollout = this.objects.get<Rollout>('Rollout', id);
    return rollout && explainRollout(rollout, this.objects.related(rollout), this.#now());
  }

  /** The versions that wait for a closed Gate. */
  waitingFor(gate: string): NextDeployment[] {
    const found: NextDeployment[] = [];
    for (const id of this.#readers.get(`Gate ${gate}`) ?? []) {
      const rollout = this.objects.get<Rollout>('Rollout', id);
      const application = this.application(id);
      const isHeld = application?.steps.some((step) => step.id === `gate/${gate}` && step.state === 'blocks');
      if (rollout && isHeld && application?.waiting) found.push(nextDeployment(rollout, application.waiting.version));
      if (found.length === MAX_WAITING) break;
    }
    return found;
  }

  replace(kind: WatchedKind, objects: readonly AnyObject[]): void {
    const existing = new Set(objects.map((each) => refKey(identityOf(each))));
    const gone = [...this.objects.all(kind)].filter((each) => !existing.has(refKey(identityOf(each))));
    for (const each of gone) this.remove(kind, each);
    for (const each of objects) this.set(kind, each);
  }

  set(kind: WatchedKind, object: AnyObject): void {
    const key = refKey(identityOf(object));
    const before = this.objects.get(kind, key);
    if (
      before?.metadata.resourceVersion !== undefined &&
      before.metadata.resourceVersion === object.metadata.resourceVersion
    )
      return;
    const hasChanged = !before || !isSameForExplanations(kind, before, object);
    if (before && hasChanged) this.#touch(kind, before);
    this.objects.set(kind, this.#share(withoutUnusedFields(kind, object)));
    if (hasChanged) this.#touch(kind, object);
  }

  remove(kind: WatchedKind, object: AnyObject): void {
    this.#touch(kind, object);
    this.objects.remove(kind, object);
  }

  /** Marks all rows as stale: each depends on which kinds could be read. */
  touchAll(): void {
    for (const id of this.objects.keys('Rollout')) this.#touchRow(id);
  }

  /** Marks the views as stale whose time of change has passed. */
  touchDue(): void {
    const now = this.#now();
    const isDue = (time: string | undefined) => (parseTime(time) ?? Number.POSITIVE_INFINITY) <= now;
    for (const [id, { until }] of this.#views.rows) if (isDue(until)) this.#touchRow(id);
    for (const [id, { kind, until }] of this.#views.schedules) if (isDue(until)) this.#stale.schedules.set(id, kind);
    for (const [id, { until }] of this.#views.gates) {
      if (!isDue(until)) continue;
      this.#stale.gates.set(id, 'Gate');
      for (const reader of this.#readers.get(`Gate ${id}`) ?? []) this.#touchRow(reader);
    }
  }

  #touchRow(id: string): void {
    this.#stale.rows.set(id, 'Rollout');
  }

  /** Marks the views as stale that depend on the object. */
  #touch(kind: WatchedKind, object: AnyObject): void {
    const key = refKey(identityOf(object));
    const name = VIEW_OF[kind];
    if (name) this.#stale[name].set(key, kind);
    if (kind === 'Gate' || kind === 'Rollout')
      for (const id of this.#readers.get(`${kind} ${key}`) ?? []) this.#touchRow(id);
    if (kind === 'RolloutGate' || kind === 'FluxBinding' || isBoundKind(kind))
      for (const id of ownersOf(kind, object)) this.#touchRow(id);
    if (kind === 'HealthCheck') {
      for (const rollout of this.objects.all<Rollout>('Rollout')) {
        if (rollout.spec?.healthCheckSelector && rollout.metadata.namespace === object.metadata.namespace)
          this.#touchRow(refKey(identityOf(rollout)));
      }
    }
  }

  /** Computes a batch of stale views, and returns those that differ. */
  refresh(): ViewChanges {
    const now = this.#now();
    return {
      rows: this.#refresh('rows', (rollout, id) => this.#row(id, rollout as Rollout | undefined)),
      gates: this.#refresh('gates', (gate) => gate && gateView(gate as Gate, now)),
      schedules: this.#refresh('schedules', (schedule) => schedule && scheduleView(schedule as RolloutSchedule, now)),
      budgets: this.#refresh('budgets', (budget) => budget && budgetView(budget as Budget)),
    };
  }

  /** `viewOf`: the view of the object of this id, if it exists. */
  #refresh<Name extends ViewName>(
    name: Name,
    viewOf: (object: AnyObject | undefined, id: string) => View<Name> | undefined,
  ) {
    const views = this.#views[name] as Map<string, View<Name>>;
    const change = { set: [] as View<Name>[], gone: [] as string[] };
    for (const [id, kind] of taken(this.#stale[name], this.#clock)) {
      const before = views.get(id);
      const view = viewOf(this.objects.get(kind, id), id);
      if (!view) {
        if (views.delete(id)) change.gone.push(id);
      } else if (!before || JSON.stringify(before) !== JSON.stringify(view)) {
        views.set(id, view);
        change.set.push(view);
      }
    }
    return change;
  }

  #row(id: string, rollout: Rollout | undefined): Row | undefined {
    if (!rollout) {
      this.#setDependencies(id, []);
      return undefined;
    }
    const related = this.objects.related(rollout);
    const dependencies = [
      ...relatedGates(rollout, related.bindings as FluxBinding[]).refs.map((ref) => `Gate ${refKey(ref)}`),
      ...upstreamRefs(rollout).map((ref) => `Rollout ${refKey(ref)}`),
    ];
    this.#setDependencies(id, dependencies);
    return rowOf(rollout, explainRollout(rollout, related, this.#now()));
  }

  #setDependencies(id: string, dependencies: readonly string[]): void {
    for (const key of this.#dependencies.get(id) ?? []) {
      const readers = this.#readers.get(key);
      readers?.delete(id);
      if (readers?.size === 0) this.#readers.delete(key);
    }
    for (const key of dependencies) this.#readers.set(key, (this.#readers.get(key) ?? new Set()).add(id));
    if (dependencies.length > 0) this.#dependencies.set(id, dependencies);
    else this.#dependencies.delete(id);
  }
}

/** Removes entries, at least one, until their turn is over. */
function* taken(
  stale: Map<string, WatchedKind>,
  clock: () => number,
): Generator<readonly [id: string, kind: WatchedKind]> {
  const end = clock() + TURN_MS;
  for (const each of stale) {
    stale.delete(each[0]);
    yield each;
    if (clock() >= end) return;
  }
}
