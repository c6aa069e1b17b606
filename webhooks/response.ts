/** What an admission handler decides, and how the API server is told. */
import type { AdmissionRequest, AdmissionResponse, AdmissionReview } from '../api/admission.ts';
import type { KubeObject } from '../api/kubernetes.ts';
import type { DenialReason } from '../api/metrics.ts';
import type { WebhookCall } from '../api/ports.ts';
import { patchOf } from './patch.ts';

export type Verdict =
  | {
      allowed: true;
      /** The object as it shall be stored; absent when nothing changes. */
      object?: KubeObject<any, any>;
      warnings?: string[];
      audit?: Record<string, string>;
    }
  | { allowed: false; reason: DenialReason; message: string; warnings?: string[]; audit?: Record<string, string> };

export type AdmissionHandler = (request: AdmissionRequest, call: WebhookCall) => Promise<Verdict>;

/** Longer warnings may be cut off by the API server. */
const MAX_WARNING = 120;

export function allowed(warnings: string[] = []): Verdict {
  return { allowed: true, warnings };
}

/** Always 403: 409 and 422 make a `force: true` Kustomization delete and recreate the object (DESIGN section 7). */
export function denied(reason: DenialReason, message: string, warnings: string[] = []): Verdict {
  return { allowed: false, reason, message, warnings };
}

export function reviewOf(request: AdmissionRequest, verdict: Verdict): AdmissionReview {
  return { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response: responseOf(request, verdict) };
}

function responseOf(request: AdmissionRequest, verdict: Verdict): AdmissionResponse {
  const response: AdmissionResponse = { uid: request.uid, allowed: verdict.allowed };
  if (verdict.warnings?.length) response.warnings = verdict.warnings.map(shorten);
  if (verdict.audit) response.auditAnnotations = verdict.audit;
  if (!verdict.allowed) {
    response.status = { code: 403, reason: 'Forbidden', message: verdict.message };
    return response;
  }
  if (!verdict.object || !request.object) return response;
  const patch = patchOf(request.object, verdict.object);
  if (patch.length === 0) return response;
  response.patchType = 'JSONPatch';
  response.patch = Buffer.from(JSON.stringify(patch)).toString('base64');
  return response;
}

function shorten(warning: string): string {
  return warning.length <= MAX_WARNING ? warning : `${warning.slice(0, MAX_WARNING - 1)}…`;
}
