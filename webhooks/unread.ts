/** The denial of a write whose review was not read, for webhooks that fail open: the API server takes an HTTP error for permission. */
import type { AdmissionReview } from '../api/admission.ts';
import type { UnreadBody } from '../api/ports.ts';

/** As Go writes a review: the uid comes before anything that a user has written. */
const UID = /^\s*\{(?:"(?:kind|apiVersion)":"[^"\\]*",){2}"request":\{"uid":"([^"\\]+)"/;

const REMEDY: Record<UnreadBody['why'], string> = {
  tooLarge: 'make the object smaller, and leave out its status, which counts though this write does not store it',
  busy: 'if that keeps failing, make the object smaller',
  slow: 'try again later, or make the object smaller',
};

/** Undefined where the body does not begin as a review of an API server. */
export async function denyUnread({ why, message, beginning }: UnreadBody): Promise<AdmissionReview | undefined> {
  const uid = UID.exec(await beginning)?.[1];
  if (uid === undefined) return undefined;
  // Neither 409 nor 422, as everywhere: docs/facts.md, F10.
  const [code, reason] = why === 'tooLarge' ? [413, 'RequestEntityTooLarge'] : [429, 'TooManyRequests'];
  const text = `the admission review of this object was not read, so its Gates are unknown: ${message}: ${REMEDY[why]}`;
  return {
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    response: { uid, allowed: false, status: { code: code as number, reason: reason as string, message: text } },
  };
}
