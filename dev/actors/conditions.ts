/** What Flux's controllers write into every status. */
import type { AnyObject } from '../client/send.ts';
import type { User } from './user.ts';

/** Whole seconds. */
export const now = (flux: Pick<User, 'now'>) => `${new Date(flux.now()).toISOString().slice(0, 19)}Z`;

/** Flux echoes the newest request to reconcile that it has seen, also of a suspended object. */
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

/** Flux's own patcher keeps conditions of other types; the list is atomic to everybody else. */
export function conditions({ status }: AnyObject, own: { type: string }[]): { type: string }[] {
  const types = new Set(own.map(({ type }) => type));
  const others = (status?.conditions ?? []).filter(({ type }: { type: string }) => !types.has(type));
  return [...own, ...others];
}
