/**
 * The plan of a Rollout: from all that was read for it and the time, the status to store, Events and children.
 * A plan made from its own status changes nothing but the progress of a new deployment.
 */
import type { AnyObject, EpochMs } from '../../api/kubernetes.ts';
import type { HistoryEntry, RolloutStatus } from '../../api/types.ts';
import { bindingsOfRollout } from '../binding/boundObjects.ts';
import { setConditions } from '../kube/conditions.ts';
import type { NewEvent } from '../kube/events.ts';
import { derivedPolicy } from '../policy/derivedPolicy.ts';
import { imageOfReleases } from '../policy/imagePolicy.ts';
import { type DeploymentDecision, decideDeployment } from './decideDeployment.ts';
import { advanceHead, retryHead } from './deployment/bake.ts';
import { isInRecovery } from './deployment/entry.ts';
import { sortedChecks } from './deployment/healthChecks.ts';
import { isUnfinished, movedTagText } from './deployment/history.ts';
import { type CopyState, copiesFirst } from './evaluation/copy.ts';
import {
  type Observed,
  type RolloutConfig,
  type RolloutContext,
  type RolloutState,
  readRolloutConfig,
} from './evaluation/observed.ts';
import { rolloutGatesOf } from './evaluation/rolloutGates.ts';
import { idleRequests, type RequestKey, requestsOf, withUsed } from './evaluation/rolloutRequests.ts';
import { authorsWanted } from './evaluation/versionApprovals.ts';
import { releaseConfigMap } from './ownedObjects.ts';
import { discoverReleases } from './release/discovery.ts';
import { isTagMoved, withMetadata } from './release/metadata.ts';
import { nextConditions } from './rolloutConditions.ts';
import { changeEvents, withOrder } from './rolloutEvents.ts';
import { nextStatus } from './rolloutStatus.ts';
import { withBoundedHead } from './statusSize.ts';
import { upstreamRefs } from './upstream/dependencies.ts';
import { type Wait, waitsOf } from './waits.ts';

export type Need = 'blockers' | 'bindings' | 'health';

export interface Plan {
  /** The status to store, `revision` included. */
  status: RolloutStatus;
  /**
   * The live reads that have to come before the plan is carried out. A plan without needs is safe from cached data,
   * because the next sync corrects it.
   * - blockers, everything that may block a version: the plan has a new history head, or begins the copy for which a
   *   deployment waits
   * - bindings: the head counts as applied from now on, ends, or is retried, even if the plan commits a new head: later
   *   reads may prevent that
   * - health, the HealthChecks and the ImagePolicy: the bake begins or ends
   */
  needs: ReadonlySet<Need>;
  /** Whether the plan would deploy, but no budget has granted a slot. */
  waitsForBudget: boolean;
  requeueAfterSeconds?: number;
  events: NewEvent[];
  /**
   * The ConfigMap of spec.releaseConfigMap and the ImagePolicy of spec.writeBack, from the history as stored; the Job
   * of spec.targetRepository, until the copy is stored in the status.
   */
  children: AnyObject[];
}

/** The next step of the Rollout. A Rollout that is being deleted keeps its status and has no children. */
export function planRollout(observed: Observed, now: EpochMs): Plan {
  const { rollout } = observed;
  if (rollout.metadata.deletionTimestamp) {
    return { status: rollout.status ?? {}, needs: new Set(), waitsForBudget: false, events: [], children: [] };
  }
  const own = ownPart(observed, now);
  const before = beforeDecision(own, now);
  const decision = decideDeployment(before.context);
  const waits = waitsOf(decision);
  const after = withConditions(decision, waits, before.problems);
  const status = nextStatus(after, before.fields);
  const { copy, requeueAt } = decision.evaluation;
  const isIrreversible = decision.commits || (copy?.isAwaited && copy.begins);
  return {
    status,
    needs: new Set<Need>([...before.needs, ...(isIrreversible ? (['blockers'] as const) : [])]),
    waitsForBudget: decision.slotWait !== undefined,
    requeueAfterSeconds: nextRequeue([...before.requeueAt, ...decision.requeueAt, ...requeueAt], own, status, now),
    events:
      status === rollout.status
        ? []
        : withOrder([...before.events, ...decision.events, ...changeEvents(after, waits, status)], status),
    children: childrenOf(own, copy),
  };
}

