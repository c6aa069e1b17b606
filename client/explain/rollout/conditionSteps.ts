/** Steps from the Rollout's own status: a pin, a minimum age, a missing copy, a failure that holds automation. */
import { COPIED } from '../../../api/conditions.ts';
import type { Condition } from '../../../api/kubernetes.ts';
import type { Rollout } from '../../../api/types.ts';
import { findCondition } from '../../../core/kube/conditions.ts';
import { withoutEmpty } from '../../../core/kube/json.ts';
import { pinRecordOf } from '../../../core/record/pinAndSchedule.ts';
import type { Step } from '../application.ts';
import { blockerOf, storedBlockers } from './storedBlockers.ts';

export function conditionSteps(rollout: Rollout, version: string | undefined): Step[] {
  const { status, spec } = rollout;
  const copied = findCondition(status?.conditions, COPIED);
  const blockers = storedBlockers(rollout, version);
  const young = status?.youngReleases?.find(({ tag }) => tag === version);
  const [head] = status?.history ?? [];
  const wanted = spec?.wantedVersion;
  // The pin blocks other versions than the one that waits.
  const byPin = blockerOf(status?.blockers, 'PinnedVersion');
  const pin = pinRecordOf(rollout);
  const step = (
    id: Step['kind'],
    state: Step['state'],
    title: string,
    rest: { [Field in 'detail' | 'by' | 'reason' | 'since' | 'until']?: string | undefined },
  ): Step => ({ id, kind: id, state, title, ...withoutEmpty({ version, ...rest }) });
  const steps = [
    wanted &&
      wanted !== version &&
      byPin &&
      step('pin', 'blocks', `Pin on ${wanted}`, {
        detail: `blocks ${byPin.version ?? 'newer versions'}`,
        by: pin?.by,
        reason: pin?.reason,
        since: pin?.at,
      }),
    young &&
      blockerOf(blockers, 'MinimumAge') &&
      step('age', 'waits', 'Minimum age', { detail: 'spec.minimumReleaseAge', until: young.deployableAt }),
    head &&
      blockerOf(blockers, 'Failure')?.effect === 'Blocks' &&
      step('failure', 'blocks', `Failure of ${head.version.tag}`, {
        detail: head.bakeStatusMessage,
        since: head.bakeEndTime,
      }),
    copied && step('copy', copyState(copied), 'Copy', { detail: copied.message, since: copied.lastTransitionTime }),
  ];
  return steps.filter((each) => typeof each === 'object');
}

function copyState({ status, reason }: Condition): Step['state'] {
  if (status === 'True') return 'passed';
  return reason === 'Copying' ? 'waits' : 'blocks';
}
