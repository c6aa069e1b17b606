/** Calls an admission handler as the API server does. An independent library applies the patch. */
import jsonpatch from 'jsonpatch';
import type { AdmissionRequest, AdmissionResponse, AdmissionReview } from '../../api/admission.ts';
import type { DecisionLog, WebhookCall } from '../../api/ports.ts';
import { requestOf, reviewing } from '../../dev/fakes/requests.ts';
import { webhookRoutes } from '../../webhooks/index.ts';
import { type AdmissionHandler, reviewOf } from '../../webhooks/response.ts';

/** The answer, and the object as the API server would store it. */
export async function review(handler: AdmissionHandler, request: AdmissionRequest, call: WebhookCall) {
  const input = JSON.stringify(request);
  const response = reviewOf(request, await handler(request, call)).response!;
  if (JSON.stringify(request) !== input) throw new Error('the handler changed its request in place');
  const patch = response.patch ? JSON.parse(Buffer.from(response.patch, 'base64').toString()) : [];
  const { object } = request;
  return {
    response,
    object: object && response.allowed ? jsonpatch.apply_patch(structuredClone(object), patch) : undefined,
  };
}

/** The answer to a write that passes these handlers in order. The first denial ends it; all Warnings are kept. */
export async function admit(handlers: readonly AdmissionHandler[], request: AdmissionRequest, call: WebhookCall) {
  const answer = { object: request.object, allowed: true, message: '' };
  const [warnings, audit]: [string[], Record<string, string>] = [[], {}];
  for (const handler of handlers) {
    if (!answer.allowed) break;
    const { response, object } = await review(handler, { ...request, object: answer.object }, call);
    answer.object = object ?? answer.object;
    answer.allowed = response.allowed;
    answer.message = response.status?.message ?? '';
    warnings.push(...(response.warnings ?? []));
    Object.assign(audit, response.auditAnnotations);
  }
  return { ...answer, warnings, audit };
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
