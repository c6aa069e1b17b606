/** The views of the page. A change of an object makes views stale; these are computed again in batches. */
import type { AnyObject, EpochMs } from '../api/kubernetes.ts';
import type { Budget, FluxBinding, Gate, Rollout, RolloutSchedule } from '../api/types.ts';
import { type BudgetView, budgetView } from '../client/board/budgetView.ts';
import { type GateView, gateView, type ScheduleView, scheduleView } from '../client/board/planViews.ts';
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

type Changed<T> = { set: T[]; gone: string[] };

export interface ViewChanges {
  rows: Changed<Row>;
  gates: Changed<GateView>;
  schedules: Changed<ScheduleView>;
  budgets: Changed<BudgetView>;
}

/** The views besides the rows. */
interface Plans {
  gates: GateView;
  schedules: ScheduleView;
  budgets: BudgetView;
}

const PLAN_OF: { [Kind in WatchedKind]?: keyof Plans } = {
  Gate: 'gates',
  RolloutSchedule: 'schedules',
  ClusterRolloutSchedule: 'schedules',
  RolloutBudget: 'budgets',
  ClusterRolloutBudget: 'budgets',
};

const VIEW_OF: { [Plan in keyof Plans]: (object: AnyObject, now: EpochMs) => Plans[Plan] } = {
  gates: (object, now) => gateView(object as Gate, now),
  schedules: (object, now) => scheduleView(object as RolloutSchedule, now),
  budgets: (object) => budgetView(object as Budget),
};

/** The views of one plan, and the ids of stale ones, with their kinds. */
class PlanCache<T> {
  readonly views = new Map<string, T>();
  readonly stale = new Map<string, WatchedKind>();
}

/** The most versions that are listed on the page of a Gate. */
const MAX_WAITING = 50;
/** The time for which views of one kind are computed before other work gets a turn: one long calendar takes 0.1 s. */
const TURN_MS = 50;

export class Views {
  readonly objects = new WatchedObjects();
  readonly #rows = new Map<string, Row>();
  readonly #plans: { [Plan in keyof Plans]: PlanCache<Plans[Plan]> } = {
    gates: new PlanCache(),
    schedules: new PlanCache(),
    budgets: new PlanCache(),
  };
  /** The ids of Rollouts whose rows are stale. */
  readonly #staleRows = new Map<string, WatchedKind>();
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
    return this.#staleRows.size > 0 || Object.values(this.#plans).some(({ stale }) => stale.size > 0);
  }

  rows(): Row[] {
    return [...this.#rows.values()];
  }

  plans<Plan extends keyof Plans>(plan: Plan): Plans[Plan][] {
    return [...this.#plans[plan].views.values()];
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
    for (const id of this.objects.keys('Rollout')) this.#staleRows.set(id, 'Rollout');
  }

  /** Marks the views as stale whose time of change has passed. */
  touchDue(): void {
    const now = this.#now();
    const isDue = (time: string | undefined) => (parseTime(time) ?? Number.POSITIVE_INFINITY) <= now;
    for (const [id, { until }] of this.#rows) if (isDue(until)) this.#staleRows.set(id, 'Rollout');
    for (const { id, kind, until } of this.plans('schedules')) {
      if (isDue(until)) this.#plans.schedules.stale.set(id, kind);
    }
    for (const { id, until } of this.plans('gates')) {
      if (!isDue(until)) continue;
      this.#plans.gates.stale.set(id, 'Gate');
      for (const reader of this.#readers.get(`Gate ${id}`) ?? []) this.#staleRows.set(reader, 'Rollout');
    }
  }

  /** Marks the views as stale that depend on the object. */
  #touch(kind: WatchedKind, object: AnyObject): void {
    const key = refKey(identityOf(object));
    const plan = PLAN_OF[kind];
    if (plan) this.#plans[plan].stale.set(key, kind);
    if (kind === 'Rollout') this.#staleRows.set(key, 'Rollout');
    if (kind === 'Gate' || kind === 'Rollout')
      for (const id of this.#readers.get(`${kind} ${key}`) ?? []) this.#staleRows.set(id, 'Rollout');
    if (kind === 'RolloutGate' || kind === 'FluxBinding' || isBoundKind(kind))
      for (const id of ownersOf(kind, object)) this.#staleRows.set(id, 'Rollout');
    if (kind === 'HealthCheck') {
      for (const rollout of this.objects.all<Rollout>('Rollout')) {
        if (rollout.spec?.healthCheckSelector && rollout.metadata.namespace === object.metadata.namespace) {
          this.#staleRows.set(refKey(identityOf(rollout)), 'Rollout');
        }
      }
    }
  }

  /** Computes a batch of stale views, and returns those that differ. */
  refresh(): ViewChanges {
    const rows: ViewChanges['rows'] = { set: [], gone: [] };
    for (const [id] of taken(this.#staleRows, this.#clock)) {
      const rollout = this.objects.get<Rollout>('Rollout', id);
      if (!rollout) this.#setDependencies(id, []);
      applyView(this.#rows, id, rollout && this.#row(id, rollout), rows);
    }
    return {
      rows,
      gates: this.#refreshPlan('gates'),
      schedules: this.#refreshPlan('schedules'),
      budgets: this.#refreshPlan('budgets'),
    };
  }

  #refreshPlan<Plan extends keyof Plans>(plan: Plan): Changed<Plans[Plan]> {
    const change: Changed<Plans[Plan]> = { set: [], gone: [] };
    const { views, stale } = this.#plans[plan];
    for (const [id, kind] of taken(stale, this.#clock)) {
      const object = this.objects.get(kind, id);
      applyView(views, id, object && VIEW_OF[plan](object, this.#now()), change);
    }
    return change;
  }

  #row(id: string, rollout: Rollout): Row {
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

function applyView<T>(
  views: Map<string, T>,
  id: string,
  view: T | undefined,
  change: { set: T[]; gone: string[] },
): void {
  const before = views.get(id);
  if (!view) {
    if (views.delete(id)) change.gone.push(id);
    return;
  }
  if (before && JSON.stringify(before) === JSON.stringify(view)) return;
  views.set(id, view);
  change.set.push(view);
}
