/** The closed Gates that stop a write, read live: a cache may still show a Gate as open. */
import type { WebhookCall } from '../api/ports.ts';
import type { FluxBinding, Rollout } from '../api/types.ts';
import { bindingsOfRollout, currentBindings } from '../core/binding/boundObjects.ts';
import { type ClosedGates, closedAmong, LIMIT_OF_GATES, type RequiredGates } from '../core/gate/closedGates.ts';
import { evaluateGates } from '../core/gate/evaluateGates.ts';
import { refKey } from '../core/kube/names.ts';
import { LIMITS } from '../core/limits.ts';
import {
  closedAgainstRemoval,
  droppedGates,
  evaluateGatesOfVersion,
  gatesOfRollouts,
  mayDropGates,
  requiredByBound,
  type VersionGates,
} from '../core/rollout/evaluation/gatesOfRollout.ts';
import { listBindableObjects, listBindings, readGates, readSelectingGates } from '../live/gateReads.ts';

/** The closed Gates among these. More Gates than the limit count as closed, and aren't read. */
export async function readClosedGates(
  { refs, limit }: RequiredGates,
  { cluster, now }: WebhookCall,
): Promise<ClosedGates | undefined> {
  if (refs.length > LIMITS.requiredGates) return closedAmong([], LIMIT_OF_GATES);
  return closedAmong(evaluateGates(refs, await readGates(refs, cluster), now), limit);
}

/**
 * The closed Gates that stop deployments of these Rollouts of one namespace: those that the Rollouts require
 * themselves, and those of all objects bound to them, even without a FluxBinding.
 */
export async function readClosedGatesOfRollouts(
  rollouts: readonly Rollout[],
  call: WebhookCall,
): Promise<ClosedGates | undefined> {
  const [first, ...others] = rollouts;
  return first && readClosedGates((await readRequired([first, ...others], call)).required, call);
}

/** The Gates that a deployment of the version requires, with openings and approvals for this version. */
export async function readGatesOfVersion(rollout: Rollout, version: string, call: WebhookCall): Promise<VersionGates> {
  const { required, bindings } = await readRequired([rollout], call);
  const gates = await readGates(required.refs, call.cluster);
  const bound = bindingsOfRollout(rollout, bindings);
  const { history = [], releaseAuthors: authors = [] } = rollout.status ?? {};
  const observed = { rollout, bindings: bound, requiredGates: required, gates };
  return evaluateGatesOfVersion({ observed, state: { history, authors }, now: call.now }, version);
}

/**
 * The closed Gates that stop a write that ends the Rollout: those of `readClosedGatesOfRollouts`, except names in
 * `spec.gates` for which no Gate has ever existed.
 */
export async function readClosedGatesBeforeRemoval(
  rollout: Rollout,
  call: WebhookCall,
): Promise<ClosedGates | undefined> {
  const { required, bindings } = await readRequired([rollout], call);
  const closed = await readClosedGates(required, call);
  return closedAgainstRemoval(closed, rollout, new Set(requiredByBound([rollout], bindings).refs.map(refKey)));
}

/**
 * The closed Gates that the Rollout no longer requires after the write, except names for which no Gate has ever
 * existed. Reads nothing if the write can't drop a Gate.
 */
export async function readDroppedClosedGates(
  rollout: Rollout,
  old: Rollout,
  call: WebhookCall,
): Promise<ClosedGates | undefined> {
  if (!mayDropGates(rollout, old, call.settings)) return undefined;
  const selectingGates = await readSelectingGates(old.metadata.namespace ?? '', call.cluster);
  const dropped = droppedGates(rollout, old, selectingGates, call.settings);
  return closedAgainstRemoval(await readClosedGates(dropped, call), old);
}

/** The Gates that Rollouts of one namespace require, and the bindings of their objects. */
async function readRequired(
  rollouts: readonly [Rollout, ...Rollout[]],
  call: WebhookCall,
): Promise<{ required: RequiredGates; bindings: FluxBinding[] }> {
  const namespace = rollouts[0].metadata.namespace ?? '';
  const [objects, selectingGates, stored] = await Promise.all([
    listBindableObjects(namespace, call.cluster),
    readSelectingGates(namespace, call.cluster),
    listBindings(rollouts, call.cluster),
  ]);
  const bindings = currentBindings(rollouts, objects, stored, selectingGates, call.settings);
  return { required: gatesOfRollouts(rollouts, bindings, selectingGates, call.settings), bindings };
}
