/**
 * DecoratorController `rolloutgates`: repairs the label by which a Rollout finds its RolloutGates (see
 * hooks/gateHook.ts), and writes their status: whether they pass, and the given approvals.
 */
import { ROLLOUT_NAME_LABEL } from '../api/annotations.ts';
import { KINDS, ROLLOUTS } from '../api/kinds.ts';
import type { DecoratorResponse, ObjectMap } from '../api/metacontroller.ts';
import type { HookCall } from '../api/ports.ts';
import type { Rollout, RolloutGate } from '../api/types.ts';
import { APPROVAL_KEYS, recordedOn } from '../core/approval/approvalRecord.ts';
import { approvalEvents, approvalsStatus } from '../core/approval/approvalStatus.ts';
import { setCondition } from '../core/kube/conditions.ts';
import { eventRecord } from '../core/kube/events.ts';
import { sameJson } from '../core/kube/json.ts';
import { identityOf, labelValue } from '../core/kube/names.ts';
import { objectAt } from '../core/kube/objectMap.ts';
import { rolloutGateReady } from '../core/rollout/evaluation/rolloutGates.ts';
import { versionUsersInStatus } from '../core/rollout/evaluation/versionApprovals.ts';
import { CONFLICT_REQUEUE_SECONDS, type DecoratorHook, repairedLabels, resyncAfter } from './hook.ts';

export const rolloutGateHook: DecoratorHook<RolloutGate> = {
  /** Relates the Rollout of a RolloutGate with `spec.approvals`, for its requests and its waiting version. */
  async customize({ parent: { metadata, spec } }) {
    const name = spec?.rolloutRef?.name;
    if (!spec?.approvals || !name) return { relatedResources: [] };
    return { relatedResources: [{ ...ROLLOUTS, namespace: metadata.namespace ?? '', names: [name] }] };
  },

  async sync({ object: gate, related }, call) {
    if (gate.metadata.deletionTimestamp) return { attachments: [] };
    const rollout = gate.spec?.rolloutRef?.name;
    const label = { [ROLLOUT_NAME_LABEL]: rollout ? labelValue(rollout) : undefined };
    const { resyncAfterSeconds: labelsRequeue, labels } = repairedLabels(gate, label);
    const { resyncAfterSeconds: statusRequeue, status } = statusOf(gate, related, call);
    return {
      attachments: [],
      ...(labels && { labels }),
      status,
      ...resyncAfter([labelsRequeue, statusRequeue]),
    };
  },
};

/** The status, and when to compute it again. Also records the Events of new approvals. */
function statusOf(
  gate: RolloutGate,
  related: ObjectMap,
  { now, events }: HookCall,
): Pick<DecoratorResponse<RolloutGate['status']>, 'status' | 'resyncAfterSeconds'> {
  const { spec, metadata, status: before } = gate;
  const { namespace = '' } = metadata;
  const rollout = objectAt<Rollout>(related, KINDS.Rollout, namespace, spec?.rolloutRef?.name ?? '');
  const record = recordedOn(gate, APPROVAL_KEYS.RolloutGate);
  const authors = rollout?.status?.releaseAuthors ?? [];
  const { status: approvals, until } = approvalsStatus(spec?.approvals, record, now, {
    usersBehind: (version) => rollout && versionUsersInStatus(rollout, authors, version),
    pending: rollout?.status?.pendingVersion,
  });
  const involvedObjects = rollout ? [{ kind: KINDS.Rollout.kind, ...identityOf(rollout) }] : [];
  for (const event of approvalEvents(before?.approvals, approvals, record, now)) {
    events.record({ ...eventRecord(event, gate, now), involvedObjects });
  }
  const { approvals: _, ...others } = before ?? {};
  const status = {
    ...others,
    observedGeneration: metadata.generation,
    ...(approvals && { approvals }),
    conditions: setCondition(before?.conditions, rolloutGateReady(gate), now),
  };
  const change = until === undefined ? undefined : (until - now) / 1000;
  const retry = sameJson(status, before ?? {}) ? undefined : CONFLICT_REQUEUE_SECONDS;
  return { status, ...resyncAfter([change, retry]) };
}
