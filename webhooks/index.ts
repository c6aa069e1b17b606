/** The route table of the admission webhook: `/admission/mutate/<name>` and `/admission/validate/<name>`. */
import type { AdmissionRequest, AdmissionReview } from '../api/admission.ts';
import type { DecisionLog, Route, WebhookCall } from '../api/ports.ts';
import { unknownAnnotationWarnings } from '../core/admission/unknownAnnotations.ts';
import { isMap } from '../core/kube/json.ts';
import { shapeProblem } from '../core/kube/shape.ts';
import { reasonWarnings, recordWarnings } from '../core/record/record.ts';
import { admissionDebugLine, admissionDecisions } from './admissionLog.ts';
import { mutateFlux, validateFlux } from './flux/fluxAdmission.ts';
import { mutateGate, validateGate } from './gate/gateAdmission.ts';
import { mutateRolloutBudget, validateHealthCheck, validateSchedule } from './otherKinds.ts';
import { type AdmissionDecision, type AdmissionHandler, allowed, reviewOf } from './response.ts';
import { MAX_FLUX_REVIEW_BYTES, sizeDenial } from './reviewSize.ts';
import { mutateRollout, validateRollout } from './rollout/rolloutAdmission.ts';
import { mutateRolloutStatus, validateRolloutStatus } from './rollout/rolloutStatusAdmission.ts';
import { mutateRolloutGate, validateRolloutGate } from './rolloutGate/rolloutGateAdmission.ts';
import { denialOfFailedRead, denialOfUnread } from './unreadReview.ts';

/** The webhook with failurePolicy Ignore: an error or a late answer admits the write. */
export const FAILS_OPEN = 'mutate/flux-fails-open';
/** Metacontroller's writes, by which objects are suspended and resumed: users must not be able to delay them. */
export const OF_METACONTROLLER = 'mutate/flux-metacontroller';

const WEBHOOKS: Readonly<Record<string, AdmissionHandler>> = {
  'mutate/flux': mutateFlux,
  // The same handler for webhooks with failurePolicy Ignore (manifests/webhooks/README.md).
  [FAILS_OPEN]: mutateFlux,
  [OF_METACONTROLLER]: mutateFlux,
  'mutate/rollout': mutateRollout,
  'mutate/rollout-status': mutateRolloutStatus,
  'mutate/rolloutgate': mutateRolloutGate,
  'mutate/rolloutbudget': mutateRolloutBudget,
  'mutate/gate': mutateGate,
  'validate/flux': validateFlux,
  'validate/rollout': validateRollout,
  'validate/rollout-status': validateRolloutStatus,
  'validate/rolloutgate': validateRolloutGate,
  'validate/gate': validateGate,
  'validate/health-check': validateHealthCheck,
  'validate/schedule': validateSchedule,
};

/** The end of the names of webhooks that decide about writes of a subresource. */
const STATUS = '-status';

class ReviewError extends Error {
  readonly status = 400;
  constructor(problem: string) {
    super(`not an AdmissionReview of admission.k8s.io/v1: ${problem}`);
  }
}

/**
 * The routes of all webhooks.
 * @param call returns the ports of a request by the name of its webhook: FAILS_OPEN and OF_METACONTROLLER have
 *   connections of their own
 */
export function webhookRoutes(call: (webhook: string) => WebhookCall, log?: DecisionLog): Route[] {
  return Object.entries(WEBHOOKS).map(([name, handle]) => ({
    path: `/admission/${name}`,
    async answer(body, late) {
      const problem = reviewProblem(body);
      if (problem !== undefined) throw new ReviewError(problem);
      const request = (body as AdmissionReview).request!;
      const ports = call(name);
      const decision = await asBadRequest(request, async () => {
        const storesRecords = STORES_RECORDS.has(name);
        const tooLarge = storesRecords ? sizeDenial(request, ports.settings) : undefined;
        if (tooLarge) return tooLarge;
        if (request.subResource && !name.endsWith(STATUS)) return allowed();
        const decision = await handle(request, ports);
        return storesRecords ? withTextWarnings(name, request, decision) : decision;
      }).catch((error: unknown) => {
        const denial = name === FAILS_OPEN ? denialOfFailedRead(error) : undefined;
        if (!denial) throw error;
        return denial;
      });
      if (!late?.aborted) {
        countDecision(decision, ports);
        for (const each of log ? admissionDecisions(name, request, decision) : []) log?.decided(each);
        log?.considered(() => admissionDebugLine(name, request, decision));
      }
      return reviewOf(request, decision);
    },
    ...(name.includes('/flux') && { maxBytes: MAX_FLUX_REVIEW_BYTES }),
    ...(name === OF_METACONTROLLER
      ? { hasOwnLane: true as const }
      : { namespaceOf: (body) => (body as Partial<AdmissionReview> | undefined)?.request?.namespace ?? '' }),
    // An error of this route would admit the write, so a write whose review was not read is denied. The route has
    // limits of its own, so that reviews for webhooks that fail closed can't crowd its reviews out.
    ...(name === FAILS_OPEN && {
      hasOwnLane: true as const,
      failsOpen: true as const,
      answerUnread: denialOfUnread(() => call(name)),
    }),
  }));
}