/** The result of the steps before the decision. */
interface BeforeDecision extends Pick<Plan, 'events'> {
  needs: Need[];
  context: RolloutContext;
  problems: readonly string[];
  /** The fields of the image, for the status. */
  fields: Partial<RolloutStatus>;
  requeueAt: EpochMs[];
}

/**
 * The retry, the discovery of releases, and the progress of the newest deployment. These come first, so that the
 * decision includes a bake that ends or starts in this sync.
 */
function beforeDecision(observed: Observed, now: EpochMs): BeforeDecision {
  const { rollout, healthChecks } = observed;
  const config = readRolloutConfig(observed);
  const stored = stateBefore(rollout.status);
  const requests = requestsOf(rollout);
  const [present, ...older] = stored.history;
  const retry = retryHead(present, requests.retry, healthChecks, config, now);
  const releases = discoverReleases({ ...observed, ...detailsNeeded(observed, config, retry.head) }, now);
  const { available, barriers, authors } = releases;
  const state = { ...stored, available, barriers, authors };
  const context = { observed, config, state, requests, now };
  const progress = retry.head && headProgress(retry.head, context);
  const steps = progress ? [retry, progress] : [retry];
  const history = progress?.head ? [progress.head, ...older] : [];
  const ready = steps.flatMap((step) => step.ready ?? []);
  const conditions = setConditions(stored.conditions, [...releases.conditions, ...ready], now);
  const used: RequestKey[] = [
    ...(requests.retry ? (['retry'] as const) : []),
    ...idleRequests(requests, rollout.spec?.wantedVersion, history[0]),
  ];
  return {
    context: { ...context, state: { ...state, history, conditions }, requests: withUsed(rollout, requests, used) },
    problems: [...config.problems, ...releases.problems],
    fields: releases.fields,
    needs: steps.flatMap(({ needs }) => needs),
    events: steps.flatMap(({ events }) => events),
    requeueAt: [...releases.requeueAt, ...steps.flatMap(({ requeueAt }) => requeueAt ?? [])],
  };
}

/** The decision with all conditions, and with the newest deployment cut to its size. */
function withConditions(
  decision: DeploymentDecision,
  waits: readonly Wait[],
  problems: readonly string[],
): DeploymentDecision {
  const { context } = decision;
  const { observed, config, state } = context;
  const history = withBoundedHead(state.history, observed.rollout.status?.history?.[0], config.historyLimit);
  const after = { ...state, history, conditions: nextConditions(decision, waits, problems) };
  return { ...decision, context: { ...context, state: after } };
}

/** The part that concerns the Rollout, in a fixed order: Metacontroller sends objects in none. */
function ownPart(observed: Observed, now: EpochMs): Observed {
  const { rollout, rolloutGates, bindings, healthChecks } = observed;
  return {
    ...observed,
    rolloutGates: rolloutGatesOf(rollout, rolloutGates, now),
    bindings: bindingsOfRollout(rollout, bindings),
    healthChecks: sortedChecks(healthChecks),
  };
}

/** The state in the stored status, from which a plan starts. */
function stateBefore(status: RolloutStatus = {}): RolloutState {
  return {
    history: status.history ?? [],
    available: status.availableReleases ?? [],
    rolledBack: status.rolledBackReleases ?? [],
    barriers: status.rollbackBarriers ?? [],
    authors: status.releaseAuthors ?? [],
    conditions: status.conditions ?? [],
  };
}

