/** The routes of the hook server in this process, over the objects that a case serves. */
import type { AdmissionRequest, AdmissionReview } from '../../../api/admission.ts';
import type { EpochMs, KubeObject } from '../../../api/kubernetes.ts';
import type { DecisionLog, Route } from '../../../api/ports.ts';
import { hookRoutes } from '../../../hooks/index.ts';
import { webhookRoutes } from '../../../webhooks/index.ts';
import { fakeCluster, fakeHookCall, fakeWebhookCall } from '../../fakes/ports.ts';
import { requestOf, reviewing } from '../../fakes/requests.ts';

export type AnyObject = KubeObject<any, any>;

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

/** The review of a write by this user. */
export const reviewOf = (username: string, write: Partial<AdmissionRequest>): AdmissionReview =>
  reviewing(requestOf({ userInfo: { username, groups: ['system:authenticated'] }, ...write }));
