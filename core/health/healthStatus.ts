/** The status of a HealthCheck after a verdict. */
import type { EpochMs } from '../../api/kubernetes.ts';
import type { HealthCheck } from '../../api/types.ts';
import { formatTime, parseTime, wholeSeconds } from '../kube/time.ts';
import { boundedText, type CommandLine } from '../text/commands.ts';
import type { FirstFailures } from './objects/healthContext.ts';

export type HealthStatus = NonNullable<HealthCheck['status']>;

/** What a Pending check waits for. */
export type Awaited =
  /** A change of the Kustomization or of a Rollout. It triggers a sync, and the check may rest until then. */
  | 'event'
  /** A further attempt of Flux, or another measurement. */
  | 'attempt'
  /** The end of a reconciliation of what Flux has applied already. */
  | 'repeat';

/**
 * The stored health that stays meanwhile: a further attempt doesn't refute an earlier failure, and with a change and
 * its reversal each reconciliation would be two writes.
 */
const STAYS: Record<Awaited, readonly string[]> = {
  event: [],
  attempt: ['Unhealthy'],
  repeat: ['Healthy', 'Unhealthy'],
};

/** `isSteady`: all objects that are read are healthy, and only Flux's work is awaited. */
export type PendingVerdict = { health: 'Pending'; message: string; awaits?: Awaited; isSteady?: boolean };

/** The health that an evaluation found, before the rules of the stored status apply. */
export type Verdict = {
  /** Commands below the message, each on a line of its own. */
  commands?: readonly CommandLine[];
  /** The first failed attempt at each object since Flux last applied it; undefined if that isn't known now. */
  firstFailures?: FirstFailures;
} & (
  | { health: 'Healthy'; message: string }
  | PendingVerdict
  /**
   * `failedAt`: when the check failed, if the failed objects have times.
   * `absent`: the Kustomization of the check does not exist. Counts as a failure only if it has existed since
   * the deployment: a Git sync may create a HealthCheck before its Kustomization.
   */
  | { health: 'Unhealthy'; message: string; failedAt?: EpochMs; absent?: true }
  /**
   * An input couldn't be read. That is no failure: the health stays as it was.
   * `mayBeAbsent`: not even the Kustomization of the check was read.
   */
  | { health: 'Unknown'; message: string; mayBeAbsent?: true }
);

/** The CRD's limit. Messages of other objects may have any length, and this one is copied into Rollouts. */
const MAX_MESSAGE_CHARACTERS = 16_384;

/**
 * The status after a verdict. `lastChangeTime` changes only with `status`. `lastErrorTime` is the latch that a bake
 * reads: it stays through a recovery, never moves back and is never in the future; only a reset clears it.
 * A failure without a time of its own began when it was first seen. With a new time in each evaluation it would fail
 * every later deployment, and the hook would trigger itself forever.
 */
export function statusAfter(before: HealthStatus | undefined, verdict: Verdict, now: EpochMs): HealthStatus {
  if (before && isNoNews(before, verdict, now)) return before;
  const status = healthAfter(before?.status, verdict);
  const { lastErrorTime, lastChangeTime } = before ?? {};
  const failed = verdict.health === 'Unhealthy' && !(verdict.absent && wasAlwaysAbsent(before));
  const steadySince = steadySinceAfter(before, verdict, now);
  const failedAttempts = storedFailures(verdict.firstFailures ?? firstFailuresOf(before));
  return {
    status,
    message: messageOf(before, verdict, status),
    lastErrorTime: failed ? errorTimeAfter(before, verdict.failedAt, now) : lastErrorTime,
    ...(status !== 'Healthy' && lastHealth(before, steadySince !== undefined, now)),
    ...(failedAttempts.length > 0 && { failedAttempts }),
    lastChangeTime: status === before?.status ? lastChangeTime : changedAfter(lastChangeTime, now, 0),
    ...(steadySince !== undefined && { steadySince }),
  };
}

