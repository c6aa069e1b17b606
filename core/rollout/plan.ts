/**
 * What to do about a Rollout: observed state and a time in, the status to store out. Each step takes values and answers with
 * values. Planning again on the result changes nothing, except that a new deployment then takes its course.
 */
import type { ImagePolicy } from '../../api/flux.ts';
import type { EpochMs } from '../../api/kubernetes.ts';
import type { RolloutStatus } from '../../api/types.ts';
import type { CopyJob } from '../copy/job.ts';
import { isBaking } from '../deployment/bake.ts';
import { readConfig } from '../evaluation/config.ts';
import { storedState } from '../evaluation/evaluation.ts';
import { namedGates } from '../evaluation/namedGates.ts';
import type { Observed } from '../evaluation/observed.ts';
import { idleRequests, requestsOf } from '../evaluation/requests.ts';
import type { NewEvent } from '../kube/events.ts';
import { derivedPolicy } from '../policy/writeBack.ts';
import { revised } from '../status/revision.ts';
import { blockerList } from './blockerList.ts';
import { nextConditions, setConditions } from './conditions.ts';
import { type ReleaseConfigMap, releaseConfigMap } from './configMap.ts';
import { decide } from './decision.ts';
import { changeEvents, dated } from './events.ts';
import { gateSummaries } from './gateSummaries.ts';
import { nextStatus } from './nextStatus.ts';
import { fitted, withBoundedHead } from './statusSize.ts';
import { takeProgress, takeReleases, takeRetry } from './steps.ts';

interface Planned {
  /** As it is to be stored, `revision` included. */
  status: RolloutStatus;
  /** It would commit, and has to wait for a slot. */
  waitsForBudget: boolean;
  /** The head counts as applied from now on: the hook makes sure that no bound object was overlooked. */
  endsApply: boolean;
  resyncAfterSeconds?: number;
  events: NewEvent[];
  /** The ConfigMap of spec.releaseConfigMap, from the history as stored. */
  configMap?: ReleaseConfigMap;
  /** The ImagePolicy of spec.writeBack, from the history as stored. */
  derivedPolicy?: ImagePolicy;
  /** The Job of spec.targetRepository, until the copy is stored in the status. */
  copyJob?: CopyJob;
}

/** A plan that may be carried out as it was made from a cache: the next one puts right what the cache did not know. */
export interface ReversiblePlan extends Planned {
  commits: false;
  startsCopy: false;
}

/** A plan that cannot be taken back, and is carried out only once it was made from live reads. */
export interface IrreversiblePlan extends Planned {
  /** A new history head. */
  commits: boolean;
  /** A version that waits for it is to be copied. */
  startsCopy: boolean;
}

export type Plan = ReversiblePlan | IrreversiblePlan;

export function isReversible(plan: Plan): plan is ReversiblePlan {
  return !plan.commits && !plan.startsCopy;
}

export function planRollout(observed: Observed, now: EpochMs): Plan {
  const { rollout } = observed;
  if (rollout.metadata.deletionTimestamp) {
    return {
      status: rollout.status ?? {},
      commits: false,
      waitsForBudget: false,
      endsApply: false,
      startsCopy: false,
      events: [],
    };
  }
  const config = readConfig(rollout, observed);
  const stored = storedState(rollout.status);
  const asked = requestsOf(rollout);

  const retry = takeRetry(stored.history, asked, observed.healthChecks, now);
  const releases = takeReleases(observed, config, retry.history, stored, now);
  // Before a deployment is decided: the status in which a bake ends or starts is not stored yet.
  const progress = takeProgress(observed, config, releases.history, stored.conditions, now);
  const { available, barriers, authors } = releases;
  const { history } = progress;
  const conditions = setConditions(stored.conditions, [...releases.conditions, ...progress.conditions], now);
  const idle = [...retry.used, ...idleRequests(asked, history[0])];
  const decision = decide(
    observed,
    config,
    { ...stored, history, available, barriers, authors, conditions },
    idle,
    now,
  );

  const used = new Set([...idle, ...decision.used]);
  const left = requestsOf(rollout, used);
  const problems = [...config.problems, ...releases.problems];
  const bounded = withBoundedHead(decision.state.history, stored.history[0], config.historyLimit);
  const state = {
    ...decision.state,
    history: bounded,
    conditions: nextConditions(observed, config, decision, left, problems, now),
  };
  const named = namedGates(observed);
  const { gates, leftOut } = gateSummaries(observed, decision.evaluation, now);
  const listed = blockerList([...decision.evaluation.blockers, ...(decision.waiting?.blockers ?? [])]);
  const next: RolloutStatus = {
    ...releases.fields,
    ...nextStatus(observed, state, decision.evaluation, left, used),
    ...(decision.waiting?.request && { slotRequest: decision.waiting.request }),
    ...(named.length > 0 && { namedGates: named }),
    blockers: listed.blockers,
    gates: [...gates, ...(decision.waiting?.gates ?? [])],
  };
  const status = revised(rollout, fitted(next, [...leftOut, ...listed.leftOut], now));
  const events = [...retry.events, ...progress.events, ...decision.events];
  const changes = changeEvents(decision.evaluation, state.conditions, rollout.status);
  const looks = [releases, progress, decision, decision.evaluation].flatMap(({ requeueAt }) => requeueAt);
  const isOurs = !observed.configMapIsForeign && !observed.configMapUnsupported;
  const configMap = isOurs ? releaseConfigMap(rollout) : undefined;
  const policy = observed.writeBackProblem === undefined ? derivedPolicy(observed) : undefined;
  return {
    status,
    commits: decision.commits,
    startsCopy: Boolean(decision.evaluation.copy?.isAwaited && decision.evaluation.copy.begins),
    waitsForBudget: decision.waiting !== undefined,
    endsApply: progress.endsApply,
    ...resyncAfter(looks, observed, status, now),
    events: status === rollout.status ? [] : dated([...events, ...changes], status),
    ...(configMap && { configMap }),
    ...(policy && { derivedPolicy: policy }),
    ...(decision.evaluation.copy?.job && { copyJob: decision.evaluation.copy.job }),
  };
}

/** Neither a label that changes on a Namespace triggers a sync, nor a HealthCheck of another namespace. */
const UNSEEN_LOOK_S = 60;
/** The same while such a HealthCheck decides what happens next. */
const WATCHED_LOOK_S = 10;
const SHORTEST_S = 0.1;

/** Nothing where only a change that triggers a sync can make a difference. */
function resyncAfter(
  looks: readonly EpochMs[],
  { rollout: { metadata, spec }, healthChecks }: Observed,
  { history }: RolloutStatus,
  now: EpochMs,
): Pick<Plan, 'resyncAfterSeconds'> {
  const seconds = looks.map((at) => Math.max(SHORTEST_S, (at - now) / 1000));
  if (spec?.healthCheckSelector?.namespaceSelector) {
    const foreign = healthChecks.filter((check) => check.metadata.namespace !== metadata.namespace);
    const decides = foreign.some(({ status }) => status?.status !== 'Healthy' || isBaking(history?.[0]));
    seconds.push(decides ? WATCHED_LOOK_S : UNSEEN_LOOK_S);
  }
  return seconds.length > 0 ? { resyncAfterSeconds: Math.min(...seconds) } : {};
}
