/**
 * One-shot annotations on a Rollout.
 * The webhook records for each its user, and the uid of the admission request that set it. A plan acts on each uid once
 * and records it in `status.handledRequest`; then the decorator removes the annotation.
 */
import type { AdmissionRequest } from '../../../api/admission.ts';
import {
  BYPASS_ROLLOUT_GATES,
  DEPLOY_MESSAGE,
  DEPLOY_USER,
  FORCE_DEPLOY,
  ONE_SHOT,
  REQUEST,
  ROLLOUT_PREFIX,
  UNBLOCK_FAILED,
} from '../../../api/annotations.ts';
import type { EpochMs } from '../../../api/kubernetes.ts';
import type { Rollout, VersionInfo } from '../../../api/types.ts';
import { childOf } from '../../kube/json.ts';
import { formatTime } from '../../kube/time.ts';
import { pinRecordOf } from '../../record/pinAndSchedule.ts';
import {
  type Entry,
  newRequest,
  parseRecord,
  type RecordedRequest,
  requestInEntry,
  type StoredChange,
  storedEntry,
} from '../../record/record.ts';

/** One-shot annotations whose value is a version. */
export const NAME_A_VERSION = [FORCE_DEPLOY, BYPASS_ROLLOUT_GATES] as const;

/** The id of a request that no webhook has seen. */
const UNSTAMPED = 'unstamped';

type OneShot = (typeof ONE_SHOT)[number];

/** The key of a request in `status.handledRequest`: `retry` for `rollout.kuberik.com/retry`. */
export type RequestKey = OneShot extends `${typeof ROLLOUT_PREFIX}${infer Key}` ? Key : never;

/** The versions that a write requests: a withdrawn or unchanged request isn't one. */
interface NewRequests {
  wantedVersion?: string;
  forceDeploy?: string;
  bypassGates?: string;
}

/**
 * The versions that the write of a Rollout requests.
 * @param old undefined for a new Rollout
 */
export function newRequests(rollout: Rollout, old: Rollout | undefined): NewRequests {
  const ifNew = (read: (each: Rollout) => string | undefined) => {
    const version = read(rollout);
    return version && version !== (old && read(old)) ? version : undefined;
  };
  return {
    wantedVersion: ifNew(({ spec }) => spec?.wantedVersion),
    forceDeploy: ifNew(({ metadata }) => metadata.annotations?.[FORCE_DEPLOY]),
    bypassGates: ifNew(({ metadata }) => metadata.annotations?.[BYPASS_ROLLOUT_GATES]),
  };
}

/** The annotation's key without its prefix: `force-deploy`. */
export function requestKey(annotation: OneShot): RequestKey {
  return annotation.slice(ROLLOUT_PREFIX.length) as RequestKey;
}

/** A request whose annotation is set. */
interface SetRequest {
  annotation: OneShot;
  key: RequestKey;
  value: string;
  /** Absent for a request that no webhook has seen. */
  record: RecordedRequest | undefined;
  /**
   * The uid of the admission request that made it. A request without a record keeps the id under which it took effect:
   * an earlier commit recorded it in another form, and it must not act again.
   */
  id: string;
  /** Whether it has taken effect. */
  isHandled: boolean;
}

export function setRequests({ metadata: { annotations }, status }: Rollout): SetRequest[] {
  const records = parseRecord(annotations?.[REQUEST]);
  return ONE_SHOT.flatMap((annotation) => {
    const value = annotations?.[annotation];
    if (value === undefined) return [];
    const key = requestKey(annotation);
    const record = requestInEntry(childOf(records, key) as Entry);
    const handled = status?.handledRequest?.[key];
    const id = record?.id ?? handled ?? UNSTAMPED;
    return [{ annotation, key, value, record, id, isHandled: handled === id }];
  });
}

/**
 * The text of the annotation REQUEST after a write; undefined without requests. A new or changed annotation is a
 * request of this write. Others keep their record, whatever text the write contains.
 */
export function nextRequestRecord(
  rollout: Rollout,
  old: Rollout | undefined,
  request: Pick<AdmissionRequest, 'uid' | 'userInfo'>,
  now: EpochMs,
): string | undefined {
  const annotations = old?.metadata.annotations;
  const known = old ? setRequests(old) : [];
  const records = setRequests(rollout).flatMap(({ annotation, key, value }) => {
    const isOld = value === annotations?.[annotation];
    const record = isOld ? known.find((each) => each.key === key)?.record : newRequest(request, now);
    return record ? [[key, storedEntry(record)] as const] : [];
  });
  return records.length > 0 ? JSON.stringify(Object.fromEntries(records)) : undefined;
}

/** The requests in the annotations of a Rollout that have not taken effect. */
export interface Requests {
  /** The version that may bypass RolloutGates. */
  bypassGates?: string;
  forceDeploy?: string;
  deployMessage?: string;
  deployUser?: string;
  unblockFailed: boolean;
  retry: boolean;
  /** The keys of all pending requests, in the order of ONE_SHOT. */
  pending: readonly RequestKey[];
  /** Requests that the plan has used up. They are handled once its status is stored. */
  used: ReadonlySet<RequestKey>;
}

/** The pending requests. */
export function requestsOf(rollout: Rollout, used: ReadonlySet<RequestKey> = new Set()): Requests {
  const pending = setRequests(rollout).filter(({ key, isHandled }) => !isHandled && !used.has(key));
  const value = (annotation: OneShot) => pending.find((each) => each.annotation === annotation)?.value || undefined;
  return {
    bypassGates: value(BYPASS_ROLLOUT_GATES),
    forceDeploy: value(FORCE_DEPLOY),
    deployMessage: value(DEPLOY_MESSAGE),
    deployUser: value(DEPLOY_USER),
    unblockFailed: value(UNBLOCK_FAILED) === 'true',
    retry: pending.some(({ key }) => key === 'retry'),
    pending: pending.map(({ key }) => key),
    used,
  };
}

