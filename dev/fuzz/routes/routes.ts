/** The routes of the hook server in this process, over the objects that a case serves. */
import type { AdmissionReview } from '../../../api/admission.ts';
import type { EpochMs, KubeObject } from '../../../api/kubernetes.ts';
import type { DecisionLog, Route } from '../../../api/ports.ts';
import { hookRoutes } from '../../../hooks/index.ts';
import { webhookRoutes } from '../../../webhooks/index.ts';
import { fakeCluster, fakeHookCall, fakeWebhookCall, pluralOf } from '../../fakes/ports.ts';

export type AnyObject = KubeObject<any, any>;

export interface Write {
  user: string;
  object?: AnyObject | undefined;
  oldObject?: AnyObject | undefined;
  fieldManager?: string;
  subResource?: string;
}

interface Served {
  now: EpochMs;
  objects: readonly AnyObject[];
}

let served: Served = { now: 0, objects: [] };
const ports = () => ({
  now: served.now,
  cluster: fakeCluster(served.objects),
  settings: {
    bypassServiceAccounts: ['system:serviceaccount:ops:emergency'],
    copyImage: 'registry.example/rollout-hooks:1',
  },
  access: { may: async ({ username }: { username: string }) => username === 'admin' },
});

/** Writes every line, as at level debug: no body may break the log. */
const LOG: DecisionLog = {
  decided: (line) => void JSON.stringify(line),
  considered: (line) => void JSON.stringify(line()),
};

export const ROUTES: ReadonlyMap<string, Route> = new Map(
  [
    ...hookRoutes(() => fakeHookCall(ports()).call, LOG),
    ...webhookRoutes(() => fakeWebhookCall(ports()).call, LOG),
  ].map((route) => [route.path, route]),
);

export function serve(next: Served): void {
  served = next;
}

export function reviewOf({ user, object, oldObject, fieldManager, subResource }: Write): AdmissionReview {
  const about = (object ?? oldObject)!;
  const [group = '', version = ''] = about.apiVersion.split('/');
  return {
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    request: {
      uid: 'fuzz-1',
      kind: { group, version, kind: about.kind },
      resource: { group, version, resource: pluralOf(about.kind) },
      name: about.metadata.name ?? '',
      namespace: about.metadata.namespace ?? '',
      operation: object ? (oldObject ? 'UPDATE' : 'CREATE') : 'DELETE',
      userInfo: { username: user, groups: ['system:authenticated'] },
      object: object ?? null,
      oldObject: oldObject ?? null,
      options: fieldManager === undefined ? null : { fieldManager },
      ...(subResource && { subResource }),
    },
  };
}
