/**
 * Rules for the kinds whose health kstatus gets wrong: kstatus doesn't read their status, or reports their failures as
 * progress.
 */
import type { FluxObject } from '../../../api/flux.ts';
import type { AnyObject } from '../../../api/kubernetes.ts';
import {
  conditionsOf,
  current,
  failed,
  fieldAt,
  inProgress,
  numberAt,
  readyOf,
  stringAt,
} from '../../kstatus/fields.ts';
import { type KStatus, kstatusOf } from '../../kstatus/kstatus.ts';
import { parseDuration } from '../../kube/duration.ts';
import { isMap } from '../../kube/json.ts';
import { groupOf } from '../../kube/names.ts';
import { parseTime } from '../../kube/time.ts';
import { isCurrent } from '../../managedField/source.ts';
import { failedAttemptOf, stalledOf } from './fluxAttempts.ts';
import type { HealthContext } from './healthContext.ts';

/** The health of one kind; undefined if kstatus decides. */
type Rule = (object: AnyObject, context: HealthContext) => KStatus | undefined;

/** Rules by `group/Kind`, for all versions. */
const RULES: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  ['helm.toolkit.fluxcd.io/HelmRelease', helmReleaseStatus],
  ['kustomize.toolkit.fluxcd.io/Kustomization', fluxStatus],
  ['gating.toolkit.fluxcd.io/Gate', closedGateStatus],
  ['kuberik.com/RolloutGate', closedGateStatus],
  ['/Pod', podStatus],
  ['apps/StatefulSet', statefulSetStatus],
  ['batch/Job', jobStatus],
  ['tekton.dev/PipelineRun', tektonStatus],
  ['tekton.dev/TaskRun', tektonStatus],
  ['argoproj.io/Workflow', workflowStatus],
  ['flagger.app/Canary', canaryStatus],
  ['argoproj.io/Rollout', argoStatus],
  ['rollouts.kruise.io/Rollout', kruiseStatus],
]);

/** The health of an object that exists, by its own fields. */
export function healthOf(object: AnyObject, context: HealthContext): KStatus {
  if (object.metadata.deletionTimestamp) return kstatusOf(object, context.now);
  const rule = RULES.get(`${groupOf(object.apiVersion)}/${object.kind}`);
  const ruled = rule?.(object, context);
  const health = ruled ?? kstatusOf(object, context.now);
  if (health.status !== 'Current') return health;
  if (isWorkload(object) && hasNoStatus(object)) return inProgress(`${object.kind} has no status yet`);
  const few = tooFewPods(object, ruled !== undefined);
  if (few !== undefined) return inProgress(few);
  const old = ruled ? undefined : readyOfOldGeneration(object);
  return old === undefined ? health : inProgress(`Ready is about generation ${old}, not ${object.metadata.generation}`);
}

/**
 * The generation of the object's Ready condition, if it is not the current one. Many controllers report it only there.
 * A suspended Flux object keeps its old condition, although its controller moves `status.observedGeneration`. Its
 * suspension is one generation: more are a spec that Flux hasn't applied.
 */
function readyOfOldGeneration(object: AnyObject): number | undefined {
  const { generation } = object.metadata;
  const observed = readyOf(object)?.observedGeneration;
  if (generation === undefined || observed === undefined || observed === generation) return undefined;
  const isOnlySuspended = fieldAt(object, ['spec', 'suspend']) === true && observed === generation - 1;
  return isOnlySuspended ? undefined : observed;
}

/** The built-in workloads, without CronJob: its status is empty until its first run. */
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
 * Whether the kind runs Pods, by a template or a number of replicas: until its controller reports, its health is
 * unknown.
 */
function isWorkload(object: AnyObject): boolean {
  if (WORKLOADS.has(`${groupOf(object.apiVersion)}/${object.kind}`)) return true;
  return isMap(fieldAt(object, ['spec', 'template', 'spec'])) || numberAt(object, ['spec', 'replicas']) !== undefined;
}

function hasNoStatus({ status }: AnyObject): boolean {
  return !isMap(status) || Object.keys(status).length === 0;
}

/** Counts of kinds that also count ready Pods: Go leaves out a zero, as of `readyReplicas` if no Pod is ready. */
const OTHER_COUNTS = ['updatedReplicas', 'unavailableReplicas', 'fullyLabeledReplicas'];

/** Fields that let Pods keep the version before. */
const PARTITIONS = [['partition'], ['rollingUpdate', 'partition']];

/**
 * The Pods that a kind with a number of Pods lacks, as text. kstatus counts those of few kinds, and doesn't wait for
 * minReadySeconds of a StatefulSet. Many kinds report one of the two counts (Prometheus: `availableReplicas`), or none:
 * an absent count is zero only next to OTHER_COUNTS, and without a condition Ready.
 * @param isRuled whether a rule of its kind has found that all Pods are updated
 */
