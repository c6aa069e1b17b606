/** The route table of the admission webhook: `/admission/mutate/<name>` and `/admission/validate/<name>`. */
import { Ajv } from 'ajv';
import type { AdmissionReview } from '../api/admission.ts';
import type { Route, WebhookCall } from '../api/ports.ts';
import { mutateCreatedFlux, mutateFlux, validateFlux } from './flux.ts';
import { mutateGate, validateGate } from './gate.ts';
import { type AdmissionHandler, reviewOf } from './response.ts';
import { mutateRollout, validateRollout } from './rollout.ts';
import { mutateRolloutGate } from './rolloutGate.ts';
import { mutateRolloutStatus, validateRolloutStatus } from './rolloutStatus.ts';
import { validateSchedule } from './schedule.ts';

export const WEBHOOKS: Readonly<Record<string, AdmissionHandler>> = {
  'mutate/flux': mutateFlux,
  'mutate/flux-created': mutateCreatedFlux,
  'mutate/rollout': mutateRollout,
  'mutate/rollout-status': mutateRolloutStatus,
  'mutate/rolloutgate': mutateRolloutGate,
  'mutate/gate': mutateGate,
  'validate/flux': validateFlux,
  'validate/rollout': validateRollout,
  'validate/rollout-status': validateRolloutStatus,
  'validate/gate': validateGate,
  'validate/schedule': validateSchedule,
};

const isReview = new Ajv().compile({
  type: 'object',
  required: ['apiVersion', 'kind', 'request'],
  properties: {
    apiVersion: { const: 'admission.k8s.io/v1' },
    kind: { const: 'AdmissionReview' },
    request: {
      type: 'object',
      required: ['uid', 'kind', 'resource', 'operation', 'userInfo'],
      properties: {
        uid: { type: 'string' },
        operation: { enum: ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'] },
        userInfo: { type: 'object' },
        object: { type: ['object', 'null'] },
        oldObject: { type: ['object', 'null'] },
      },
    },
  },
});

class ReviewError extends Error {
  readonly status = 400;
}

export function webhookRoutes(call: () => WebhookCall): Route[] {
  return Object.entries(WEBHOOKS).map(([name, handle]) => ({
    path: `/admission/${name}`,
    async answer(body) {
      if (!isReview(body)) {
        const [error] = isReview.errors ?? [];
        throw new ReviewError(
          `not an AdmissionReview of admission.k8s.io/v1: ${error?.instancePath || 'body'} ${error?.message}`,
        );
      }
      const { request } = body as AdmissionReview;
      return reviewOf(request!, await handle(request!, call()));
    },
  }));
}
