/**
 * Checks outcomes of deployments, when `bakeStatus` becomes Succeeded or Failed, against what was stored before: an
 * independent, minimal version of docs/rollouts.md "Bake".
 *
 * Hooks read HealthChecks as they decide: one counts as Healthy if any version that was current at `bakeEndTime` or
 * later was Healthy. Bound objects are from a cache: hooks may not have seen one that was bound after `freshSince`.
 */
import type { AnyObject } from '../client/send.ts';
import { durationMs } from '../reference/values.ts';
import { AppliedDeployments } from './appliedDeployments.ts';

const HEALTH_PREFIX = '/registry/kuberik.com/healthchecks/';
const SECOND_MS = 1000;

type Entry = AnyObject & { id: number; bakeStatus?: string };
type Report = { status?: string; lastChangeTime?: string; lastErrorTime?: string };

interface HealthVersion {
  /** The time at which the recorder saw the version. It was stored then or earlier. */
  seenMs: number;
  /** undefined while no HealthCheck has this name. */
  check: AnyObject | undefined;
}

const ABSENT: HealthVersion = { seenMs: Number.NEGATIVE_INFINITY, check: undefined };

/** The versions of HealthChecks in the order in which etcd stored them. */
class HealthHistory {
  /** By the HealthCheck's `namespace/name`. */
  private readonly versions = new Map<string, HealthVersion[]>();

  take(name: string, check: AnyObject | undefined, seenMs: number): void {
    const versions = this.versions.get(name) ?? [ABSENT];
    versions.push({ check, seenMs });
    this.versions.set(name, versions);
  }

  namesIn(namespace: string): string[] {
    return [...this.versions.keys()].filter((name) => name.startsWith(`${namespace}/`));
  }

  /** The version that was current at `ms`, and every later one. */
  since(name: string, ms: number): HealthVersion[] {
    const versions = this.versions.get(name) ?? [ABSENT];
    return versions.slice(versions.findLastIndex(({ seenMs }) => seenMs <= ms));
  }
}

export class BakeChecker {
  /** Numbers of outcomes of deployments whose Rollout selects HealthChecks. */
  readonly outcomes = { Succeeded: 0, Failed: 0 };
  private readonly health = new HealthHistory();
  private readonly applied = new AppliedDeployments();
  private readonly freshSince: (ms: number) => number;

  /** @param freshSince for the time of a decision, the time before which everything stored was in the caches */
  constructor(freshSince: (ms: number) => number) {
    this.freshSince = freshSince;
  }

  isHealthCheck(key: string): boolean {
    return key.startsWith(HEALTH_PREFIX);
  }

  takeHealth(key: string, check: AnyObject | undefined, seenMs: number): void {
    this.health.take(key.slice(HEALTH_PREFIX.length), check, seenMs);
  }

  takeFlux(key: string, object: AnyObject | undefined, seenMs: number): void {
    this.applied.take(key, object, seenMs);
  }

  /** Violations in a Rollout's next stored version, which replaces `before`. */
  takeRollout(before: AnyObject | undefined, rollout: AnyObject): string[] {
    // One write may end a deployment and begin the next.
    return historyOf(rollout)
      .slice(0, 2)
      .flatMap((entry) => {
        const old = historyOf(before).find(({ id }) => id === entry.id);
        const what = `deployment ${entry.id} (${entry.version?.tag}) `;
        return this.checkEntry(rollout, entry, old, isInRecovery(before)).map((problem) => what + problem);
      });
  }

  private checkEntry(rollout: AnyObject, entry: Entry, old: Entry | undefined, recovers: boolean): string[] {
    const problems: string[] = [];
    const hasEnded = entry.bakeStatus !== old?.bakeStatus || entry.lastRetryTimestamp !== old?.lastRetryTimestamp;
    const succeeds = hasEnded && entry.bakeStatus === 'Succeeded';
    const fails = hasEnded && entry.bakeStatus === 'Failed';
    const newlyApplied = old?.appliedTime === undefined ? entry.appliedTime : undefined;
    const appliedTime = newlyApplied ?? (succeeds && entry.appliedTime === undefined ? entry.bakeEndTime : undefined);
    if (appliedTime !== undefined) problems.push(...this.notApplied(rollout, entry, Date.parse(appliedTime)));
    if (succeeds) problems.push(...tooEarly(rollout, entry));
    if (!selectorOf(rollout) || !(succeeds || fails)) return problems;
    this.outcomes[succeeds ? 'Succeeded' : 'Failed']++;
    // The next deployment removes knownHealth from the entry.
    const known: AnyObject[] = entry.knownHealth ?? old?.knownHealth ?? [];
    if (succeeds) return [...problems, ...this.unhealthy(rollout, entry, known)];
    if (recovers) problems.push('failed in recovery mode');
    const hasCause = isOverdue(rollout, entry) || this.reportsError(rollout, entry, known);
    return hasCause ? problems : [...problems, 'failed before its deployTimeout, and no HealthCheck reported an error'];
  }

  private notApplied(rollout: AnyObject, { id }: Entry, at: number): string[] {
    const missing = this.applied.objectsWithout(rollout, id, this.freshSince(at));
    return missing.map((object) => `counts as applied, but ${object} never applied it`);
  }

