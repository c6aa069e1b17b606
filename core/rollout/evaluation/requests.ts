/**
 * One-shot annotations on a Rollout. The webhook notes beside each the uid of the admission request that set it; such a request is
 * acted on once and recorded in `status.handledRequest`, after which the decorator removes the annotation.
 */
import {
  BYPASS_ROLLOUT_GATES,
  DEPLOY_MESSAGE,
  DEPLOY_USER,
  FORCE_DEPLOY,
  ONE_SHOT,
  REQUEST,
  RETRY,
  ROLLOUT_PREFIX,
  UNBLOCK_FAILED,
} from '../../../api/annotations.ts';
import type { Rollout } from '../../../api/types.ts';

/** One-shot annotations whose value is a version. */
export const NAME_A_VERSION = [FORCE_DEPLOY, BYPASS_ROLLOUT_GATES] as const;

/** The id of a request that no webhook has seen. */
const UNSEEN = 'unstamped';

type OneShot = (typeof ONE_SHOT)[number];

/** `retry` for `rollout.kuberik.com/retry`; keys of `status.handledRequest`. */
export type RequestKey = OneShot extends `${typeof ROLLOUT_PREFIX}${infer Key}` ? Key : never;

/** Uid of the admission request that made each request. */
export type RequestIds = Partial<Record<RequestKey, string>>;

type Annotations = Readonly<Record<string, string>>;

export function requestKey(annotation: OneShot): RequestKey {
  return annotation.slice(ROLLOUT_PREFIX.length) as RequestKey;
}

/** Reads `<key>=<admission uid>`, joined with commas; parts of another form are left out. */
export function parseRequestIds(text: string | undefined): RequestIds {
  const entries = (text ?? '').split(',').map((part) => part.split('='));
  return Object.fromEntries(entries.filter(([key, id, ...rest]) => key && id && rest.length === 0));
}

export function formatRequestIds(ids: Readonly<RequestIds>): string {
  return Object.entries(ids)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, id]) => `${key}=${id}`)
    .join(',');
}

/** Of each request whose annotation is there. */
export function requestIdsOf(annotations: Annotations | undefined): RequestIds {
  const noted = parseRequestIds(annotations?.[REQUEST]);
  const ids: RequestIds = {};
  for (const annotation of ONE_SHOT) {
    const key = requestKey(annotation);
    if (annotations?.[annotation] !== undefined) ids[key] = noted[key] ?? UNSEEN;
  }
  return ids;
}

/** What is asked for and not yet handled. */
export interface Requests {
  /** The version that may pass the RolloutGates. */
  bypassGates?: string;
  forceDeploy?: string;
  deployMessage?: string;
  deployUser?: string;
  unblockFailed: boolean;
  retry: boolean;
  /** Keys of these, in the order of documentation. */
  pending: readonly RequestKey[];
}

/** `used`: requests that a plan has used up, and that are not recorded as handled yet. */
export function requestsOf({ metadata, status }: Rollout, used: ReadonlySet<RequestKey> = new Set()): Requests {
  const { annotations } = metadata;
  const handled = status?.handledRequest ?? {};
  const ids = requestIdsOf(annotations);
  const isPending = (key: RequestKey) => ids[key] !== undefined && handled[key] !== ids[key] && !used.has(key);
  const value = (annotation: OneShot) =>
    isPending(requestKey(annotation)) ? annotations?.[annotation] || undefined : undefined;
  return {
    ...defined({
      bypassGates: value(BYPASS_ROLLOUT_GATES),
      forceDeploy: value(FORCE_DEPLOY),
      deployMessage: value(DEPLOY_MESSAGE),
      deployUser: value(DEPLOY_USER),
    }),
    unblockFailed: value(UNBLOCK_FAILED) === 'true',
    retry: isPending(requestKey(RETRY)),
    pending: ONE_SHOT.map(requestKey).filter(isPending),
  };
}

/** Requests for what is so already: used up at once, or they would act later. */
export function idleRequests(
  { forceDeploy, bypassGates, unblockFailed }: Requests,
  head: { version: { tag: string }; bakeStatus?: string } | undefined,
): RequestKey[] {
  if (!head) return [];
  const idle: RequestKey[] = [];
  if (forceDeploy === head.version.tag) idle.push('force-deploy');
  if (bypassGates === head.version.tag) idle.push('bypass-gates');
  if (unblockFailed && head.bakeStatus !== 'Failed') idle.push('unblock-failed');
  return idle;
}

/** `status.handledRequest` once `used` are used up: an entry lives as long as its annotation. */
export function handledRequests({ metadata, status }: Rollout, used: ReadonlySet<RequestKey>): RequestIds | undefined {
  const before: RequestIds = status?.handledRequest ?? {};
  const after: RequestIds = {};
  for (const [key, id] of Object.entries(requestIdsOf(metadata.annotations)) as [RequestKey, string][]) {
    if (used.has(key)) after[key] = id;
    else if (before[key] !== undefined) after[key] = before[key];
  }
  return Object.keys(after).length > 0 ? after : undefined;
}

/** The annotations whose request is used up: exactly these may be removed. */
export function usedAnnotations({ metadata, status }: Rollout): string[] {
  const handled = status?.handledRequest ?? {};
  const ids = requestIdsOf(metadata.annotations);
  return ONE_SHOT.filter((annotation) => {
    const id = ids[requestKey(annotation)];
    return id !== undefined && handled[requestKey(annotation)] === id;
  });
}

function defined<T extends object>(record: { [K in keyof T]: T[K] | undefined }): Partial<T> {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined)) as Partial<T>;
}
