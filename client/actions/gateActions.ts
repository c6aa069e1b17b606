/** Actions on a Gate, a RolloutGate, a budget, and a Flux object that closed Gates hold. */
import type { FluxObject } from '../../api/flux.ts';
import { GOVERNED_KINDS, KINDS } from '../../api/kinds.ts';
import type { EpochMs, NamespacedName } from '../../api/kubernetes.ts';
import type { Budget, Gate, Rollout, RolloutGate } from '../../api/types.ts';
import type { ClosedGates } from '../../core/gate/closedGates.ts';
import { type GateResult, isMissing } from '../../core/gate/evaluateGates.ts';
import type { NextDeployment } from '../../core/gate/gateApprovals.ts';
import { evaluateGate } from '../../core/gate/gateTimeline.ts';
import { identityOf } from '../../core/kube/names.ts';
import { requestsOf } from '../../core/rollout/evaluation/rolloutRequests.ts';
import type { ObjectRef, Right } from '../explain/application.ts';
import { approvalsAt } from '../explain/approvalViews.ts';
import { finder } from '../explain/related.ts';
import { type Action, rightOn } from './action.ts';
import { offer, possibleActions } from './offer.ts';
import { blockedVersions, budgetKind } from './writes/budgetWrites.ts';

/** The most versions that are offered for approval. */
const MAX_APPROVALS = 50;

/** Actions on a Gate. `waiting`: the versions that it holds now, if known. */
export function gateActions(gate: Gate, waiting: readonly NextDeployment[], now: EpochMs): Action[] {
  const object = { kind: KINDS.Gate.kind, ...identityOf(gate) };
  const { opened, planned } = evaluateGate(gate, now);
  if (opened) {
    const keep = {
      label: `Keep Gate ${object.name} open`,
      submit: 'Keep open',
      text: planned ? 'Cancels the planned request.' : 'Begins its spec.window again.',
    };
    return possibleActions(
      [...offer({ type: 'close', object }, gate), ...offer({ type: 'open', object }, gate, keep)],
      now,
    );
  }
  const lacking = approvalsAt(gate, waiting, now)
    .filter(({ verdict }) => !verdict.enough)
    .slice(0, MAX_APPROVALS);
  const approvals = lacking.flatMap(({ rollout, uid, version }, index) =>
    offer({ type: 'approve', object, rollout, version }, gate, {
      rolloutUid: uid,
      ...(index === 0 && { primary: true }),
    }),
  );
  const open = offer({ type: 'open', object }, gate, approvals.length === 0 ? { primary: true } : {});
  return possibleActions([...approvals, ...open], now);
}

/** Actions on a Flux object. `closed`: the Gates that hold it. */
export function fluxActions(
  object: FluxObject,
  ref: ObjectRef,
  closed: ClosedGates | undefined,
  gates: readonly Gate[],
  isSuspendedManually: boolean,
): Action[] {
  const find = finder(gates);
  const gatesOf = (results: readonly GateResult[]) =>
    results.map(({ ref }) => ({ kind: KINDS.Gate.kind, namespace: ref.namespace, name: ref.name }));
  const existing = gatesOf((closed?.gates ?? []).filter((gate) => !isMissing(gate)));
  const missing = gatesOf((closed?.gates ?? []).filter(isMissing));
  // Beyond a limit a bypass would end with the object's next write.
  const bypassed = closed && existing.length > 0 && !closed.limit ? closed.gates.map(({ ref }) => ref) : [];
  return [
    ...missing.flatMap((gate) => offer({ type: 'create', object: gate })),
    ...existing.flatMap((gate) => offer({ type: 'open', object: gate }, find(gate))),
    ...bypassAndResumeActions(object, ref, bypassed, isSuspendedManually),
  ];
}

/** The rights to bypass these Gates. */
export function bypassRights(gates: readonly NamespacedName[]): Right[] {
  return gates.map((gate) => rightOn('bypass', 'Gate', gate));
}

/** Bypass and resume; empty for a kind that no Gate can hold. `gates`: those to bypass. */
function bypassAndResumeActions(
  object: FluxObject,
  { kind: name, ...ref }: ObjectRef,
  gates: readonly NamespacedName[],
  isSuspendedManually: boolean,
) {
  const kind = GOVERNED_KINDS.find((row) => row.kind === name)?.kind;
  if (!kind) return [];
  const target = { kind, namespace: ref.namespace, name: ref.name };
  const rights = [...bypassRights(gates), rightOn('patch', kind, target)];
  return [
    ...(gates.length > 0 ? offer({ type: 'bypass', object: target }, object, { rights }) : []),
    ...(isSuspendedManually ? offer({ type: 'resume', object: target }, object) : []),
  ];
}

export function budgetActions(budget: Budget): Action[] {
  const object = { kind: budgetKind(budget), ...identityOf(budget) };
  return blockedVersions(budget).flatMap(({ name, of: { version, image } }) =>
    offer({ type: 'continue', object, version, ...(name !== version && { image }) }, budget),
  );
}

interface VersionAtRolloutGate {
  /** The RolloutGate; absent if it could not be read. */
  gate: RolloutGate | undefined;
  object: NamespacedName;
  version: string;
  isClosed: boolean;
  needsApproval: boolean;
  step?: string;
}

/** Approve the version at the RolloutGate, and open it if it is closed. */
export function rolloutGateVersionActions(at: VersionAtRolloutGate): Action[] {
  const { gate, object, version, isClosed, needsApproval, step } = at;
  const target = { kind: 'RolloutGate' as const, namespace: object.namespace, name: object.name };
  const text = needsApproval
    ? { text: 'Records your approval. The RolloutGate allows the version once it has enough approvals.' }
    : {};
  return [
    ...offer({ type: 'approve', object: target, version }, gate, { step, ...text }),
    ...(isClosed ? offer({ type: 'open', object: target }, gate, { step }) : []),
  ];
}

/**
 * Actions at a RolloutGate. `rollout`: the Rollout that it names, if that may be read. `version`: the version that it
 * holds; undefined: none waits.
 */
export function rolloutGateActions(
  gate: RolloutGate,
  rollout: Rollout | undefined,
  version: string | undefined,
  now: EpochMs,
): Action[] {
  const { passing, approvals } = gate.spec ?? {};
  const object = identityOf(gate);
  const target = { kind: 'RolloutGate' as const, ...object };
  const isClosed = passing === false;
  if (version === undefined) return possibleActions(isClosed ? offer({ type: 'open', object: target }, gate) : [], now);
  const isDeployable = rollout && !approvals && requestsOf(rollout).forceDeploy !== version;
  const deployment = isDeployable
    ? offer({ type: 'deploy', object: { kind: 'Rollout', ...identityOf(rollout) }, version }, rollout)
    : [];
  const all = [
    ...rolloutGateVersionActions({ gate, object, version, isClosed, needsApproval: approvals !== undefined }),
    ...deployment,
    ...offer({ type: 'reject', object: target, version }, gate),
  ];
  return possibleActions(all, now);
}
