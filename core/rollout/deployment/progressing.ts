/** What an unfinished deployment waits for, and since when: nothing waits without saying why. */
import { PROGRESSING } from '../../../api/conditions.ts';
import type { EpochMs } from '../../../api/kubernetes.ts';
import type { FluxBinding, HealthCheck, HistoryEntry, Rollout } from '../../../api/types.ts';
import type { NewCondition } from '../../kube/conditions.ts';
import { formatTime, parseTime } from '../../kube/time.ts';
import { type BakeTimes, deployDeadline, isBaking } from './bake.ts';
import { type FailedCheck, notReady } from './healthChecks.ts';
import { boundTo, targetName, unapplied } from './progress.ts';

/** Beyond that the message only says that there are more: each change of it is a write of the status. */
const NAMED = 3;

/** undefined where the newest deployment is over. It names stored times only: the same state gives the same message. */
export function progressing(
  head: HistoryEntry | undefined,
  {
    rollout,
    bindings,
    healthChecks,
  }: { rollout: Rollout; bindings: readonly FluxBinding[]; healthChecks: readonly HealthCheck[] },
  times: BakeTimes,
): NewCondition | undefined {
  if (!head || !isBaking(head)) return undefined;
  const { tag } = head.version;
  const started = parseTime(head.bakeStartTime);
  if (started !== undefined) {
    const waiting = notReady(healthChecks, head, rollout.metadata.namespace);
    const end = times.bakeTime === undefined ? undefined : started + times.bakeTime;
    const until = end === undefined ? '' : ` until ${formatTime(end)}`;
    if (waiting.length === 0)
      return condition('Baking', `Version ${tag} is baking${until}: a failing HealthCheck ends the bake`);
    return condition(
      'WaitingForHealth',
      `Version ${tag} bakes${until}, and after that as long as ${checkNames(waiting)} ${waiting.length === 1 ? 'is' : 'are'} not Healthy${bakeEndOf(end, times)}`,
    );
  }
  const missing = unapplied(head, boundTo(rollout, bindings), rollout);
  if (missing.length > 0) {
    const held = head.waitingSince === undefined ? '' : `. A closed gate has held it since ${head.waitingSince}`;
    const message = `Version ${tag} waits for ${named(missing.map(targetName), 'objects')} to apply it, since ${sinceOf(head)}`;
    return condition('WaitingForApply', `${message}${held}${endOf(head, times)}`);
  }
  const checks = notReady(healthChecks, head, rollout.metadata.namespace);
  const since = head.appliedTime ?? sinceOf(head);
  const message = `Version ${tag} waits for ${checkNames(checks)} to become Healthy, since ${since}`;
  return condition('WaitingForHealth', `${message}${endOf(head, times)}`);
}

function sinceOf(head: HistoryEntry): string {
  return head.lastRetryTimestamp ?? head.timestamp;
}

/** While a closed gate holds it, the deadline moves on with the clock. */
function endOf(head: HistoryEntry, times: BakeTimes): string {
  if (times.deployTimeout === undefined) return '. No spec.deployTimeout is set: nothing else ends this wait';
  if (head.waitingSince !== undefined) return '';
  const deadline = deployDeadline(head, times);
  return deadline === undefined ? '' : `. It fails at ${formatTime(deadline)}`;
}

function bakeEndOf(end: EpochMs | undefined, { deployTimeout }: BakeTimes): string {
  if (deployTimeout === undefined) return '. No spec.deployTimeout is set: nothing else ends this wait';
  return end === undefined ? '' : `. It fails at ${formatTime(end + deployTimeout)}`;
}

function checkNames(checks: readonly FailedCheck[]): string {
  return named(checks.map(({ name, namespace }) => `HealthCheck '${namespace}/${name}'`).sort(), 'HealthChecks');
}

function named(names: readonly string[], what: string): string {
  if (names.length > NAMED) return `more than ${NAMED} ${what}`;
  return names.length > 0 ? names.join(', ') : what;
}

function condition(reason: string, message: string): NewCondition {
  return { type: PROGRESSING, status: 'True', reason, message };
}
