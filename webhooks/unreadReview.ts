/**
 * The denial of a write whose review or Gates were not read, for webhooks that fail open: with an HTTP error the API
 * server would admit the write.
 */
import type { AdmissionReview } from '../api/admission.ts';
import type { UnreadBody, WebhookCall } from '../api/ports.ts';
import { type AdmissionDecision, denied } from './response.ts';

/**
 * The denial of a write whose Gates can't be read, because the API server is overloaded or fails: a tenant can cause
 * that. undefined for an error that lasts until an admin repairs the installation, such as a missing right: every write
 * of a Flux object would be denied until then.
 */
export function denialOfFailedRead(error: unknown): AdmissionDecision | undefined {
  const { code, message } = error as { code?: unknown; message?: string };
  const isTemporary = typeof code === 'number' && (code === 0 || code === 429 || code >= 500);
  return isTemporary
    ? denied('limit', `the Gates of this object cannot be read (${message}): try again later.`)
    : undefined;
}

/** The uid in a review as Go writes it, which comes before any text of a user. */
const UID = /^\s*\{(?:"(?:kind|apiVersion)":"[^"\\]*",){2}"request":\{"uid":"([^"\\]+)"/;

const FIX: Record<UnreadBody['why'], string> = {
  tooLarge: 'make the object smaller, and leave out its status, which counts too',
  busy: 'if that keeps failing, make the object smaller',
  slow: 'try again later, or make the object smaller',
};

// Never 409 or 422: docs/facts.md, F10.
const TOO_LARGE = { code: 413, reason: 'RequestEntityTooLarge' };
const TOO_MANY_REQUESTS = { code: 429, reason: 'TooManyRequests' };

/**
 * The denial of a write whose review was not read; undefined if the body doesn't begin like a review of an API server.
 */
export async function reviewOfUnread({ why, message, beginning }: UnreadBody): Promise<AdmissionReview | undefined> {
  const uid = UID.exec(await beginning)?.[1];
  if (uid === undefined) return undefined;
  const status = why === 'tooLarge' ? TOO_LARGE : TOO_MANY_REQUESTS;
  const text = `the webhook has not read this write (${message}), and so cannot check its Gates: ${FIX[why]}`;
  return {
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    response: { uid, allowed: false, status: { ...status, message: text } },
  };
}

/** Denies a review that was not read, and counts the denial. */
export function denialOfUnread(call: () => WebhookCall) {
  return async (body: UnreadBody): Promise<AdmissionReview | undefined> => {
    const review = await reviewOfUnread(body);
    if (review) call().metrics.count({ name: 'rollout_hooks_admission_denials_total', labels: { reason: 'limit' } });
    return review;
  };
}