/** Whether the verdict doesn't even change the message. */
function isNoNews(before: HealthStatus, verdict: Verdict, now: EpochMs): boolean {
  if (verdict.health !== 'Pending') return false;
  if (verdict.awaits === 'repeat') return before.status === 'Healthy';
  return verdict.awaits === 'event' && explainsAt(before, now) !== undefined;
}

// The first failed attempts in the status.

function storedFailures(failures: FirstFailures): NonNullable<HealthStatus['failedAttempts']> {
  return [...failures].map(([object, first]) => ({ object, first: formatTime(first) }));
}

export function firstFailuresOf(status: HealthStatus | undefined): FirstFailures {
  const stored = status?.failedAttempts ?? [];
  return new Map(
    stored.flatMap(({ object, first }) => {
      const at = parseTime(first);
      // Older servers called the object otherwise, and the CRD rejects an entry without it.
      return at === undefined || !object ? [] : [[object, at] as const];
    }),
  );
}

// The times of health in the status. The objects were last healthy from `healthySince` to `lastHealthyTime`. While
// `steadySince` is set they still are, and the check is Pending only because Flux works, or became Healthy after that.

/** `steadySince` after a verdict: the start of the health that only Flux's work has interrupted; undefined if none. */
function steadySinceAfter(before: HealthStatus | undefined, verdict: Verdict, now: EpochMs): string | undefined {
  if (verdict.health === 'Unhealthy' || (verdict.health === 'Pending' && !verdict.isSteady)) return undefined;
  if (before?.steadySince !== undefined || verdict.health !== 'Pending') return before?.steadySince;
  if (before?.status === 'Healthy') return before.lastChangeTime;
  const isHealthyAgain = before?.status === 'Pending' && before.lastHealthyTime !== undefined;
  return isHealthyAgain ? formatTime(now) : undefined;
}

/** The last health, for a status that isn't Healthy. While the objects stay healthy its end isn't written again. */
function lastHealth(
  before: HealthStatus | undefined,
  isSteady: boolean,
  now: EpochMs,
): Pick<HealthStatus, 'lastHealthyTime' | 'healthySince'> {
  const ended = before?.status === 'Healthy' || (wereHealthy(before) && !isSteady);
  const lastHealthyTime = ended ? formatTime(now) : before?.lastHealthyTime;
  const healthySince = before?.status === 'Healthy' ? before.lastChangeTime : before?.healthySince;
  return { ...(lastHealthyTime && { lastHealthyTime }), ...(healthySince && { healthySince }) };
}

/** Whether the last evaluation found all objects healthy, also if it was Pending because Flux worked. */
function wereHealthy(before: HealthStatus | undefined): boolean {
  return before?.status === 'Healthy' || (before?.status === 'Pending' && before.steadySince !== undefined);
}

/** The time until which all objects were healthy since the last reset of the check; undefined if they never were. */
export function healthyUntil(before: HealthStatus | undefined, now: EpochMs): EpochMs | undefined {
  return wereHealthy(before) ? now : parseTime(before?.lastHealthyTime);
}

/**
 * The last time at which the check certainly was Healthy since its last reset; undefined if it was not.
 * @param unseen the most milliseconds between two evaluations
 */
export function seenHealthy(before: HealthStatus | undefined, unseen: number, now: EpochMs): EpochMs | undefined {
  const until = healthyUntil(before, now);
  if (until === undefined) return undefined;
  const since = parseTime(before?.status === 'Healthy' ? before.lastChangeTime : before?.healthySince);
  // If the clock was set back meanwhile, the times can't be compared.
  if (since === undefined || since > until) return until - unseen;
  // Stored times have whole seconds: a change in the same second may be later.
  return Math.max(until - unseen, since - 1000);
}

/** Whether no report since the last reset shows that the Kustomization existed. */
function wasAlwaysAbsent(before: HealthStatus | undefined): boolean {
  if (before?.status === undefined || wasNotReadSinceReset(before)) return true;
  return before.status === 'Unhealthy' && before.lastErrorTime === undefined;
}

