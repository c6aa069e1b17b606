/**
 * Whether an object has reached what its spec asks for, by the rules and in the words of kstatus
 * (sigs.k8s.io/cli-utils): first what holds for every kind, then the rules of
 * the kind, then its Ready condition.
 */
import type { EpochMs, KubeObject } from '../../api/kubernetes.ts';
import { groupOf } from '../kube/names.ts';
import { crdStatus, pvcStatus, serviceStatus } from './cluster.ts';
import { conditionsOf, numberAt } from './fields.ts';
import { jobStatus, podStatus } from './pods.ts';
import { current, failed, inProgress, type KStatus } from './result.ts';
import { daemonSetStatus, deploymentStatus, replicaSetStatus, statefulSetStatus } from './workloads.ts';

export type { KStatus, KStatusName } from './result.ts';

type Rule = (object: KubeObject<any, any>, now: EpochMs) => KStatus;

const alwaysReady: Rule = () => current('Resource is always ready');

/** Keyed `group/Kind`; the core group has an empty one. */
const RULES: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  ['/ConfigMap', alwaysReady],
  ['/PersistentVolumeClaim', pvcStatus],
  ['/Pod', podStatus],
  ['/Secret', alwaysReady],
  ['/Service', serviceStatus],
  ['apiextensions.k8s.io/CustomResourceDefinition', crdStatus],
  ['apps/DaemonSet', daemonSetStatus],
  ['apps/Deployment', deploymentStatus],
  ['apps/ReplicaSet', replicaSetStatus],
  ['apps/StatefulSet', statefulSetStatus],
  ['batch/CronJob', alwaysReady],
  ['batch/Job', jobStatus],
  ['extensions/DaemonSet', daemonSetStatus],
  ['extensions/Deployment', deploymentStatus],
  ['extensions/ReplicaSet', replicaSetStatus],
  ['policy/PodDisruptionBudget', () => current('AllowedDisruptions has been computed.')],
]);

/** `now` decides only how long a Pod may stay unschedulable. */
export function kstatusOf(object: KubeObject<any, any>, now: EpochMs): KStatus {
  const generic = genericStatus(object);
  if (generic) return generic;
  const rule = RULES.get(`${groupOf(object.apiVersion)}/${object.kind}`);
  return rule ? rule(object, now) : readyStatus(object);
}

function genericStatus(object: KubeObject<any, any>): KStatus | undefined {
  if (object.metadata.deletionTimestamp) return { status: 'Terminating', message: 'Resource scheduled for deletion' };

  const generation = numberAt(object, ['metadata', 'generation']);
  const observed = numberAt(object, ['status', 'observedGeneration']);
  if (generation !== undefined && observed !== undefined && generation !== observed) {
    return inProgress(`${object.kind} generation is ${generation}, but latest observed generation is ${observed}`);
  }
  for (const condition of conditionsOf(object)) {
    if (condition.status !== 'True') continue;
    if (condition.type === 'Reconciling') return inProgress(condition.message);
    if (condition.type === 'Stalled') return failed(condition.message);
  }
  return undefined;
}

function readyStatus(object: KubeObject<any, any>): KStatus {
  for (const { type, status, message } of conditionsOf(object)) {
    if (type !== 'Ready') continue;
    if (status === 'True') return current('Resource is Ready');
    if (status === 'False' || status === 'Unknown') return inProgress(message);
  }
  return current('Resource is current');
}
