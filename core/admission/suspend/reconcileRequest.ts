/** `reconcile.fluxcd.io/requestedAt`, Flux's annotation for "now, please", and its echo `status.lastHandledReconcileAt`. */
import { RECONCILE_REQUESTED_AT } from '../../../api/annotations.ts';
import type { FluxObject } from '../../../api/flux.ts';
import type { EpochMs } from '../../../api/kubernetes.ts';
import type { FluxBinding } from '../../../api/types.ts';
import { formatInstant, parseTime } from '../../kube/time.ts';

/**
 * Whether a reconciliation that was asked for at `since` or later has begun and ended, with whatever result: Flux echoes
 * the request at the end, and the one it had seen at the beginning. It counts by its own time, and only up to `now`: the
 * clock of whoever asked may be ahead.
 */
export function hasComeTo(object: FluxObject, since: EpochMs, now: EpochMs): boolean {
  const handled = object.status?.lastHandledReconcileAt;
  const last = typeof handled === 'string' ? parseTime(handled) : undefined;
  return !isOutstanding(object) && last !== undefined && last >= since && last <= now;
}

/**
 * What the annotation of the applier should say: the instant of the newest opening, so that asking twice is asking once.
 * undefined when no object waits, or where an apply after that instant was asked for already. A request that is not handled
 * yet ends in another look here, so many openings cost one request per apply.
 */
export function reconcileRequest(
  applier: FluxObject,
  bindings: readonly FluxBinding[],
  now: EpochMs,
): string | undefined {
  const openings = bindings.flatMap(({ spec }) => parseTime(spec?.awaits?.since) ?? []);
  if (openings.length === 0 || isOutstanding(applier)) return undefined;
  const newest = Math.max(...openings);
  return hasComeTo(applier, newest, now) ? undefined : formatInstant(newest);
}

function isOutstanding({ metadata, status }: FluxObject): boolean {
  const requested = metadata.annotations?.[RECONCILE_REQUESTED_AT];
  return requested !== undefined && requested !== status?.lastHandledReconcileAt;
}