/** The requests after a step of the plan that uses up these. */
export function withUsed(rollout: Rollout, { used }: Requests, keys: readonly RequestKey[]): Requests {
  return requestsOf(rollout, new Set([...used, ...keys]));
}

// The end of each request: no request from before a deployment acts on a later one. A retry uses up its own request.

/** The message and the user of a manual deployment, which wait with it. */
const DEPLOY_TEXTS: readonly RequestKey[] = ['deploy-message', 'deploy-user'];

/**
 * Requests that change nothing. They are used up at once, or they would act on a later deployment.
 * @param wantedVersion the pinned version
 */
export function idleRequests(
  { forceDeploy, bypassGates, unblockFailed, pending }: Requests,
  wantedVersion: string | undefined,
  head: { version: { tag: string }; bakeStatus?: string } | undefined,
): RequestKey[] {
  const deployed = head?.version.tag;
  const isManualAwaited = [forceDeploy, wantedVersion].some((version) => version && version !== deployed);
  const idle: RequestKey[] = isManualAwaited ? [] : pending.filter((key) => DEPLOY_TEXTS.includes(key));
  if (!head) return idle;
  if (forceDeploy === deployed) idle.push('force-deploy');
  if (bypassGates === deployed) idle.push('bypass-gates');
  if (unblockFailed && head.bakeStatus !== 'Failed') idle.push('unblock-failed');
  return idle;
}

/** The requests that a deployment of the tag uses up: all pending ones, except a force-deploy of another version. */
export function requestsUsedBy(tag: string, requests: Requests): RequestKey[] {
  const waits: readonly RequestKey[] = isForceDeployOfAnother(tag, requests) ? ['force-deploy', ...DEPLOY_TEXTS] : [];
  return requests.pending.filter((key) => !waits.includes(key));
}

export function isForceDeployOfAnother(tag: string, { forceDeploy }: Requests): boolean {
  return forceDeploy !== undefined && forceDeploy !== tag;
}

/** The next `status.handledRequest`: an entry lives as long as its annotation. */
export function handledRequests(
  rollout: Rollout,
  used: ReadonlySet<RequestKey>,
): Partial<Record<RequestKey, string>> | undefined {
  const before = rollout.status?.handledRequest ?? {};
  const after = setRequests(rollout).flatMap(({ key, id }) => {
    const handled = used.has(key) ? id : before[key];
    return handled === undefined ? [] : [[key, handled] as const];
  });
  return after.length > 0 ? Object.fromEntries(after) : undefined;
}

/** The version that a bypass names, if it is no release yet. The request stays until a deployment uses it up. */
export function unknownBypass({ bypassGates }: Requests, available: readonly VersionInfo[]): string | undefined {
  return available.some(({ tag }) => tag === bypassGates) ? undefined : bypassGates;
}

/** The sentence for a request of a version that is no release yet. */
export function unavailableText(request: 'bypass-gates' | 'force-deploy', version: string): string {
  return `${request}: version ${version} is not an available release yet: the request waits until it is`;
}

// The requester of a version.

const PARTS = ['wantedVersion', 'force-deploy', 'bypass-gates'] as const;
type Part = (typeof PARTS)[number];

/** The user who requested a deployment, and the time. */
type Requester = Pick<StoredChange, 'by' | 'at'>;

/** The requester of this version; undefined if there is none or no record. A pin comes before a force-deploy. */
export function requesterOf(rollout: Rollout, version: string): Requester | undefined {
  const part = partsRequesting(rollout, version).find((each) => each !== 'bypass-gates');
  return part && recordedRequester(rollout, part);
}

/** A request for a version, and its user if that is known. */
export interface VersionRequest {
  by?: string;
  /** The field or annotation that names the version. */
  where: string;
}

const WHERE: Record<Part, string> = {
  wantedVersion: 'spec.wantedVersion',
  'force-deploy': FORCE_DEPLOY,
  'bypass-gates': BYPASS_ROLLOUT_GATES,
};

/** All requests for this version, including those that only bypass RolloutGates. */
export function versionRequests(rollout: Rollout, version: string): VersionRequest[] {
  return partsRequesting(rollout, version).map((part) => {
    return { where: WHERE[part], by: recordedRequester(rollout, part)?.by };
  });
}

/** The request for a version that waits: `requested by alice at …`; empty if the requester is unknown. */
export function requestedText(rollout: Rollout, version: string): string {
  const requester = requesterOf(rollout, version);
  return requester ? `requested by ${requester.by} at ${requester.at}` : '';
}

function partsRequesting(rollout: Rollout, version: string): Part[] {
  const { forceDeploy, bypassGates } = requestsOf(rollout);
  const requested: Record<Part, string | undefined> = {
    wantedVersion: rollout.spec?.wantedVersion || undefined,
    'force-deploy': forceDeploy,
    'bypass-gates': bypassGates,
  };
  return PARTS.filter((part) => requested[part] === version);
}

function recordedRequester(rollout: Rollout, part: Part): Requester | undefined {
  if (part === 'wantedVersion') {
    const pin = pinRecordOf(rollout);
    return pin && { by: pin.by, at: pin.at };
  }
  const record = setRequests(rollout).find(({ key }) => key === part)?.record;
  return record && { by: record.by, at: formatTime(record.at) };
}
