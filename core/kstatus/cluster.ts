/** kstatus of claims, Services and CustomResourceDefinitions. */
import type { KubeObject } from '../../api/kubernetes.ts';
import { conditionsOf, stringAt } from './fields.ts';
import { current, failed, inProgress, type KStatus } from './result.ts';

export function pvcStatus(object: KubeObject<any, any>): KStatus {
  const phase = stringAt(object, ['status', 'phase']) ?? 'unknown';
  return phase === 'Bound' ? current('PVC is Bound') : inProgress(`PVC is not Bound. phase: ${phase}`);
}

export function serviceStatus(object: KubeObject<any, any>): KStatus {
  if (stringAt(object, ['spec', 'type']) === 'LoadBalancer' && !stringAt(object, ['spec', 'clusterIP'])) {
    return inProgress('ClusterIP not set. Service type: LoadBalancer');
  }
  return current('Service is ready');
}

export function crdStatus(object: KubeObject<any, any>): KStatus {
  for (const { type, status, reason, message } of conditionsOf(object)) {
    if (type === 'NamesAccepted' && status === 'False') return failed(message);
    if (type !== 'Established') continue;
    if (status === 'False' && reason !== 'Installing') return failed(message);
    if (status === 'True') return current('CRD is established');
  }
  return inProgress('Install in progress');
}