const STORES_REASONS = ['mutate/rollout', 'mutate/rolloutgate', 'mutate/gate'];
/**
 * The webhooks that change objects of our kinds. They run before the API server's policy of sizes, and for an object as
 * large as a request may be, some of their work takes half a second.
 */
const STORES_RECORDS = new Set([...STORES_REASONS, 'mutate/rolloutbudget']);

/**
 * The decision, with a Warning for each reason that is shortened when stored, each record that is ignored, and each
 * unknown annotation.
 */
function withTextWarnings(
  name: string,
  { object, oldObject }: AdmissionRequest,
  decision: AdmissionDecision,
): AdmissionDecision {
  if (!decision.allowed) return decision;
  const longer = STORES_REASONS.includes(name) ? reasonWarnings(object, oldObject) : [];
  const ignored = recordWarnings(object, oldObject, decision.object ?? object);
  const unknown = object ? unknownAnnotationWarnings(object, oldObject ?? undefined) : [];
  return { ...decision, warnings: [...(decision.warnings ?? []), ...longer, ...ignored, ...unknown] };
}

function countDecision(decision: AdmissionDecision, { metrics }: WebhookCall): void {
  if (!decision.allowed) {
    metrics.count({ name: 'rollout_hooks_admission_denials_total', labels: { reason: decision.reason } });
  } else if (decision.revertReason) {
    metrics.count({ name: 'rollout_hooks_admission_reverts_total', labels: { reason: decision.revertReason } });
  }
}

/** The answer. An unexpected error becomes a 400 if no API server could have sent the request. */
async function asBadRequest<T>({ object, oldObject }: AdmissionRequest, answer: () => Promise<T>): Promise<T> {
  try {
    return await answer();
  } catch (error) {
    if (typeof (error as { status?: unknown }).status === 'number') throw error;
    const problem =
      (object && shapeProblem(object, '/request/object')) ??
      (oldObject && shapeProblem(oldObject, '/request/oldObject'));
    throw problem ? new ReviewError(problem) : error;
  }
}

const OPERATIONS: readonly unknown[] = ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'];

/** The first field that an API server would not send so; undefined if there is none. */
function reviewProblem(body: unknown): string | undefined {
  if (!isMap(body)) return 'the body must be a JSON object';
  const { apiVersion, kind, request } = body;
  if (apiVersion !== 'admission.k8s.io/v1') return '/apiVersion must be admission.k8s.io/v1';
  if (kind !== 'AdmissionReview') return '/kind must be AdmissionReview';
  if (!isMap(request)) return '/request must be object';
  if (!OPERATIONS.includes(request.operation)) return `/request/operation must be one of ${OPERATIONS.join(', ')}`;
  const noMap =
    ['kind', 'resource', 'userInfo'].find((field) => !isMap(request[field])) ??
    ['object', 'oldObject', 'options'].find((field) => !isMap(request[field] ?? {}));
  if (noMap) return `/request/${noMap} must be object`;
  if (typeof (request.userInfo as { username?: unknown }).username !== 'string')
    return '/request/userInfo/username must be string';
  const { name = '', namespace = '', subResource = '', uid } = request;
  const noText = Object.entries({ uid, name, namespace, subResource }).find(([, value]) => typeof value !== 'string');
  return noText && `/request/${noText[0]} must be string`;
}