function tooFewPods(object: AnyObject, isRuled: boolean): string | undefined {
  const countOf = (field: string) => numberAt(object, ['status', field]);
  const wanted = numberAt(object, ['spec', 'replicas']) ?? countOf('desiredNumberScheduled') ?? 0;
  const ready = countOf('readyReplicas') ?? countOf('numberReady');
  const available = countOf('availableReplicas') ?? countOf('numberAvailable');
  const updated = countOf('updatedReplicas') ?? countOf('updatedNumberScheduled');
  const hasNone = ready === undefined && available === undefined;
  const isZero = hasNone && OTHER_COUNTS.some((field) => countOf(field) !== undefined) && !hasReady(object);
  const partitions = PARTITIONS.map((path) => fieldAt(object, ['spec', 'updateStrategy', ...path]) ?? 0);
  const isPartial = partitions.some((partition) => partition !== 0 && partition !== '0%');
  const counts = [
    ['Ready', isZero ? 0 : ready] as const,
    ['Available', available] as const,
    ['Updated', isRuled || isPartial || hasReady(object) ? undefined : updated] as const,
  ];
  const few = counts.find(([, count]) => count !== undefined && count < wanted);
  return few && `${few[0]}: ${few[1]}/${wanted}`;
}

function hasReady(object: AnyObject): boolean {
  return conditionsOf(object).some(({ type }) => type === 'Ready');
}

/**
 * The status of a Kustomization or HelmRelease whose last attempt has failed. While Flux retries after a failure, it
 * also sets Reconciling, which kstatus would report as progress.
 */
function fluxStatus(object: AnyObject, context: HealthContext): KStatus | undefined {
  const stalled = stalledOf(object);
  const failure = failedAttemptOf(object, context) ?? stalled;
  return failure && failed(`${failure.reason}: ${failure.message}`);
}

/** The status of a HelmRelease: helm-controller also sets Reconciling while it checks a release that is ready. */
function helmReleaseStatus(object: AnyObject, context: HealthContext): KStatus | undefined {
  const { generation } = object.metadata;
  const ready = readyOf(object);
  const isReady =
    ready?.status === 'True' && ready.observedGeneration === generation && isCurrent(object as FluxObject);
  return isReady ? current('Resource is Ready') : fluxStatus(object, context);
}

/** The status of a closed Gate: complete, although kstatus finds it not ready. */
function closedGateStatus(object: AnyObject): KStatus {
  return current(`${object.kind} is there`);
}

/** The status of a Pod: kstatus finds one that has failed current. */
function podStatus(object: AnyObject): KStatus | undefined {
  if (stringAt(object, ['status', 'phase']) !== 'Failed') return undefined;
  return failed(`Pod Failed: ${stringAt(object, ['status', 'reason']) ?? 'a container has ended with an error'}`);
}

/**
 * The status of a StatefulSet. With OnDelete Pods get a version when a user or an operator deletes them, and kstatus
 * reads none of them.
 */
function statefulSetStatus(object: AnyObject, { now }: HealthContext): KStatus {
  const status = kstatusOf(object, now);
  const isOnDelete = stringAt(object, ['spec', 'updateStrategy', 'type']) === 'OnDelete';
  if (status.status !== 'Current' || !isOnDelete) return status;
  const wanted = numberAt(object, ['spec', 'replicas']) ?? 1;
  const ready = numberAt(object, ['status', 'readyReplicas']) ?? 0;
  const updated = numberAt(object, ['status', 'updatedReplicas']) ?? 0;
  if (ready < wanted) return inProgress(`Ready: ${ready}/${wanted}`);
  const detail = `Updated: ${updated}/${wanted}`;
  return updated < wanted ? inProgress(`${detail}, delete the other Pods`) : current(detail);
}

/**
 * The status of a Job, as Flux evaluates it: kstatus finds it current as soon as it runs, and never while it is
 * suspended.
 */
function jobStatus(object: AnyObject, { now }: HealthContext): KStatus {
  if (fieldAt(object, ['spec', 'suspend']) === true) return current('Job is suspended');
  const status = kstatusOf(object, now);
  const hasCompleted = conditionsOf(object).some((c) => c.type === 'Complete' && c.status === 'True');
  return status.status === 'Current' && !hasCompleted ? inProgress(status.message) : status;
}

function withMessage(detail: string, message: string | undefined): string {
  return message ? `${detail}: ${message}` : detail;
}

