/** What only the Rollout's own status knows: a pin, a minimum age, a copy that is not there, a failure that automation holds after. */
import { COPIED, DEPLOYMENT_BLOCKED, PINNED } from '../../../api/conditions.ts';
import type { Condition } from '../../../api/kubernetes.ts';
import type { Rollout } from '../../../api/types.ts';
import { pinRecordOf } from '../../../core/evaluation/pinRecord.ts';
import { findCondition } from '../../../core/kube/conditions.ts';
import type { Step } from '../application.ts';
import { defined } from '../defined.ts';

export function conditionSteps(rollout: Rollout, version: string | undefined): Step[] {
  const { status, spec } = rollout;
  const conditions: readonly Condition[] = status?.conditions ?? [];
  const blocked = findCondition(conditions, DEPLOYMENT_BLOCKED);
  const copied = findCondition(conditions, COPIED);
  const young = status?.youngReleases?.find(({ tag }) => tag === version);
  const [head] = status?.history ?? [];
  const pin = pinRecordOf(rollout);
  const step = (
    id: Step['kind'],
    state: Step['state'],
    title: string,
    rest: Partial<Record<keyof Step, string | undefined>>,
  ): Step => ({ id, kind: id, state, title, ...defined({ version, ...rest }) }) as Step;
  const isHeldByFailure = blocked?.status === 'True' && blocked.message.includes(`${head?.version.tag} has failed`);
  return [
    ...(spec?.wantedVersion && version !== spec.wantedVersion
      ? [
          step('pin', 'blocks', `Pin on ${spec.wantedVersion}`, {
            detail: findCondition(conditions, PINNED)?.message,
            by: pin?.by,
            reason: pin?.reason,
            since: pin?.at,
          }),
        ]
      : []),
    ...(young
      ? [step('age', 'waits', 'Minimum age', { detail: 'spec.minimumReleaseAge', until: young.deployableAt })]
      : []),
    ...(isHeldByFailure && head
      ? [
          step('failure', 'blocks', `Failure of ${head.version.tag}`, {
            detail: head.bakeStatusMessage,
            since: head.bakeEndTime,
          }),
        ]
      : []),
    ...(copied
      ? [step('copy', copyState(copied), 'Copy', { detail: copied.message, since: copied.lastTransitionTime })]
      : []),
  ];
}

function copyState({ status, reason }: Condition): Step['state'] {
  if (status === 'True') return 'passed';
  return reason === 'Copying' ? 'waits' : 'blocks';
}
