/** A planned write: what a user requests, as one request to the API server, and as a kubectl command. */
import { CHANGE_CAUSE, REASON } from '../../../api/annotations.ts';
import { apiVersionOf, GOVERNED_KINDS, KINDS, type KindName } from '../../../api/kinds.ts';
import type { EpochMs, KubeObject, NamespacedName } from '../../../api/kubernetes.ts';
import { formatTime, wholeSeconds } from '../../../core/kube/time.ts';
import { type Expanded, NOW, quote, shell, WHY } from '../../../core/text/shell.ts';
import { type ObjectRef, objectRef } from '../../explain/application.ts';

export interface WriteRequest {
  object: ObjectRef;
  apiVersion: string;
  /** The text after the write, without a full stop: `Pinned Rollout shop/checkout to 1.4.0`. */
  text: string;
  /** A merge patch, or with `creates` the whole object. */
  body: MergePatch;
  creates?: true;
  /**
   * The patch of kubectl instead of a body that replaces a list: it changes one entry and keeps those of other clients.
   */
  jsonPatch?: readonly JsonPatchOperation[];
  /** Texts that the user has to confirm first, a sentence each. Empty for a write that can be undone. */
  concerns: readonly string[];
  /** The version that a Rollout deploys after the write; without one, the next version. Absent if unknown. */
  brings?: { version?: string };
  /**
   * The state that the write was planned from, in a few words: if another write has changed it, this one is
   * refused, not planned again.
   */
  basis?: string;
}

/** No write is needed. `isWrong`: the request is invalid, and the sentence has the cause. */
export interface NoRequest {
  none: string;
  isWrong: boolean;
}

export type PlannedWrite = WriteRequest | NoRequest;

/** The progress of an object with a request. */
export interface Reached {
  is: 'reached' | 'failed' | 'under way';
  text: string;
}

export interface MergePatch {
  apiVersion?: string;
  kind?: string;
  metadata?: {
    annotations?: Record<string, string | null>;
    /** The write is refused where the object has changed since it was read. */
    resourceVersion?: string;
    [field: string]: unknown;
  };
  spec?: Record<string, unknown>;
}

export interface JsonPatchOperation {
  op: 'add' | 'remove' | 'test';
  path: string;
  value?: unknown;
}

interface WriteTexts {
  text: string;
  concerns?: readonly string[];
  brings?: { version?: string };
}

export function patching(kind: KindName, ref: NamespacedName, body: MergePatch, saying: WriteTexts): WriteRequest {
  const { text, concerns = [], brings } = saying;
  const apiVersion = apiVersionOf(KINDS[kind]);
  return { object: objectRef(kind, ref), apiVersion, text, body, concerns, ...(brings && { brings }) };
}

export function creating(
  kind: KindName,
  object: KubeObject<any, any>,
  { text, concerns = [] }: WriteTexts,
): WriteRequest {
  const { namespace = '', name = '' } = object.metadata;
  const { apiVersion, metadata, spec } = object;
  const body = { apiVersion, kind: object.kind, metadata: { ...metadata }, spec } as MergePatch;
  return { object: objectRef(kind, { namespace, name }), apiVersion, text, body, creates: true, concerns };
}

export const nothing = (none: string): NoRequest => ({ none, isWrong: false });
export const wrong = (none: string): NoRequest => ({ none, isWrong: true });

/**
 * The metadata of a patch, or nothing. `unchanged`: the object that was read; the write is refused if
 * it has changed since.
 */
export function patchMetadata(
  annotations: Record<string, string | null>,
  unchanged?: KubeObject<any, any>,
): MergePatch {
  const { resourceVersion } = unchanged?.metadata ?? {};
  const metadata = {
    ...(Object.keys(annotations).length > 0 && { annotations }),
    ...(resourceVersion && { resourceVersion }),
  };
  return Object.keys(metadata).length > 0 ? { metadata } : {};
}

/** Why a request is refused whose user saw another state than `basis`; undefined: it is accepted. */
export function basisProblem(basis: string | undefined, request: WriteRequest): string | undefined {
  if (basis === undefined || request.basis === basis) return undefined;
  return `This was planned for ${basis}, and now there is ${request.basis}. Nothing was changed.`;
}

export function isRequest(planned: PlannedWrite): planned is WriteRequest {
  return !('none' in planned);
}

/**
 * The reason for a changed list, pin or RolloutGate: the webhook removes the annotation and records it with the user.
 */
export function because(reason: string | undefined): Record<string, string> {
  return reason ? { [REASON]: reason } : {};
}

/** A reason for an action without its own reason annotation: Kubernetes' annotation. */
export function changeCause(what: string, reason: string | undefined): Record<string, string> {
  return reason ? { [CHANGE_CAUSE]: `${what}: ${reason}` } : {};
}

/** The name of an object in messages: `Rollout shop/checkout`. */
export function named(kind: KindName, { namespace, name }: NamespacedName): string {
  return `${kind} ${namespace ? `${namespace}/` : ''}${name}`;
}

/** Why nothing is created. */
export function existsText({ kind, namespace, name }: NamespacedName & { kind: KindName }): string {
  return `${named(kind, { namespace, name })} already exists. Nothing was changed.`;
}

export const PROGRAM = 'kubectl rollouts';
/** The program's name in a command line that `shell` builds. */
export const OURS: Expanded = { expanded: PROGRAM };

/**
 * Our field manager. Its name doesn't begin with `kubectl`: kustomize-controller removes fields of such managers from
 * objects that come from Git.
 */
export const FIELD_MANAGER = 'rollouts-cli';

/** Placeholder for a reason that the user has not given yet. */
export const TO_FILL_IN = '<why>';

/**
 * The equivalent kubectl command. A condition on the resourceVersion is left out, because it is for one moment. `now`:
 * a time of this second becomes the time at which the command is run.
 */
export function kubectlOf({ object, body, creates, jsonPatch }: WriteRequest, now?: EpochMs): string {
  const kubectl = `kubectl${object.namespace ? shell` -n ${object.namespace}` : ''}`;
  if (creates) return `${kubectl} create -f - <<'EOF'\n${JSON.stringify(body, undefined, 2)}\nEOF`;
  const target = `${object.kind.toLowerCase()}/${object.name}`;
  if (jsonPatch) return `${kubectl} patch ${quote(target)} --type=json -p ${quote(JSON.stringify(jsonPatch))}`;
  const { metadata: { annotations, resourceVersion: _, ...metadata } = {}, ...rest } = body;
  const isAnnotation = Object.keys(rest).length + Object.keys(metadata).length === 0;
  if (annotations && isAnnotation) {
    const atRun = now === undefined ? undefined : formatTime(wholeSeconds(now));
    const marks = Object.entries(annotations).map(([key, value]) => {
      if (value === null) return quote(`${key}-`);
      return shell`${key}=${value === atRun ? NOW : value === TO_FILL_IN ? WHY : value}`;
    });
    const owner = GOVERNED_KINDS.some(({ kind }) => kind === object.kind) ? ` --field-manager=${FIELD_MANAGER}` : '';
    return `${kubectl} annotate --overwrite${owner} ${quote(target)} ${marks.join(' ')}`;
  }
  const shown = annotations || Object.keys(metadata).length > 0 ? { metadata: { ...metadata, annotations } } : {};
  return `${kubectl} patch ${quote(target)} --type=merge -p ${quote(JSON.stringify({ ...shown, ...rest }))}`;
}
