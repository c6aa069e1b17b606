/** Objects that a Rollout keeps beside its Flux objects: whether the name is taken, or the installation cannot write them. */
import type { KubeObject } from '../../api/kubernetes.ts';
import type { Rollout } from '../../api/types.ts';

/** `field`: where the spec of the Rollout names it. */
export interface Child {
  kind: string;
  name: string;
  field: string;
  /** Of manifests/components: without it the installation writes none. */
  component: string;
}

/** Whether another object has the wished-for name: it is left as it is. */
export function isForeign({ metadata }: KubeObject, rollout: Rollout): boolean {
  return !metadata.ownerReferences?.some(({ controller, uid }) => controller && uid === rollout.metadata.uid);
}

export function notInstalledMessage({ kind, name, component }: Child): string {
  return `${kind} '${name}' is not written: this installation lacks the component ${component}, see docs/install.md`;
}

export function foreignMessage({ kind, name, field }: Child): string {
  return `${kind} '${name}' was not made for this Rollout and is left as it is: delete it, or give another name in ${field}`;
}
