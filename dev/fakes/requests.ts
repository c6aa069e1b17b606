/** Requests as Metacontroller and the API server send them to the hook server. */
import type { AdmissionRequest, AdmissionReview } from '../../api/admission.ts';
import type { KubeObject } from '../../api/kubernetes.ts';
import type { CompositeRequest, DecoratorRequest, ObjectMap } from '../../api/metacontroller.ts';
import { pluralOf } from './ports.ts';

type AnyObject = KubeObject<any, any>;

export const controller: KubeObject = { apiVersion: 'v1', kind: 'Controller', metadata: { name: 'c' } };

/** Objects as Metacontroller sends them: by kind, then by namespace and name. */
export function mapOf(...objects: (AnyObject | undefined)[]): ObjectMap {
  const map: ObjectMap = {};
  for (const object of objects) {
    if (!object) continue;
    const { namespace, name } = object.metadata;
    const kind = `${object.kind}.${object.apiVersion}`;
    map[kind] ??= {};
    map[kind][namespace ? `${namespace}/${name}` : `${name}`] = object;
  }
  return map;
}

/** The request of a decorator's sync. `attachments` as a map, if missing kinds matter. */
export function decorating(
  object: AnyObject,
  { related = [], attachments = [] }: { related?: readonly AnyObject[]; attachments?: AnyObject[] | ObjectMap } = {},
): DecoratorRequest<any> {
  const own = Array.isArray(attachments) ? mapOf(...attachments) : attachments;
  return { controller, object, attachments: own, related: mapOf(...related), finalizing: false };
}

/** The request of a composite's sync. */
export function composing(
  parent: AnyObject,
  { related = [], children = {} }: { related?: readonly AnyObject[]; children?: ObjectMap } = {},
): CompositeRequest<any> {
  return { controller, parent, children, related: mapOf(...related), finalizing: false };
}

/** A write. The operation is CREATE without an old object, and DELETE without a new one. */
export function requestOf({ object = null, oldObject = null, ...rest }: Partial<AdmissionRequest>): AdmissionRequest {
  const { apiVersion, kind, metadata } = (object ?? oldObject)!;
  const [group = '', version = ''] = apiVersion.split('/');
  return {
    uid: 'request-uid',
    kind: { group, version, kind },
    resource: { group, version, resource: pluralOf(kind) },
    ...(metadata.name !== undefined && { name: metadata.name }),
    namespace: metadata.namespace ?? '',
    operation: object ? (oldObject ? 'UPDATE' : 'CREATE') : 'DELETE',
    userInfo: { username: 'alice' },
    object,
    oldObject,
    ...rest,
  };
}

export const reviewing = (request: AdmissionRequest): AdmissionReview => ({
  apiVersion: 'admission.k8s.io/v1',
  kind: 'AdmissionReview',
  request,
});
