/** The decision of an admission handler, and the answer to the API server. */
import type { AdmissionRequest, AdmissionResponse, AdmissionReview } from '../api/admission.ts';
import { KINDS } from '../api/kinds.ts';
import type { AnyObject } from '../api/kubernetes.ts';
import type { DenialReason, RevertReason } from '../api/metrics.ts';
import type { WebhookCall } from '../api/ports.ts';
import { hiddenGates } from '../core/gate/evaluateGates.ts';
import { childOf, isMap, jsonPointer, sameJson } from '../core/kube/json.ts';
import { refKey, uniqueRefs } from '../core/kube/names.ts';
import { type Denial, denialText, subjectOf } from '../core/objectGates/gateTexts.ts';
import { type CommandLine, type TextWithCommands, withCommands } from '../core/text/commands.ts';
import { MAX_LISTED } from '../core/text/firstFew.ts';
import { oneLine } from '../core/text/oneLine.ts';

export type AdmissionDecision =
  | {
      allowed: true;
      /** The object to store, if it may differ from the one in the request. */
      object?: AnyObject;
      warnings?: string[];
      audit?: Record<string, string> | undefined;
      /** Why a part of the write isn't stored; absent if everything is. */
      revertReason?: RevertReason | undefined;
    }
  | {
      allowed: false;
      reason: DenialReason;
      message: string;
      /** Commands for the user, each on a line of its own below the message. */
      commands?: readonly CommandLine[];
      warnings?: string[];
    };

export type AdmissionHandler = (request: AdmissionRequest, call: WebhookCall) => Promise<AdmissionDecision>;

export function namespaceOf(request: AdmissionRequest): string {
  return request.namespace ?? request.object?.metadata.namespace ?? request.oldObject?.metadata.namespace ?? '';
}

/** The object as written, absent in a deletion, and as stored, absent in a creation. */
export interface ObjectVersions<T> {
  object: T | undefined;
  old: T | undefined;
  namespace: string;
}

export function versionsOf<T extends AnyObject>(request: AdmissionRequest): ObjectVersions<T> {
  const namespace = namespaceOf(request);
  // In a CREATE, only the request may have the namespace.
  const inNamespace = (object: AnyObject | null | undefined) =>
    (object && namespace && !object.metadata.namespace
      ? { ...object, metadata: { ...object.metadata, namespace } }
      : (object ?? undefined)) as T | undefined;
  return { object: inNamespace(request.object), old: inNamespace(request.oldObject), namespace };
}

/** The longest Warning that the API server never cuts. */
const MAX_WARNING_CHARACTERS = 120;

export function allowed(warnings: string[] = []): AdmissionDecision {
  return { allowed: true, warnings };
}

/**
 * A denial. Its status is always 403: 409 and 422 make a `force: true` Kustomization delete and recreate the object
 * (docs/facts.md, F10).
 */
export function denied(
  reason: DenialReason,
  denial: string | TextWithCommands,
  warnings: string[] = [],
): AdmissionDecision {
  const { text: message, commands = [] } = typeof denial === 'string' ? { text: denial } : denial;
  return { allowed: false, reason, message, ...(commands.length > 0 && { commands }), warnings };
}

/** The denial of an object for its own fields. @param problems clauses, each with its field */
export function notValid(object: AnyObject, problems: readonly string[]): AdmissionDecision {
  return denied('invalid', `${subjectOf(object)} is not valid: ${problems.join('; ')}`);
}

/**
 * Denies with a 403, and reveals of Gates in other namespaces only what the user may read. Access is reviewed only if
 * there is something to reveal. Without authenticated callers the user is only claimed: docs/security.md.
 */
export async function deny(
  denial: Denial,
  request: AdmissionRequest,
  { access }: WebhookCall,
  warnings: string[] = [],
): Promise<AdmissionDecision> {
  const namespace = namespaceOf(request);
  // A denial names only Gates whose access was reviewed.
  const reviewed = uniqueRefs(hiddenGates(denial.closed?.gates ?? [], namespace)).slice(0, MAX_LISTED);
  const { group, resource } = KINDS.Gate;
  const may = await Promise.all(
    reviewed.map((ref) => access.may(request.userInfo, { verb: 'get', group, resource, ...ref })),
  );
  const readable = new Set(reviewed.filter((_, i) => may[i]).map(refKey));
  return denied(denial.reason, denialText(denial, namespace, readable), warnings);
}

export function reviewOf(request: AdmissionRequest, decision: AdmissionDecision): AdmissionReview {
  return { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response: responseOf(request, decision) };
}

function responseOf(request: AdmissionRequest, decision: AdmissionDecision): AdmissionResponse {
  const response: AdmissionResponse = { uid: request.uid, allowed: decision.allowed };
  if (decision.warnings?.length) response.warnings = decision.warnings.map((warning) => shorten(oneLine(warning)));
  if (!decision.allowed) {
    response.status = {
      code: 403,
      reason: 'Forbidden',
      message: withCommands(decision.message, ...(decision.commands ?? [])),
    };
    return response;
  }
  if (decision.audit) response.auditAnnotations = decision.audit;
  if (!decision.object || !request.object) return response;
  const patch = patchOf(request.object, decision.object);
  if (patch.length === 0) return response;
  response.patchType = 'JSONPatch';
  response.patch = Buffer.from(JSON.stringify(patch)).toString('base64');
  return response;
}

function shorten(warning: string): string {
  return warning.length <= MAX_WARNING_CHARACTERS ? warning : `${warning.slice(0, MAX_WARNING_CHARACTERS - 1)}…`;
}

type Operation = { op: 'add' | 'replace'; path: string; value: unknown } | { op: 'remove'; path: string };

/** The length of the longest paths, `/metadata/annotations/<key>` and `/spec/postBuild/substitute`. */
const MAX_PATH_LENGTH = 3;

/**
 * The JSON Patch (RFC 6902) from one object to the other. A deeper value is replaced as a whole: patches of single
 * fields repeat their paths, which for deeply nested values is many times the size of the object.
 */
export function patchOf(before: unknown, after: unknown, path: readonly string[] = []): Operation[] {
  if (before !== undefined && sameJson(before, after)) return [];
  const at = jsonPointer(path);
  if (after === undefined) return before === undefined ? [] : [{ op: 'remove', path: at }];
  if (before === undefined) return [{ op: 'add', path: at, value: after }];
  if (path.length === MAX_PATH_LENGTH || !isMap(before) || !isMap(after))
    return [{ op: 'replace', path: at, value: after }];
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...keys].flatMap((key) => patchOf(childOf(before, key), childOf(after, key), [...path, key]));
}
