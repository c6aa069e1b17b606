/** What a user can do about a version at a RolloutGate. */
import type { NamespacedName } from '../../api/kubernetes.ts';
import type { Rollout, RolloutGate } from '../../api/types.ts';
import { identityOf } from '../../core/kube/names.ts';
import { requestsOf } from '../../core/rollout/evaluation/rolloutRequests.ts';
import type { Action } from './action.ts';
import { makeable, offer } from './offer.ts';

interface AtRolloutGate {
  /** Absent where it could not be read. */
  gate: RolloutGate | undefined;
  object: NamespacedName;
  version: string;
  isClosed: boolean;
  /** It requires approvals of people. */
  asks: boolean;
  step?: string;
}

export function versionAtRolloutGate({ gate, object, version, isClosed, asks, step }: AtRolloutGate): Action[] {
  const target = { kind: 'RolloutGate' as const, namespace: object.namespace, name: object.name };
  const text = asks ? { text: 'Records your approval, which lets the version pass once it has enough.' } : {};
  return [
    ...offer({ type: 'approve', object: target, version }, gate, { step, ...text }),
    ...(isClosed ? offer({ type: 'open', object: target }, gate, { step }) : []),
  ];
}

/** Of a RolloutGate that holds `version`, or any. `rollout`: the one that it names, where it may be read. */
export function rolloutGateActions(
  gate: RolloutGate,
  rollout: Rollout | undefined,
  version: string | undefined,
): Action[] {
  const { passing, approvals } = gate.spec ?? {};
  const object = identityOf(gate);
  const target = { kind: 'RolloutGate' as const, ...object };
  const isClosed = passing === false;
  if (version === undefined) return makeable(isClosed ? offer({ type: 'open', object: target }, gate) : [], 0);
  const isDeployable = rollout && !approvals && requestsOf(rollout).forceDeploy !== version;
  const byHand = isDeployable
    ? offer({ type: 'deploy', object: { kind: 'Rollout', ...identityOf(rollout) }, version }, rollout)
    : [];
  const all = [
    ...versionAtRolloutGate({ gate, object, version, isClosed, asks: approvals !== undefined }),
    ...byHand,
    ...offer({ type: 'reject', object: target, version }, gate),
  ];
  return makeable(all, 0);
}
