/**
 * One-shot annotations on a Rollout. The webhook stamps each with the admission request that set it; a stamp is acted on
 * once and recorded in `status.handledRequest`, after which the decorator removes the annotation (DESIGN section 5).
 */
import {
  BYPASS_GATES,
  BYPASS_REASON,
  BYPASSED_GATES,
  DEPLOY_MESSAGE,
  DEPLOY_USER,
  FORCE_DEPLOY,
  ONE_SHOT,
  REQUEST,
  RETRY,
  ROLLOUT_PREFIX,
  UNBLOCK_FAILED,
} from '../../api/annotations.ts';
import type { Rollout } from '../../api/types.ts';

/** The stamp of an annotation that no webhook has seen. */
const UNSTAMPED = 'unstamped';

type Annotations = Readonly<Record<string, string>>;
export type RequestKey = string;

/** Stamp of a broken glass. Its annotation, the reason, stays as the record. */
export const GLASS_KEY = 'glass';

/** `retry` for `rollout.kuberik.com/retry`. */
export function requestKey(annotation: string): RequestKey {
  return annotation.slice(ROLLOUT_PREFIX.length);
}

/** `<key>=<admission uid>`, joined with commas. */
export function parseRequests(text: string | undefined): Record<RequestKey, string> {
  const entries = (text ?? '').split(',').map((part) => part.split('='));
  return Object.fromEntries(entries.filter((e): e is [string, string] => e.length === 2 && e.every((t) => t !== '')));
}

export function formatRequests(stamps: Readonly<Record<RequestKey, string>>): string {
  return Object.entries(stamps)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, uid]) => `${key}=${uid}`)
    .join(',');
}

/** Stamp of each one-shot annotation that is there. */
export function stampsOf(annotations: Annotations | undefined): Record<RequestKey, string> {
  const stamped = parseRequests(annotations?.[REQUEST]);
  const present = ONE_SHOT.filter((annotation) => annotations?.[annotation] !== undefined).map(requestKey);
  const stamps = Object.fromEntries(present.map((key) => [key, stamped[key] ?? UNSTAMPED]));
  const glass = annotations?.[BYPASS_REASON] === undefined ? undefined : stamped[GLASS_KEY];
  return glass === undefined ? stamps : { ...stamps, [GLASS_KEY]: glass };
}

/** What is asked for and not yet handled. */
export interface Requests {
  bypassGates?: string;
  forceDeploy?: string;
  deployMessage?: string;
  deployUser?: string;
  unblockFailed: boolean;
  retry: boolean;
  /** `namespace/name` of the closed Gates that the next deployment may pass; undefined where no glass is broken. */
  glass?: readonly string[];
  /** Keys of these, in the order of documentation. */
  pending: readonly RequestKey[];
}

/** `used`: requests that a plan in the making has used up already. */
export function requestsOf(rollout: Rollout, used: ReadonlySet<RequestKey> = new Set()): Requests {
  const { annotations } = rollout.metadata;
  const handled = rollout.status?.handledRequest ?? {};
  const stamps = stampsOf(annotations);
  const pending = ONE_SHOT.filter((annotation) => {
    const key = requestKey(annotation);
    return annotations?.[annotation] !== undefined && handled[key] !== stamps[key] && !used.has(key);
  });
  const value = (annotation: (typeof ONE_SHOT)[number]) =>
    pending.includes(annotation) ? annotations?.[annotation] || undefined : undefined;
  const isOpen = stamps[GLASS_KEY] !== undefined && handled[GLASS_KEY] !== stamps[GLASS_KEY] && !used.has(GLASS_KEY);
  return {
    ...(isOpen && { glass: (annotations?.[BYPASSED_GATES] ?? '').split(',') }),
    ...defined({
      bypassGates: value(BYPASS_GATES),
      forceDeploy: value(FORCE_DEPLOY),
      deployMessage: value(DEPLOY_MESSAGE),
      deployUser: value(DEPLOY_USER),
    }),
    unblockFailed: value(UNBLOCK_FAILED) === 'true',
    retry: pending.includes(RETRY),
    pending: [...pending.map(requestKey), ...(isOpen ? [GLASS_KEY] : [])],
  };
}

/** `status.handledRequest` once `used` are used up: an entry lives as long as its annotation. */
export function handledRequests(
  rollout: Rollout,
  used: ReadonlySet<RequestKey>,
): Record<RequestKey, string> | undefined {
  const before = rollout.status?.handledRequest ?? {};
  const after: Record<RequestKey, string> = {};
  for (const [key, stamp] of Object.entries(stampsOf(rollout.metadata.annotations))) {
    if (used.has(key)) after[key] = stamp;
    else if (before[key] !== undefined) after[key] = before[key];
  }
  return Object.keys(after).length > 0 ? after : undefined;
}

/** The annotations whose request is used up: exactly these may be removed. */
export function usedAnnotations(rollout: Rollout): string[] {
  const handled = rollout.status?.handledRequest ?? {};
  const stamps = stampsOf(rollout.metadata.annotations);
  return ONE_SHOT.filter((a) => {
    const stamp = stamps[requestKey(a)];
    return stamp !== undefined && handled[requestKey(a)] === stamp;
  });
}

function defined<T extends object>(record: { [K in keyof T]: T[K] | undefined }): Partial<T> {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined)) as Partial<T>;
}
