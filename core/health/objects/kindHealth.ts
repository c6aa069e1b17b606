/**
 * Health of the kinds that kstatus misjudges: it calls them current without reading their status, or takes their
 * failures for progress.
 */
import type { AnyObject, EpochMs } from '../../../api/kubernetes.ts';
import { conditionsOf, current, failed, fieldAt, inProgress, numberAt, stringAt } from '../../kstatus/fields.ts';
import { type KStatus, kstatusOf } from '../../kstatus/kstatus.ts';
import { parseDuration } from '../../kube/duration.ts';
import { isMap } from '../../kube/json.ts';
import { groupOf } from '../../kube/names.ts';
import { parseTime } from '../../kube/time.ts';

// What a reason of Flux's Ready=False says of the revision that it is about.
// Flux tries all of them again; these have shown that the version does not work, the others (DependencyNotReady,
// ArtifactFailed, PruneFailed and what comes to be) only that it is not applied yet.
// Source: the reasons in the APIs of kustomize-controller (v1) and helm-controller (v2).

/** Reasons of kustomize-controller. HealthCheckFailed is Flux's own verdict, with healthCheckExprs if there are any. */
export const FAILED_KUSTOMIZATION: ReadonlySet<string> = new Set([
  'BuildFailed',
  'ReconciliationFailed',
  'HealthCheckFailed',
]);

/** Reasons of helm-controller. */
const FAILED_HELM_RELEASE: ReadonlySet<string> = new Set([
  'InstallFailed',
  'UpgradeFailed',
  'TestFailed',
  'RollbackFailed',
  'UninstallFailed',
]);

/** `since`: when the deployment that the health is for started, or was applied. undefined: kstatus decides. */
type Rule = (object: AnyObject, since: EpochMs | undefined, now: EpochMs) => KStatus | undefined;

/** By `group/Kind`, in all versions. */
const RULES: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  ['helm.toolkit.fluxcd.io/HelmRelease', helmReleaseStatus],
  ['kustomize.toolkit.fluxcd.io/Kustomization', fluxRule(FAILED_KUSTOMIZATION)],
  ['gating.toolkit.fluxcd.io/Gate', closedIsFine],
  ['kuberik.com/RolloutGate', closedIsFine],
  ['flagger.app/Canary', canaryStatus],
  ['argoproj.io/Rollout', argoStatus],
  ['rollouts.kruise.io/Rollout', kruiseStatus],
]);

export function healthOf(object: AnyObject, since: EpochMs | undefined, now: EpochMs): KStatus {
  if (object.metadata.deletionTimestamp) return kstatusOf(object, now);
  const rule = RULES.get(`${groupOf(object.apiVersion)}/${object.kind}`);
  const health = rule?.(object, since, now) ?? kstatusOf(object, now);
  const isAssumed = health.status === 'Current' && isWorkload(object) && hasNoStatus(object);
  return isAssumed ? inProgress(`${object.kind} has no status yet`) : health;
}

/** Not CronJob: its status is empty until its first time comes. */
const WORKLOADS = new Set([
  'apps/Deployment',
  'apps/StatefulSet',
  'apps/DaemonSet',
  'apps/ReplicaSet',
  'batch/Job',
  'flagger.app/Canary',
  'argoproj.io/Rollout',
  'rollouts.kruise.io/Rollout',
]);

/**
 * Any kind that runs Pods by a template, or as many as it asks for: until its controller reports, nothing is known of
 * it.
 */
function isWorkload(object: AnyObject): boolean {
  if (WORKLOADS.has(`${groupOf(object.apiVersion)}/${object.kind}`)) return true;
  return isMap(fieldAt(object, ['spec', 'template', 'spec'])) || numberAt(object, ['spec', 'replicas']) !== undefined;
}

function hasNoStatus({ status }: AnyObject): boolean {
  return !isMap(status) || Object.keys(status).length === 0;
}

/** While Flux tries again it says Reconciling too, by which kstatus would take a failure for progress. */
function fluxRule(reasons: ReadonlySet<string>): Rule {
  return (object) => {
    const ready = conditionsOf(object).find(({ type }) => type === 'Ready');
    if (ready?.status !== 'False' || !reasons.has(ready.reason)) return undefined;
    const { generation } = object.metadata;
    if (generation !== undefined && (ready.observedGeneration ?? generation) !== generation) return undefined;
    return failed(`${ready.reason}: ${ready.message}`);
  };
}

const helmReleaseFailed = fluxRule(FAILED_HELM_RELEASE);
/** Where a failure stays visible after its remediation, which then is the reason of Ready. */
const HELM_FAILURES = ['Released', 'TestSuccess'];

/**
 * Remediated stays True while Helm tries the next version, with Ready Unknown: only Ready says whether it is the newest
 * that was taken back. `UninstallSucceeded` without a remediation is of a release that moves.
 */
