/** Users' requests to Gates, and the state of the objects that require them, written and read as with kubectl. */

import type { AnyObject } from '../../../dev/client/send.ts';
import { waitFor } from '../../../dev/local/process/waitFor.ts';
import type { ClusterView } from './cluster.ts';
import { conditionOf } from './versions.ts';

export { requestGate } from '../../../dev/actors/requestGate.ts';
export { timestamp } from '../../../dev/actors/timestamp.ts';

type User = ClusterView['admin'];

export const GATES = 'gate.fluxcd.io/gates';
export const SUSPENDED = 'gate.fluxcd.io/suspended';
export const STATE = 'gate.fluxcd.io/state';
export const SELECTED_BY = 'gate.fluxcd.io/selected-by';
export const BYPASS_REASON = 'gate.fluxcd.io/bypass-reason';
export const BYPASSED_BY = 'gate.fluxcd.io/bypassed-by';

/** The gated kinds, each with a valid spec. */
export const GOVERNED = [
  {
    kind: 'Kustomization',
    apiVersion: 'kustomize.toolkit.fluxcd.io/v1',
    spec: { interval: '10m', prune: true, path: './', sourceRef: { kind: 'GitRepository', name: 'app' } },
  },
  {
    kind: 'HelmRelease',
    apiVersion: 'helm.toolkit.fluxcd.io/v2',
    spec: { interval: '10m', chartRef: { kind: 'OCIRepository', name: 'app' } },
  },
  { kind: 'ImageUpdateAutomation', apiVersion: 'image.toolkit.fluxcd.io/v1', spec: { interval: '10m' } },
  {
    kind: 'GitRepository',
    apiVersion: 'source.toolkit.fluxcd.io/v1',
    spec: { interval: '10m', url: 'https://git.example.com/app' },
  },
  {
    kind: 'OCIRepository',
    apiVersion: 'source.toolkit.fluxcd.io/v1',
    spec: { interval: '10m', url: 'oci://registry.example.com/app' },
  },
  {
    kind: 'HelmRepository',
    apiVersion: 'source.toolkit.fluxcd.io/v1',
    spec: { interval: '10m', url: 'https://charts.example.com' },
  },
  {
    kind: 'Bucket',
    apiVersion: 'source.toolkit.fluxcd.io/v1',
    spec: { interval: '10m', bucketName: 'app', endpoint: 'minio.example.com' },
  },
] as const;

export type Governed = (typeof GOVERNED)[number]['kind'];

/** An object that requires `gates` (the annotation's value). */
export function gated(
  kind: Governed,
  namespace: string,
  name: string,
  gates?: string,
  spec: Record<string, unknown> = {},
  labels?: Record<string, string>,
): AnyObject {
  const { apiVersion, spec: defaults } = GOVERNED.find((known) => known.kind === kind)!;
  const annotations = gates === undefined ? undefined : { [GATES]: gates };
  return {
    apiVersion,
    kind,
    metadata: { namespace, name, ...(annotations && { annotations }), ...(labels && { labels }) },
    spec: { ...defaults, ...spec },
  };
}

/** `True GatesOpen: All gates are open.` */
export function conditionText(object: AnyObject | undefined, type: string): string | undefined {
  const condition = conditionOf(object, type);
  return condition && `${condition.status} ${condition.reason}: ${condition.message}`;
}

/** `spec.suspend`, and the value before it in our annotation. */
export const suspension = ({ spec, metadata }: AnyObject) => [spec.suspend, metadata.annotations?.[SUSPENDED]] as const;

/** Waits until a closed Gate holds the object: it is suspended, and its earlier value is recorded. */
export async function isHeld(reader: User, object: AnyObject, memory = 'unset'): Promise<AnyObject> {
  return waitFor(async () => {
    const live = await reader.get(object as never);
    if (live.spec.suspend === true && live.metadata.annotations?.[SUSPENDED] === memory) return live;
    throw new Error(JSON.stringify([live.spec.suspend, live.metadata.annotations]));
  }, `${object.kind} ${object.metadata.name} to be suspended by a gate`);
}

/** Waits until no Gate suspends the object, and `spec.suspend` has its earlier value. */
export async function isFree(reader: User, object: AnyObject, suspend?: boolean): Promise<AnyObject> {
  return waitFor(async () => {
    const live = await reader.get(object as never);
    if (live.spec.suspend === suspend && live.metadata.annotations?.[SUSPENDED] === undefined) return live;
    throw new Error(JSON.stringify([live.spec.suspend, live.metadata.annotations]));
  }, `${object.kind} ${object.metadata.name} to be as it was before a gate closed`);
}

/** Waits until the condition of a type is exactly `STATUS REASON: MESSAGE`. */
export async function saysSoon(reader: User, object: AnyObject, type: string, text: string): Promise<AnyObject> {
  return waitFor(async () => {
    const live = await reader.get(object as never);
    const found = conditionText(live, type);
    if (found !== text) throw new Error(found ?? 'no such condition');
    return live;
  }, `${object.kind} ${object.metadata.name} to say ${type}=${text}`);
}
