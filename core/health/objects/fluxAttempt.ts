/**
 * Flux's attempts at a Kustomization from before a deployment. Flux ends an attempt whatever is deployed
 * meanwhile, and its conditions get the stored generation (docs/facts.md, F13). With `wait: true` that takes minutes.
 */
import type { AnyObject, EpochMs } from '../../../api/kubernetes.ts';
import { conditionsOf, fieldAt, type LooseCondition, stringAt } from '../../kstatus/fields.ts';
import { parseDuration } from '../../kube/duration.ts';
import { parseTime } from '../../kube/time.ts';
import type { HealthContext } from './healthContext.ts';

/** Why the attempt, under way or failed, is one from before the deployment; undefined if nothing shows that. */
export function whyOldAttempt(kustomization: AnyObject, { cutoff, now }: HealthContext): string | undefined {
  const ready = conditionsOf(kustomization).find(({ type }) => type === 'Ready');
  const isUnderWay = ready?.status === 'Unknown';
  const began = isUnderWay ? parseTime(ready.lastTransitionTime) : failedAttemptBegan(kustomization, ready, now);
  // Stored times have whole seconds.
  if (cutoff === undefined || began === undefined || began + 1000 > cutoff) return undefined;
  return isUnderWay
    ? 'Flux is still trying what it had before the deployment'
    : 'the failure is of an attempt from before the deployment';
}

/** How much later than the Ready condition kustomize-controller writes its history. */
const HISTORY_DELAY_MS = 10_000;
/** Failures that kustomize-controller has in its history. */
const IN_HISTORY: readonly string[] = ['ReconciliationFailed', 'HealthCheckFailed'];

/** When the failed attempt began, from `status.history` of Flux 2.7; -Infinity until the history has it. */
function failedAttemptBegan(
  kustomization: AnyObject,
  ready: LooseCondition | undefined,
  now: EpochMs,
): EpochMs | undefined {
  const failed = parseTime(ready?.lastTransitionTime);
  if (ready?.status !== 'False' || failed === undefined || !IN_HISTORY.includes(ready.reason)) return undefined;
  const entry = fieldAt(kustomization, ['status', 'history', 0]);
  if (entry === undefined) return undefined;
  const ended = parseTime(stringAt(entry, ['lastReconciled']));
  const took = parseDuration(stringAt(entry, ['lastReconciledDuration']));
  const isOfThis = stringAt(entry, ['lastReconciledStatus']) === ready.reason;
  if (!isOfThis || ended === undefined || ended + 1000 < failed)
    return now - failed < HISTORY_DELAY_MS ? Number.NEGATIVE_INFINITY : undefined;
  return took === undefined ? undefined : ended - took;
}
