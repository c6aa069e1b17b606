/** Limits of the sizes of a review, and of the objects of our kinds in it. */
import type { AdmissionRequest } from '../api/admission.ts';
import { BYPASS_REASON } from '../api/annotations.ts';
import type { AnyObject } from '../api/kubernetes.ts';
import type { Settings } from '../api/ports.ts';
import { goJsonBytes } from '../core/kube/json.ts';
import { type AdmissionDecision, denied } from './response.ts';

/**
 * The largest review of a Flux object: the stored and the new object, each as large as
 * manifests/policies/object-sizes.yaml allows.
 * A larger review may still pass that policy: it includes the status, which the API server drops before the policy sees
 * the object.
 */
export const MAX_FLUX_REVIEW_BYTES = 3 * 1024 * 1024;

/** The limits of manifests/policies/object-sizes.yaml, without and with the reason of a bypass. */
const POLICY_BYTES = 65_536;
const POLICY_BYTES_OF_BYPASS = 98_304;
/** More than both, because the policy counts in another way. */
const MAX_OWN_BYTES = 131_072;

/**
 * The denial of a write that the policy of sizes would deny later. A stored object that is larger may stay, and
 * Metacontroller, which the policy exempts, may write it.
 */
export function sizeDenial(
  { object, oldObject, userInfo }: AdmissionRequest,
  { metacontrollerUser }: Settings,
): AdmissionDecision | undefined {
  if (userInfo.username === metacontrollerUser) return undefined;
  const [bytes, before] = [object, oldObject].map((each) => (each ? ownBytes(each) : 0)) as [number, number];
  if (bytes <= MAX_OWN_BYTES || bytes <= before) return undefined;
  const what = 'spec, annotations, labels, owner references and finalizers take';
  const isBypass = object?.metadata.annotations?.[BYPASS_REASON] !== undefined;
  const most = isBypass ? POLICY_BYTES_OF_BYPASS : POLICY_BYTES;
  return denied('limit', `${what} ${bytes} bytes together, and at most ${most} are allowed: make them smaller.`);
}

function ownBytes({ spec, metadata }: AnyObject): number {
  const { annotations, labels, ownerReferences, finalizers } = metadata;
  return goJsonBytes([spec ?? null, annotations ?? null, labels ?? null, ownerReferences ?? null, finalizers ?? null]);
}
