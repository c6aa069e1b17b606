/** A plan in the making: the steps of plan.ts write into it, in the order of reference section 2.1. */
import type { Condition, EpochMs } from '../../api/kubernetes.ts';
import type { HistoryEntry, RolloutStatus, VersionInfo } from '../../api/types.ts';
import { type NewCondition, setCondition } from '../kube/conditions.ts';
import { type RolloutConfig, readConfig } from './config.ts';
import type { News, Observed } from './observed.ts';
import { type RequestKey, type Requests, requestsOf } from './requests.ts';

export interface Draft {
  readonly observed: Observed;
  readonly config: RolloutConfig;
  readonly now: EpochMs;
  history: HistoryEntry[];
  available: VersionInfo[];
  /** Releases that were rolled back, and that nobody has deployed since. */
  rolledBack: string[];
  /** Releases that say that they cannot be undone. */
  barriers: string[];
  /** The other fields that change. */
  fields: Partial<RolloutStatus>;
  conditions: Condition[];
  used: Set<RequestKey>;
  news: News[];
  problems: string[];
  wakeAt: EpochMs[];
  commits: boolean;
  startsBake: boolean;
}

/** The CRD's limit for a condition's message. */
const MAX_MESSAGE = 32_768;

export function startDraft(observed: Observed, now: EpochMs): Draft {
  const status = observed.rollout.status ?? {};
  const config = readConfig(observed.rollout, observed.onFailure, observed.problems);
  return {
    observed,
    config,
    now,
    history: [...(status.history ?? [])],
    available: [...(status.availableReleases ?? [])],
    rolledBack: [...(status.rolledBackReleases ?? [])],
    barriers: [...(status.rollbackBarriers ?? [])],
    fields: {},
    conditions: [...(status.conditions ?? [])],
    used: new Set(),
    news: [],
    problems: [...config.problems],
    wakeAt: [],
    commits: false,
    startsBake: false,
  };
}

export function put(draft: Draft, condition: NewCondition): void {
  const message = condition.message.slice(0, MAX_MESSAGE);
  draft.conditions = setCondition(draft.conditions, { ...condition, message }, draft.now);
}

/** A condition that is there only while it says something. */
export function putOrDrop(draft: Draft, type: string, condition: NewCondition | undefined): void {
  if (condition) put(draft, condition);
  else draft.conditions = draft.conditions.filter((each) => each.type !== type);
}

export function setHead(draft: Draft, head: HistoryEntry): void {
  draft.history = [head, ...draft.history.slice(1)];
}

/** Requests that no step has used up. */
export function openRequests({ observed, used }: Draft): Requests {
  return requestsOf(observed.rollout, used);
}