function helmReleaseStatus(object: AnyObject, ...rest: [EpochMs | undefined, EpochMs]): KStatus | undefined {
  const conditions = conditionsOf(object);
  const remediated = conditions.find(({ type, status }) => type === 'Remediated' && status === 'True');
  const takenBack = remediated && fluxRule(new Set([remediated.reason]))(object, ...rest);
  if (!takenBack) return helmReleaseFailed(object, ...rest);
  const cause = conditions.find(({ type, status }) => HELM_FAILURES.includes(type) && status === 'False');
  return cause ? failed(`${cause.reason}: ${cause.message} (${takenBack.message})`) : takenBack;
}

/** A closed Gate is as it should be; for kstatus it is not ready. */
function closedIsFine(object: AnyObject): KStatus {
  return current(`${object.kind} is there`);
}

const CANARY_AT_REST = new Set(['Initialized', 'Succeeded']);
const DEFAULT_ANALYSIS_MS = 60_000;

/**
 * Flagger looks at its target once in each interval of the analysis: until then the Canary of a version that was just
 * applied says what became of the version before.
 * One that has not moved two intervals later has nothing to do with this one.
 */
function canaryStatus(object: AnyObject, since: EpochMs | undefined, now: EpochMs): KStatus {
  const phase = stringAt(object, ['status', 'phase']) ?? '';
  const moved = parseTime(stringAt(object, ['status', 'lastTransitionTime']));
  if (since !== undefined && (moved === undefined || moved < since)) {
    const interval = parseDuration(
      stringAt(object, ['spec', 'analysis', 'interval']) ?? stringAt(object, ['spec', 'canaryAnalysis', 'interval']),
    );
    if (now < since + 2 * (interval ?? DEFAULT_ANALYSIS_MS)) return inProgress('Flagger has not looked at it yet');
  }
  const weight = numberAt(object, ['status', 'canaryWeight']) ?? 0;
  const checks = numberAt(object, ['status', 'failedChecks']) ?? 0;
  const detail = `Canary ${phase || 'without a phase'}, weight ${weight} %, ${checks} failed checks`;
  if (phase === 'Failed') return failed(`${detail}${promotedMessage(object)}`);
  return CANARY_AT_REST.has(phase) ? current(detail) : inProgress(detail);
}

function promotedMessage(object: AnyObject): string {
  const promoted = conditionsOf(object).find(({ type }) => type === 'Promoted');
  return promoted?.message ? `: ${promoted.message}` : '';
}

/** `status.observedGeneration` is text. A Rollout that was aborted runs the version before, and says Degraded. */
function argoStatus(object: AnyObject): KStatus {
  const { generation } = object.metadata;
  const observed = fieldAt(object, ['status', 'observedGeneration']);
  if (generation !== undefined && String(observed ?? '') !== String(generation)) {
    return inProgress(`Rollout generation is ${generation}, but latest observed generation is ${observed ?? 'none'}`);
  }
  const phase = stringAt(object, ['status', 'phase']) ?? '';
  const weight = numberAt(object, ['status', 'canary', 'weights', 'canary', 'weight']);
  const step = numberAt(object, ['status', 'currentStepIndex']);
  const steps = fieldAt(object, ['spec', 'strategy', 'canary', 'steps']);
  const detail = [
    `Rollout ${phase || 'without a phase'}`,
    ...(weight === undefined ? [] : [`weight ${weight} %`]),
    ...(step === undefined || !Array.isArray(steps) ? [] : [`step ${step} of ${steps.length}`]),
  ].join(', ');
  const message = stringAt(object, ['status', 'message']);
  const text = message ? `${detail}: ${message}` : detail;
  if (phase === 'Degraded' || fieldAt(object, ['status', 'abort']) === true) return failed(text);
  return phase === 'Healthy' ? current(text) : inProgress(text);
}

/** The status of an OpenKruise Rollout: at rest it is Healthy, and `Succeeded` says how the last one ended. */
function kruiseStatus(object: AnyObject): KStatus {
  const { generation } = object.metadata;
  const observed = numberAt(object, ['status', 'observedGeneration']);
  if (generation !== undefined && observed !== generation) {
    return inProgress(`Rollout generation is ${generation}, but latest observed generation is ${observed ?? 'none'}`);
  }
  const phase = stringAt(object, ['status', 'phase']) ?? '';
  const step = numberAt(object, ['status', 'canaryStatus', 'currentStepIndex']);
  const message = stringAt(object, ['status', 'message']);
  const detail = `Rollout ${phase || 'without a phase'}${step === undefined ? '' : `, step ${step}`}${message ? `: ${message}` : ''}`;
  const succeeded = conditionsOf(object).find(({ type }) => type === 'Succeeded');
  if (phase === 'Healthy') return succeeded?.status === 'False' ? failed(detail) : current(detail);
  return phase === 'Disabled' ? current(detail) : inProgress(detail);
}
