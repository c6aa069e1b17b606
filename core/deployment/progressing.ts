/** What an unfinished deployment waits for, and since when: nothing waits without saying why. */
import { PROGRESSING } from '../../api/conditions.ts';
import type { FluxBinding, HealthCheck, HistoryEntry, Rollout } from '../../api/types.ts';
import { healthCutoff } from '../health/cutoff.ts';
import type { NewCondition } from '../kube/conditions.ts';
import { formatTime, parseTime } from '../kube/time.ts';
import { type BakeTimes, deployDeadline, isBaking } from './bake.ts';
import { notReady } from './healthChecks.ts';
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
    const until = times.bakeTime === undefined ? '' : ` until ${formatTime(started + times.bakeTime)}`;
    return condition('Baking', `Version ${tag} is baking${until}: a failing HealthCheck ends the bake`);
  }
  const missing = unapplied(head, boundTo(rollout, bindings), rollout);
  if (missing.length > 0) {
    const held = head.waitingSince === undefined ? '' : `. A closed gate has held it since ${head.waitingSince}`;
    const message = `Version ${tag} waits for ${named(missing.map(targetName), 'objects')} to apply it, since ${sinceOf(head)}`;
    return condition('WaitingForApply', `${message}${held}${endOf(head, times)}`);
  }
  const checks = notReady(healthChecks, healthCutoff(head), rollout.metadata.namespace);
  const names = checks.map(({ name, namespace }) => `HealthCheck '${namespace}/${name}'`).sort();
  const since = head.appliedTime ?? sinceOf(head);
  const message = `Version ${tag} waits for ${named(names, 'HealthChecks')} to become Healthy, since ${since}`;
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

function named(names: readonly string[], what: string): string {
  if (names.length > NAMED) return `more than ${NAMED} ${what}`;
  return names.length > 0 ? names.join(', ') : what;
}

function condition(reason: string, message: string): NewCondition {
  return { type: PROGRESSING, status: 'True', reason, message };
}
