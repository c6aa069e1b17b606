/** As much of an API server as admission needs: which webhooks it asks, what it does with their patches, what it stores. */

import type { AdmissionReview, UserInfo } from '../../../api/admission.ts';
import { GOVERNED_KINDS } from '../../../api/kinds.ts';
import type { KubeObject } from '../../../api/kubernetes.ts';
import type { AccessReviewer, DecisionLog, HookCall, Route, WebhookCall } from '../../../api/ports.ts';
import { hookRoutes } from '../../../hooks/index.ts';
import { webhookRoutes } from '../../../webhooks/index.ts';
import { patched } from '../../fakes/jsonPatch.ts';
import { fakeCluster, fakeHookCall, fakeWebhookCall, pluralOf } from '../../fakes/ports.ts';
import { ask } from './call.ts';
import { expectThat } from './finding.ts';
import { GARBAGE_COLLECTOR, isSystemDeleter, may, SETTINGS } from './users.ts';

export type AnyObject = KubeObject<any, any>;

export interface Write {
  user: string;
  object?: AnyObject | undefined;
  oldObject?: AnyObject | undefined;
  fieldManager?: string;
  subResource?: string;
}

export interface Outcome {
  allowed: boolean;
  message: string;
  /** Whether any webhook was asked. */
  asked: boolean;
  /** As it would be stored; undefined after a deletion and after a denial. */
  object?: AnyObject | undefined;
}

interface Served {
  now: number;
  objects(): AnyObject[];
}

let served: Served = { now: 0, objects: () => [] };
const shared = () => ({
  now: served.now,
  cluster: fakeCluster(served.objects()),
  settings: SETTINGS,
  access: { may: async (user: UserInfo, what: Parameters<AccessReviewer['may']>[1]) => may(user, what) },
});
const hookCall = (): HookCall => fakeHookCall(shared()).call;
const webhookCall = (): WebhookCall => fakeWebhookCall(shared()).call;

/** Every line is made, as at level debug: no body may break the log. */
const LOG: DecisionLog = {
  decided: (line) => void JSON.stringify(line),
  considered: (line) => void JSON.stringify(line()),
};

/** The routes that main.ts mounts, over the world that is served. */
export const ROUTES: ReadonlyMap<string, Route> = new Map(
  [...hookRoutes(hookCall, LOG), ...webhookRoutes(webhookCall, LOG)].map((route) => [route.path, route]),
);

export function serve(world: Served): void {
  served = world;
}

const FLUX_KINDS: string[] = GOVERNED_KINDS.map(({ kind }) => kind);
const MARK = /^(rollout\.kuberik\.com|gate\.fluxcd\.io)\//;

/** The routes that are asked about a write of this kind; as manifests/webhooks says. */
function webhooksOf(about: AnyObject, { subResource }: Write): { mutate?: string; validate?: string } {
  if (FLUX_KINDS.includes(about.kind)) return { mutate: 'flux', validate: 'flux' };
  if (about.kind === 'Rollout' && subResource === 'status')
    return { mutate: 'rollout-status', validate: 'rollout-status' };
  if (about.kind === 'Rollout') return { mutate: 'rollout', validate: 'rollout' };
  if (about.kind === 'RolloutGate') return { mutate: 'rolloutgate' };
  if (about.kind === 'Gate') return { mutate: 'gate', validate: 'gate' };
  return { validate: 'schedule' };
}

function isMarked({ metadata }: AnyObject): boolean {
  return Object.keys(metadata.annotations ?? {}).some((key) => MARK.test(key));
}

/** The match conditions of manifests/webhooks. */
function isRequested({ user, object, oldObject, subResource }: Write): boolean {
  if (!object && isSystemDeleter(user)) return false;
  const about = (object ?? oldObject)!;
  if (FLUX_KINDS.includes(about.kind)) {
    if (![object, oldObject].some((each) => each && isMarked(each))) return false;
  }
  if (!object || !oldObject || subResource) return true;
  const governed = ({ spec, metadata: { annotations, labels, ownerReferences } }: AnyObject) =>
    JSON.stringify([spec, annotations, labels, ownerReferences]);
  if (governed(object) !== governed(oldObject)) return true;
  const finalizers = (o: AnyObject) => JSON.stringify(o.metadata.finalizers);
  return (
    oldObject.metadata.annotations?.['gate.fluxcd.io/suspended'] !== undefined &&
    finalizers(object) === finalizers(oldObject)
  );
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
      userInfo: {
        username: user,
        groups: [user === GARBAGE_COLLECTOR ? 'system:serviceaccounts' : 'system:authenticated'],
      },
      object: object ?? null,
      oldObject: oldObject ?? null,
      options: fieldManager === undefined ? null : { fieldManager },
      ...(subResource && { subResource }),
    },
  };
}

/** As the API server's own types write it: what is empty is left out. */
function normal(object: AnyObject): AnyObject {
  const kept = Object.entries(object.metadata).filter(
    ([, value]) => typeof value !== 'object' || Object.keys(value).length > 0,
  );
  return { ...object, metadata: Object.fromEntries(kept) };
}

/** Mutation, then validation of what came of it. */
export async function admit(asSent: Write): Promise<Outcome> {
  const write = { ...asSent, ...(asSent.object && { object: normal(asSent.object) }) };
  const about = (write.object ?? write.oldObject)!;
  const isFlux = write.object !== undefined && !write.subResource && FLUX_KINDS.includes(about.kind);
  const unmarked = isFlux && !isMarked(about) && !(write.oldObject && isMarked(write.oldObject));
  if (!unmarked && !isRequested(write)) return { allowed: true, asked: false, message: '', object: write.object };
  const { mutate, validate } = webhooksOf(about, write);
  let { object } = write;
  if (unmarked) {
    const response = await review('/admission/mutate/flux-created', write);
    if (!response.allowed) return refused(response);
    const { patch } = response;
    object = patch ? patched(object, JSON.parse(Buffer.from(patch, 'base64').toString())) : object;
    if (!isMarked(object!)) return { allowed: true, asked: true, message: '', object };
  }
  if (mutate && object && !unmarked) {
    const response = await review(`/admission/mutate/${mutate}`, write);
    if (!response.allowed) return refused(response);
    const patch = response.patch ? JSON.parse(Buffer.from(response.patch, 'base64').toString()) : [];
    object = patched(object, patch);
  }
  if (validate) {
    const response = await review(`/admission/validate/${validate}`, { ...write, object });
    expectThat(response.patch === undefined, 'a validating webhook answers with a patch');
    if (!response.allowed) return refused(response);
  }
  return { allowed: true, asked: true, message: '', object };
}

async function review(path: string, write: Write) {
  const body = reviewOf(write);
  const answer = await ask<AdmissionReview>(ROUTES.get(path)!, body);
  // Failure policy Fail.
  if (answer.status !== 200 || !('body' in answer))
    return {
      uid: '',
      allowed: false,
      status: { code: 500, reason: '', message: 'error' in answer ? answer.error : '' },
    };
  const { response } = answer.body;
  expectThat(response?.uid === body.request!.uid, 'the answer is about another request', { response });
  expectThat(response!.allowed || Boolean(response!.status?.message), 'a denial says nothing', { response });
  return response!;
}

function refused(response: { status?: { message: string } }): Outcome {
  return { allowed: false, asked: true, message: response.status?.message ?? '' };
}