  /** Why the HealthChecks don't justify a success. */
  private unhealthy(rollout: AnyObject, entry: Entry, known: readonly AnyObject[]): string[] {
    const ended = Date.parse(entry.bakeEndTime);
    const since = Math.max(begunAt(entry), timeOf(entry.appliedTime));
    const reports = new Map(known.map((each) => [`${each.namespace}/${each.name}`, each as Report]));
    const problems: string[] = [];
    for (const name of this.selected(rollout)) {
      const isThroughout = (ms: number) => this.health.since(name, ms).every(({ check }) => isSelected(rollout, check));
      if (isThroughout(begunAt(entry)) && !reports.has(name)) {
        problems.push(`succeeded without HealthCheck ${name}, which is older than the deployment`);
      }
      if (!reports.has(name) && !isThroughout(ended)) continue;
      const proves = ({ check, seenMs }: HealthVersion) =>
        isSelected(rollout, check) &&
        check?.status?.status === 'Healthy' &&
        seenMs >= since &&
        !isSameReport(reports.get(name), check.status);
      if (!this.health.since(name, ended).some(proves)) {
        const when = new Date(ended).toISOString();
        problems.push(`succeeded, but HealthCheck ${name} reported no new health that was current after ${when}`);
      }
    }
    return problems;
  }

  /** Whether a HealthCheck reported a cause for a failure: a new error, or Unhealthy during the bake. */
  private reportsError(rollout: AnyObject, entry: Entry, known: readonly AnyObject[]): boolean {
    return this.selected(rollout).some((name) => {
      const report = known.find((each) => `${each.namespace}/${each.name}` === name);
      return this.health.since(name, Date.parse(entry.bakeEndTime)).some(({ check }) => {
        if (!isSelected(rollout, check)) return false;
        const { status, lastErrorTime } = (check?.status ?? {}) as Report;
        const isNew = lastErrorTime !== undefined && !isSameTime(lastErrorTime, report?.lastErrorTime);
        return isNew || (entry.bakeStartTime !== undefined && status === 'Unhealthy');
      });
    });
  }

  /** Names of the HealthChecks in the Rollout's namespace that it has ever selected. */
  private selected(rollout: AnyObject): string[] {
    const names = this.health.namesIn(rollout.metadata.namespace ?? '');
    const all = (name: string) => this.health.since(name, Number.NEGATIVE_INFINITY);
    return names.filter((name) => all(name).some(({ check }) => isSelected(rollout, check)));
  }
}

const historyOf = (rollout: AnyObject | undefined): Entry[] => rollout?.status?.history ?? [];
const timeOf = (text: string | undefined) => (text === undefined ? Number.NEGATIVE_INFINITY : Date.parse(text));
const begunAt = ({ timestamp, lastRetryTimestamp }: Entry) => Math.max(timeOf(timestamp), timeOf(lastRetryTimestamp));

function selectorOf({ spec }: AnyObject): Record<string, string> | undefined {
  const { selector, matchLabels } = spec?.healthCheckSelector ?? {};
  return selector?.matchLabels ?? matchLabels;
}

function isSelected(rollout: AnyObject, check: AnyObject | undefined): boolean {
  const labels = Object.entries(selectorOf(rollout) ?? {});
  return check !== undefined && labels.every(([label, value]) => check.metadata.labels?.[label] === value);
}

function isInRecovery(rollout: AnyObject | undefined): boolean {
  const conditions: AnyObject[] = rollout?.status?.conditions ?? [];
  return conditions.some(({ type, status }) => type === 'BakeFailureDisabled' && String(status) === 'True');
}

function tooEarly({ spec }: AnyObject, { bakeStartTime, bakeEndTime }: Entry): string[] {
  const bakeTime = durationMs(spec?.bakeTime ?? '');
  if (bakeTime === undefined) return [];
  if (bakeStartTime === undefined) return ['succeeded without a bake'];
  const took = Date.parse(bakeEndTime) - Date.parse(bakeStartTime);
  return took < bakeTime ? [`succeeded ${took / SECOND_MS} s after the start of its bake of ${spec.bakeTime}`] : [];
}

/** Whether the deployTimeout had passed, before the bake or after it. Stored times have whole seconds. */
function isOverdue({ spec }: AnyObject, entry: Entry): boolean {
  const timeout = durationMs(spec?.deployTimeout ?? '');
  if (timeout === undefined) return false;
  const began =
    entry.bakeStartTime === undefined
      ? begunAt(entry)
      : Date.parse(entry.bakeStartTime) + (durationMs(spec.bakeTime ?? '') ?? 0);
  const longer = ((entry.waitedSeconds ?? 0) + (entry.graceSeconds ?? 0)) * SECOND_MS;
  return Date.parse(entry.bakeEndTime) + SECOND_MS > began + timeout + longer;
}

/** Whether a status is the known report. A reset removes `lastErrorTime`: a status without one is no new report. */
function isSameReport(known: Report | undefined, { status, lastChangeTime, lastErrorTime }: Report): boolean {
  return (
    known !== undefined &&
    known.status === status &&
    isSameTime(known.lastChangeTime, lastChangeTime) &&
    (lastErrorTime === undefined || isSameTime(known.lastErrorTime, lastErrorTime))
  );
}

const isSameTime = (a: string | undefined, b: string | undefined) => a === b || timeOf(a) === timeOf(b);
