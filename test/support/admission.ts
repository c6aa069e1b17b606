/** Sends writes to admission handlers as the API server does. An independent library applies the patch. */
import jsonpatch from 'jsonpatch';
import type { AdmissionRequest, AdmissionResponse, AdmissionReview, UserInfo } from '../../api/admission.ts';
import type { AnyObject, EpochMs } from '../../api/kubernetes.ts';
import type { DecisionLog, Settings, WebhookCall } from '../../api/ports.ts';
import { fakeCluster, fakeWebhookCall } from '../../dev/fakes/ports.ts';
import { requestOf, reviewing } from '../../dev/fakes/requests.ts';
import { webhookRoutes } from '../../webhooks/index.ts';
import { type AdmissionHandler, reviewOf } from '../../webhooks/response.ts';

/** That of the objects in test/core/admission/objects.ts. */
const NOW = Date.parse('2026-03-04T10:00:00Z');

type Some<T> = { [key in keyof T]?: T[key] | undefined };

export interface Write<T = AnyObject> extends Some<Omit<AdmissionRequest, 'object' | 'oldObject' | 'userInfo'>> {
  object?: T | null | undefined;
  oldObject?: T | null | undefined;
  user?: string | UserInfo | undefined;
}

export interface Context {
  objects?: readonly AnyObject[] | undefined;
  now?: EpochMs;
  /** `user verb namespace/name`, or `user verb` for a right to all objects. */
  may?: string[] | undefined;
  settings?: Partial<Settings> | undefined;
  /** Plurals of unreadable kinds. */
  broken?: string[];
}

/**
 * The answer to a write that passes these handlers in order: the first denial ends it, all Warnings are kept. `object`:
 * as the API server would store it; `facts`: what each Event waits for; `reads`: `resource/name` of each live read.
 */
export async function send<T extends AnyObject>(
  handlers: AdmissionHandler | readonly AdmissionHandler[],
  { user = 'alice', object = null, oldObject = null, ...rest }: Write<T>,
  { objects = [], now = NOW, may = [], settings, broken = [] }: Context = {},
) {
  const userInfo = typeof user === 'string' ? { username: user } : user;
  const request = requestOf({ ...(rest as Partial<AdmissionRequest>), object, oldObject, userInfo });
  const cluster = fakeCluster(objects, {
    fails: ({ resource }) => (broken.includes(resource) ? `${resource} cannot be read` : undefined),
  });
  const access: WebhookCall['access'] = {
    async may({ username }, { verb, namespace, name }) {
      return may.includes(`${username} ${verb}`) || may.includes(`${username} ${verb} ${namespace}/${name}`);
    },
  };
  const { call, ...recorded } = fakeWebhookCall({ now, cluster, access, settings });
  const answer = { object: request.object, allowed: true, message: '' };
  const [warnings, audit]: [string[], Record<string, string>] = [[], {}];
  let response: AdmissionResponse | undefined;
  for (const handler of [handlers].flat()) {
    response = await review(handler, { ...request, object: answer.object }, call);
    warnings.push(...(response.warnings ?? []));
    Object.assign(audit, response.auditAnnotations);
    answer.allowed = response.allowed;
    answer.message = response.status?.message ?? '';
    if (!answer.allowed) break;
    const patch = response.patch ? JSON.parse(Buffer.from(response.patch, 'base64').toString()) : [];
    if (answer.object) answer.object = jsonpatch.apply_patch(structuredClone(answer.object), patch);
  }
  const { requests } = cluster;
  const reads = requests.map(({ resource, name = '*' }) => `${resource}/${name}`);
  const stored = (answer.allowed && answer.object) || undefined;
  return {
    ...answer,
    ...recorded,
    object: stored as T | undefined,
    warnings,
    audit,
    requests,
    reads,
    response: response!,
  };
}

async function review(handler: AdmissionHandler, request: AdmissionRequest, call: WebhookCall) {
  const input = JSON.stringify(request);
  const { response } = reviewOf(request, await handler(request, call));
  if (JSON.stringify(request) !== input) throw new Error('the handler changed its request in place');
  return response!;
}

/** The response of a webhook, such as `mutate/flux`, with everything that its route does around its handler. */
export async function responseOf(
  webhook: string,
  request: Parameters<typeof requestOf>[0],
  call: WebhookCall,
  { log, late }: { log?: DecisionLog; late?: AbortSignal } = {},
): Promise<AdmissionResponse> {
  const { answer } = webhookRoutes(() => call, log).find(({ path }) => path === `/admission/${webhook}`)!;
  return ((await answer(reviewing(requestOf(request)), late)) as AdmissionReview).response!;
}
