/** The write that a user requests, as one request to the API server and as a kubectl command. */
import { CHANGE_CAUSE, REASON } from '../../../api/annotations.ts';
import { apiVersionOf, GOVERNED_KINDS, KINDS, type KindName } from '../../../api/kinds.ts';
import type { AnyObject, EpochMs, NamespacedName } from '../../../api/kubernetes.ts';
import type { APPROVAL_KEYS, Approval } from '../../../core/approval/approvalRecord.ts';
import { jsonPointer } from '../../../core/kube/json.ts';
import { identityOf, refKey } from '../../../core/kube/names.ts';
import { formatTime, wholeSeconds } from '../../../core/kube/time.ts';
import { type Expanded, NOW, quote, shell, WHY } from '../../../core/text/shell.ts';
import { type ObjectRef, objectRef } from '../../explain/application.ts';

/** A write to the API server, with the texts for its user. */
export interface WriteRequest {
  object: ObjectRef;
  apiVersion: string;
  /** The text after the write, without a full stop: `Pinned Rollout shop/checkout to 1.4.0`. */
  text: string;
  /** A merge patch; with `creates` the whole object. */
  body: MergePatch;
  creates?: true;
  /** The patch for kubectl if the body replaces a list: it changes one entry and keeps those of other clients. */
  jsonPatch?: readonly JsonPatchOperation[];
  /** Texts that the user has to confirm first, a sentence each. Empty for a write that can be undone. */
  concerns: readonly string[];
  /** The version that a Rollout deploys after the write; without one the next. Absent if the write deploys none. */
  brings?: { version?: string };
  /** The approval that the webhook records or removes. */
  approval?: ApprovalChange;
  /** The state that the write was planned from, in words. If that has changed, the write is denied. */
  basis?: string;
}

/** The change of the webhook's record that a write requests. */
export interface ApprovalChange {
  kind: keyof typeof APPROVAL_KEYS;
  is: 'given' | 'withdrawn';
  /** The recorded approvals of the version before the write. */
  before: readonly Approval[];
  /** The version, or that of one Rollout: `shop/web:1.2.0`. */
  version: string;
}

/** A request that leads to no write. */
export interface NoRequest {
  /** The cause, a sentence. */
  none: string;
  /** Whether the request is invalid; otherwise the object is already in the requested state. */
  isWrong: boolean;
}

/** The write of an action, or why there is none. */
export type PlannedWrite = WriteRequest | NoRequest;

/** The progress of a request on an object. */
export interface Progress {
  is: 'reached' | 'failed' | 'under way';
  text: string;
}