function healthAfter(before: string | undefined, verdict: Verdict): string {
  if (verdict.health === 'Unknown') return before === 'Healthy' || before === 'Unhealthy' ? before : 'Pending';
  const stays = verdict.health === 'Pending' && verdict.awaits ? STAYS[verdict.awaits] : [];
  return before !== undefined && stays.includes(before) ? before : verdict.health;
}

function messageOf(before: HealthStatus | undefined, verdict: Verdict, status: string): string {
  const text = `${whyUnchanged(before, verdict, status)}${verdict.message}`;
  return boundedText({ text, commands: verdict.commands }, MAX_MESSAGE_CHARACTERS).toWellFormed();
}

/** The beginning of the message if the check could not be read, and therefore stays as it was. */
function whyUnchanged(before: HealthStatus | undefined, verdict: Verdict, status: string): string {
  if (verdict.health !== 'Unknown') return '';
  if (status !== 'Pending') return `Still ${status}: not everything could be read. `;
  return verdict.mayBeAbsent && before && wasNotReadSinceReset(before) ? `${RESET_MESSAGE}. ` : '';
}

function errorTimeAfter(before: HealthStatus | undefined, failedAt: EpochMs | undefined, now: EpochMs): string {
  const known = parseTime(before?.lastErrorTime);
  if (failedAt === undefined || failedAt > now) {
    return before?.status === 'Unhealthy' && known !== undefined ? before.lastErrorTime! : formatTime(now);
  }
  return known !== undefined && known >= wholeSeconds(failedAt) ? before!.lastErrorTime! : formatTime(failedAt);
}

/**
 * The verdict for a bake that begins or succeeds. Inputs that can't be read prove nothing, even if the check was
 * Healthy before. Only the own hook of a check of another namespace can tell whether it has failed, or waits for a
 * deployment there.
 */
export function provenVerdict(verdict: Verdict, isOwn: boolean): Verdict {
  const proves = verdict.health === 'Unhealthy' ? isOwn : verdict.health !== 'Unknown';
  return proves ? verdict : { health: 'Pending', message: verdict.message };
}

/** The largest difference between the clocks of two servers; a time further ahead comes from a reporter. */
export const CLOCK_DIFFERENCE_MS = 60_000;

const RESET_MESSAGE = 'Health check reset due to new deployment';

/**
 * The status after a reset. Its time differs from that of the status before, so that a later report differs from both.
 * @param before the status to reset
 */
export function resetStatus(before: HealthStatus | undefined, now: EpochMs): HealthStatus {
  return { status: 'Pending', message: RESET_MESSAGE, lastChangeTime: changedAfter(before?.lastChangeTime, now, 1000) };
}

/**
 * The time of a change: now, but at least `leastMs` after the previous change, if that was in this second or if another
 * server's clock was ahead then.
 */
function changedAfter(before: string | undefined, now: EpochMs, leastMs: number): string {
  const known = parseTime(before);
  const isNear = known !== undefined && known > now - leastMs - 1000 && known < now + CLOCK_DIFFERENCE_MS;
  return formatTime(isNear ? Math.max(now, known + leastMs) : now);
}

const EXPLAINED_AFTER_MS = 600_000;

/**
 * The time from which the message of a reset check names what the check waits for; undefined means now. It is delayed,
 * because each write of a HealthCheck triggers a sync of its Rollouts, and Flux applies most deployments sooner.
 */
export function explainsAt(before: HealthStatus, now: EpochMs): EpochMs | undefined {
  if (!wasNotReadSinceReset(before) || before.message !== RESET_MESSAGE) return undefined;
  const at = (parseTime(before.lastChangeTime) ?? Number.NEGATIVE_INFINITY) + EXPLAINED_AFTER_MS;
  return at > now && at < now + EXPLAINED_AFTER_MS + CLOCK_DIFFERENCE_MS ? at : undefined;
}

/** Whether no evaluation since the reset has read the Kustomization: that status has no other sign than its message. */
function wasNotReadSinceReset({ status, message }: HealthStatus): boolean {
  return status === 'Pending' && message?.startsWith(RESET_MESSAGE) === true;
}
