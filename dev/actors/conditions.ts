/** Parts of a status that all of Flux's controllers write. */
import type { AnyObject } from '../client/send.ts';
import { timestamp } from './timestamp.ts';
import type { User } from './user.ts';

export const now = (flux: Pick<User, 'now'>) => timestamp(flux.now());

/** The newest request to reconcile, which Flux copies into the status, even of a suspended object. */
export function echo({ metadata }: AnyObject): { lastHandledReconcileAt?: string } {
  const asked = metadata.annotations?.['reconcile.fluxcd.io/requestedAt'];
  return asked === undefined ? {} : { lastHandledReconcileAt: asked };
}

export function conditionAt(
  flux: Pick<User, 'now'>,
  type: string,
  observedGeneration: number | undefined,
  status: string,
  reason: string,
  message: string,
) {
  return { type, status, reason, message, observedGeneration, lastTransitionTime: now(flux) };
}

/** The conditions with `own` in place of those of the same types, as Flux's patcher merges them. */
export function conditions({ status }: AnyObject, own: { type: string }[]): { type: string }[] {
  const types = new Set(own.map(({ type }) => type));
  const others = (status?.conditions ?? []).filter(({ type }: { type: string }) => !types.has(type));
  return [...own, ...others];
}