/** A JSON merge patch (RFC 7396) of an object. */
export interface MergePatch {
  apiVersion?: string;
  kind?: string;
  metadata?: {
    annotations?: Record<string, string | null>;
    /** Makes the API server reject the write if the object has changed since it was read. */
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

type Texts = Pick<WriteRequest, 'text'> &
  Partial<Pick<WriteRequest, 'concerns' | 'brings' | 'basis' | 'jsonPatch' | 'approval'>>;

/** The write that changes the object by a merge patch. */
export function patchWrite(object: AnyObject, body: MergePatch, texts: Texts): WriteRequest {
  const kind = object.kind as KindName;
  const to = { object: objectRef(kind, identityOf(object)), apiVersion: apiVersionOf(KINDS[kind]) };
  return { ...to, body, concerns: [], ...texts };
}

/** A new object of a kind, for `createWrite`. */
export function newObject<T extends AnyObject>(name: KindName, metadata: AnyObject['metadata'], spec: object): T {
  return { apiVersion: apiVersionOf(KINDS[name]), kind: name, metadata, spec } as T;
}

export function createWrite(object: AnyObject, texts: Texts): WriteRequest {
  const { apiVersion, kind, metadata, spec } = object;
  const body = { apiVersion, kind, metadata: { ...metadata }, spec } as MergePatch;
  return { ...patchWrite(object, body, texts), creates: true };
}

export const noChange = (none: string): NoRequest => ({ none, isWrong: false });
export const badRequest = (none: string): NoRequest => ({ none, isWrong: true });

/**
 * The metadata of a patch; empty if there is none. `unchanged`: the object that was read, if the API server has to
 * reject the write when that has changed since.
 */
export function patchMetadata(annotations: Record<string, string | null>, unchanged?: AnyObject): MergePatch {
  const { resourceVersion } = unchanged?.metadata ?? {};
  const metadata = {
    ...(Object.keys(annotations).length > 0 && { annotations }),
    ...(resourceVersion && { resourceVersion }),
  };
  return Object.keys(metadata).length > 0 ? { metadata } : {};
}

/** Why a request is rejected: its user saw another state, `basis`, or none. undefined: the state is the same. */
export function basisProblem(basis: string | undefined, request: WriteRequest): string | undefined {
  if (request.basis === basis) return undefined;
  const now = request.basis ?? 'another state';
  if (basis === undefined)
    return `Nothing was changed: the request doesn't name the state for which it was made, and now there is ${now}. Reload the page.`;
  return `Nothing was changed: the action was for ${basis}, and now there is ${now}.`;
}

export function isRequest(planned: PlannedWrite): planned is WriteRequest {
  return !('none' in planned);
}

/** The annotation with the reason for a changed list, pin or RolloutGate, which the webhook replaces by a record. */
export function reasonAnnotation(reason: string | undefined): Record<string, string> {
  return reason ? { [REASON]: reason } : {};
}

/**
 * The operations that set annotations. An object without annotations gets all of them at once, and only if it has not
 * changed since it was read: other annotations would be lost.
 */
export function annotateOperations({ metadata }: AnyObject, annotations: Record<string, string>): JsonPatchOperation[] {
  const { annotations: before = {}, resourceVersion } = metadata;
  if (Object.keys(annotations).length === 0) return [];
  if (Object.keys(before).length === 0) {
    const test = { op: 'test' as const, path: '/metadata/resourceVersion', value: resourceVersion };
    return [...(resourceVersion ? [test] : []), { op: 'add', path: '/metadata/annotations', value: annotations }];
  }
  return Object.entries(annotations).map(([key, value]) => ({
    op: 'add',
    path: jsonPointer(['metadata', 'annotations', key]),
    value,
  }));
}

/** Kubernetes' annotation for a reason, for actions without a reason annotation of their own. */
export function changeCause(what: string, reason: string | undefined): Record<string, string> {
  return reason ? { [CHANGE_CAUSE]: `${what}: ${reason}` } : {};
}

/** The name of an object in messages: `Rollout shop/checkout`. */
export function objectTitle(kind: KindName, ref: NamespacedName): string {
  return `${kind} ${refKey(ref)}`;
}

export function titleOf(object: AnyObject): string {
  return objectTitle(object.kind as KindName, identityOf(object));
}

/** The message if an object can't be created because it exists. */
export function existsText({ kind, ...ref }: NamespacedName & { kind: string }): string {
  return `${kind} ${refKey(ref)} already exists. Nothing was changed.`;
}

export const PROGRAM = 'kubectl rollouts';
/** The program's name, for command lines that `shell` builds. */
export const PROGRAM_WORD: Expanded = { expanded: PROGRAM };

/**
 * Our field manager. Its name doesn't begin with `kubectl`: kustomize-controller removes fields of such managers from
 * objects that come from Git.
 */
export const FIELD_MANAGER = 'rollouts-cli';

/** The placeholder for a reason that the user has not given yet. */
export const REASON_PLACEHOLDER = '<why>';

/**
 * The equivalent kubectl command, without the resourceVersion, which is soon outdated. `now`: an annotation with this
 * time gets the time at which the command is run.
 */
export function kubectlOf({ object, body, creates, jsonPatch }: WriteRequest, now?: EpochMs): string {
  const kubectl = `kubectl${object.namespace ? shell` -n ${object.namespace}` : ''}`;
  if (creates) return `${kubectl} create -f - <<'EOF'\n${JSON.stringify(body, undefined, 2)}\nEOF`;
  // Argo Rollouts has a kind of the same name, and `rollout` alone may mean that.
  const resource = object.kind === 'Rollout' ? `rollout.${object.group}` : object.kind.toLowerCase();
  const target = `${resource}/${object.name}`;
  if (jsonPatch) return `${kubectl} patch ${quote(target)} --type=json -p ${quote(JSON.stringify(jsonPatch))}`;
  const { metadata: { annotations, resourceVersion: _, ...metadata } = {}, ...rest } = body;
  const isAnnotation = Object.keys(rest).length + Object.keys(metadata).length === 0;
  if (annotations && isAnnotation) {
    const atRun = now === undefined ? undefined : formatTime(wholeSeconds(now));
    const words = Object.entries(annotations).map(([key, value]) => {
      if (value === null) return quote(`${key}-`);
      return shell`${key}=${value === atRun ? NOW : value === REASON_PLACEHOLDER ? WHY : value}`;
    });
    const owner = GOVERNED_KINDS.some(({ kind }) => kind === object.kind) ? ` --field-manager=${FIELD_MANAGER}` : '';
    return `${kubectl} annotate --overwrite${owner} ${quote(target)} ${words.join(' ')}`;
  }
  const shown = annotations || Object.keys(metadata).length > 0 ? { metadata: { ...metadata, annotations } } : {};
  return `${kubectl} patch ${quote(target)} --type=merge -p ${quote(JSON.stringify({ ...shown, ...rest }))}`;
}