/** The status of a run of Tekton: kstatus finds it current, since it has no condition Ready. */
function tektonStatus(object: AnyObject): KStatus {
  const succeeded = conditionsOf(object).find(({ type }) => type === 'Succeeded');
  if (!succeeded) return inProgress(`${object.kind} has not started`);
  const detail = withMessage(`${object.kind} ${succeeded.reason}`, succeeded.message);
  if (succeeded.status === 'False') return failed(detail);
  return succeeded.status === 'True' ? current(detail) : inProgress(detail);
}

/** The status of an Argo Workflow, whose conditions don't show whether it has failed. */
function workflowStatus(object: AnyObject): KStatus {
  const phase = stringAt(object, ['status', 'phase']) ?? '';
  const detail = withMessage(`Workflow ${phase || 'without a phase'}`, stringAt(object, ['status', 'message']));
  if (phase === 'Failed' || phase === 'Error') return failed(detail);
  return phase === 'Succeeded' ? current(detail) : inProgress(detail);
}

const CANARY_AT_REST = new Set(['Initialized', 'Succeeded']);
const DEFAULT_ANALYSIS_MS = 60_000;

/**
 * The status of a Flagger Canary. Flagger reads its target once in each interval of the analysis: until then the Canary
 * shows the result of the version before.
 * A Canary that has not changed two intervals later is not affected by the new version.
 */
function canaryStatus(object: AnyObject, { cutoff, now }: HealthContext): KStatus {
  const phase = stringAt(object, ['status', 'phase']) ?? '';
  const moved = parseTime(stringAt(object, ['status', 'lastTransitionTime']));
  if (cutoff !== undefined && (moved === undefined || moved < cutoff)) {
    const interval = parseDuration(
      stringAt(object, ['spec', 'analysis', 'interval']) ?? stringAt(object, ['spec', 'canaryAnalysis', 'interval']),
    );
    if (now < cutoff + 2 * (interval ?? DEFAULT_ANALYSIS_MS)) return inProgress('Flagger has not analyzed it yet');
  }
  const weight = numberAt(object, ['status', 'canaryWeight']) ?? 0;
  const checks = numberAt(object, ['status', 'failedChecks']) ?? 0;
  const detail = `Canary ${phase || 'without a phase'}, weight ${weight} %, ${checks} failed checks`;
  if (phase === 'Failed' && hasPromotedSpec(object))
    return current(`${detail}, and its target has the promoted version`);
  const promoted = conditionsOf(object).find(({ type }) => type === 'Promoted');
  if (phase === 'Failed') return failed(withMessage(detail, promoted?.message));
  return CANARY_AT_REST.has(phase) ? current(detail) : inProgress(detail);
}

/**
 * Whether the target of a Canary is the one that was promoted last, because a rollback has replaced the version that
 * Flagger rejected. Flagger then runs no analysis, and the phase stays Failed.
 */
function hasPromotedSpec(object: AnyObject): boolean {
  const applied = stringAt(object, ['status', 'lastAppliedSpec']);
  return applied !== undefined && applied !== '' && applied === stringAt(object, ['status', 'lastPromotedSpec']);
}

/**
 * The status of an Argo Rollout. `status.observedGeneration` is text. An aborted Rollout runs the version before, and
 * is Degraded.
 */
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
  const text = withMessage(detail, stringAt(object, ['status', 'message']));
  if (phase === 'Degraded' || fieldAt(object, ['status', 'abort']) === true) return failed(text);
  return phase === 'Healthy' ? current(text) : inProgress(text);
}

/**
 * The status of an OpenKruise Rollout. Without a running rollout its phase is Healthy, and `Succeeded` has the last
 * result: False if the workload got its stable version again, which a deployment of that version intends.
 */
function kruiseStatus(object: AnyObject, { wasDeployedBefore }: HealthContext): KStatus {
  const { generation } = object.metadata;
  const observed = numberAt(object, ['status', 'observedGeneration']);
  if (generation !== undefined && observed !== generation) {
    return inProgress(`Rollout generation is ${generation}, but latest observed generation is ${observed ?? 'none'}`);
  }
  const phase = stringAt(object, ['status', 'phase']) ?? '';
  const step = numberAt(object, ['status', 'canaryStatus', 'currentStepIndex']);
  const state = `Rollout ${phase || 'without a phase'}${step === undefined ? '' : `, step ${step}`}`;
  const detail = withMessage(state, stringAt(object, ['status', 'message']));
  const succeeded = conditionsOf(object).find(({ type }) => type === 'Succeeded');
  const isRolledBack = succeeded?.status === 'False' && !wasDeployedBefore;
  if (phase === 'Healthy') return isRolledBack ? failed(detail) : current(detail);
  return phase === 'Disabled' ? current(detail) : inProgress(detail);
}