/** The releases of which more than the tag has to be known. */
function detailsNeeded(
  { rollout, rolloutGates, gates }: Observed,
  config: RolloutConfig,
  head: HistoryEntry | undefined,
) {
  return {
    authorsOf: authorsWanted(rolloutGates, gates, rollout),
    barriersOf: head && config.onFailure === 'Rollback' && isUnfinished(head) ? [head.version.tag] : [],
  };
}

function headProgress(head: HistoryEntry, { observed, config, state, now }: RolloutContext) {
  const { rollout, imagePolicy, bindings, healthChecks, metadata } = observed;
  const { history, available, conditions } = state;
  const present = { history: [head, ...history.slice(1)], available, image: imageOfReleases(rollout, imagePolicy) };
  // The ImagePolicy may select a newer tag when this one is retried: then only stored releases show the move.
  const hasMoved = head.lastRetryTimestamp !== undefined && movedTagText(head, present) !== undefined;
  const context = {
    rollout,
    config,
    healthChecks,
    bound: bindings,
    recovery: isInRecovery(conditions),
    now,
    isTagMoved: (isTagMoved(head, imagePolicy) || hasMoved) && !copiesFirst(rollout),
  };
  const known = { ...head, version: withMetadata(head.version, metadata[head.version.tag]) };
  return advanceHead(known, context, config.problems.length === 0);
}

function childrenOf(observed: Observed, copy: CopyState | undefined): AnyObject[] {
  const { rollout, configMapProblem, writeBackProblem } = observed;
  const configMap = configMapProblem === undefined ? releaseConfigMap(rollout) : undefined;
  const policy = writeBackProblem === undefined ? derivedPolicy(observed) : undefined;
  return [configMap, copy?.job, policy].filter((child) => child !== undefined);
}

const SHORTEST_REQUEUE_SECONDS = 0.1;

// Changes of some objects trigger no sync: they are read again at these intervals.

/**
 * The interval for HealthChecks of other namespaces, the labels of a Namespace, its consent to an upstream Rollout, and
 * the end of a cycle of upstream Rollouts.
 */
const UNTRIGGERED_REQUEUE_SECONDS = 60;
/** The interval while a HealthCheck of another namespace decides what happens next. */
const DECISIVE_CHECKS_REQUEUE_SECONDS = 10;
/**
 * The interval while an ImagePolicy doesn't exist, or another owner has a ConfigMap or ImagePolicy with the name of a
 * child.
 */
const UNRELATED_REQUEUE_SECONDS = 30;

/** The seconds to the next sync; undefined if only a change that triggers a sync can make a difference. */
function nextRequeue(
  requeues: readonly EpochMs[],
  observed: Observed,
  status: RolloutStatus,
  now: EpochMs,
): number | undefined {
  const due = requeues.map((at) => Math.max(SHORTEST_REQUEUE_SECONDS, (at - now) / 1000));
  const seconds = [...due, ...untriggeredRequeues(observed, status)];
  return seconds.length > 0 ? Math.min(...seconds) : undefined;
}

function untriggeredRequeues(observed: Observed, { history }: RolloutStatus): number[] {
  const { rollout, imagePolicy, healthChecks, upstream, configMapProblem, writeBackProblem } = observed;
  const { metadata, spec } = rollout;
  const seconds: number[] = [];
  if (imagePolicy === undefined || configMapProblem !== undefined || writeBackProblem !== undefined)
    seconds.push(UNRELATED_REQUEUE_SECONDS);
  if (upstream.problem || upstream.found.length < upstreamRefs(rollout).length)
    seconds.push(UNTRIGGERED_REQUEUE_SECONDS);
  if (spec?.healthCheckSelector?.namespaceSelector) {
    const foreign = healthChecks.filter((check) => check.metadata.namespace !== metadata.namespace);
    const isAwaited = isUnfinished(history?.[0]) && foreign.length > 0;
    const decides = isAwaited || foreign.some(({ status }) => status?.status !== 'Healthy');
    seconds.push(decides ? DECISIVE_CHECKS_REQUEUE_SECONDS : UNTRIGGERED_REQUEUE_SECONDS);
  }
  return seconds;
}
