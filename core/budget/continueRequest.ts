/**
 * `rollout.kuberik.com/continue` on a budget: the request to continue a version despite its failures. The webhook
 * records the user. A request takes effect once.
 */
import type { AdmissionRequest } from '../../api/admission.ts';
import { CONTINUE, CONTINUE_REQUEST } from '../../api/annotations.ts';
import type { EpochMs } from '../../api/kubernetes.ts';
import type { Budget } from '../../api/types.ts';
import { annotate } from '../kube/annotate.ts';
import type { FieldProblem } from '../kube/fieldProblem.ts';
import { isLegalTag } from '../kube/tag.ts';
import {
  type Entry,
  newRequest,
  parseRecord,
  type RecordedRequest,
  requestInEntry,
  storedEntry,
} from '../record/record.ts';

/** The most characters of an image, a colon and a tag. */
const MAX_VERSION = 1024;
/** Characters of the value in a denial. */
const MAX_QUOTED_CHARACTERS = 128;
/** A repository with its port, or `ImagePolicy <namespace>/<name>` while the image is unknown. */
const IMAGE = /^[\w .:@/[\]-]*$/;

export interface ContinueRequest extends RecordedRequest {
  /** `1.2.0`, or `image:1.2.0`. */
  version: string;
}

/** The problem of a `continue` that names no version. Versions are `<tag>`, or `<image>:<tag>` as in the status. */
export function continueProblem({ metadata }: Budget, old: Budget | undefined): FieldProblem | undefined {
  const value = metadata.annotations?.[CONTINUE];
  if (!value || value === old?.metadata.annotations?.[CONTINUE]) return undefined;
  const colon = value.lastIndexOf(':');
  const isVersion = isImage(value.slice(0, colon + 1)) && isLegalTag(value.slice(colon + 1));
  if (isVersion && value.length <= MAX_VERSION) return undefined;
  const reason = 'expected a tag, or an image and a tag with a colon between them';
  return { field: `metadata.annotations[${CONTINUE}]`, value: value.slice(0, MAX_QUOTED_CHARACTERS), reason };
}

/** Whether the text may be an image in a `continue` request. */
export function isImage(text: string): boolean {
  return text.length <= MAX_VERSION && IMAGE.test(text);
}

/** The `continue` request that has not taken effect yet; undefined for one without a record of its user. */
export function pendingContinue({ metadata, status }: Budget): ContinueRequest | undefined {
  const version = metadata.annotations?.[CONTINUE];
  const request = requestInEntry(parseRecord(metadata.annotations?.[CONTINUE_REQUEST]) as Entry);
  if (!version || version.length > MAX_VERSION || request?.id === status?.handledRequest) return undefined;
  return request && { version, ...request };
}

/**
 * Whether the `continue` annotation has no effect any more. Without a record of its user it never has one: if it
 * stayed, the same request couldn't be made again.
 */
export function isUsed(budget: Budget): boolean {
  return budget.metadata.annotations?.[CONTINUE] !== undefined && pendingContinue(budget) === undefined;
}

/** The budget with a record of the write's request, if it is new. A record that a client writes doesn't count. */
export function recordContinue(
  budget: Budget,
  old: Budget | undefined,
  request: Pick<AdmissionRequest, 'uid' | 'userInfo'>,
  now: EpochMs,
): Budget {
  const requested = budget.metadata.annotations?.[CONTINUE];
  if (requested === undefined) return annotate(budget, CONTINUE_REQUEST, undefined);
  if (requested === old?.metadata.annotations?.[CONTINUE]) {
    return annotate(budget, CONTINUE_REQUEST, old.metadata.annotations[CONTINUE_REQUEST]);
  }
  return annotate(budget, CONTINUE_REQUEST, JSON.stringify(storedEntry(newRequest(request, now))));
}
