/** What a RolloutGate lets through, and what waits for it. */
import type { EpochMs } from '../../../api/kubernetes.ts';
import type { Rollout, RolloutGate } from '../../../api/types.ts';
import { identityOf } from '../../../core/kube/names.ts';
import { formatTime } from '../../../core/kube/time.ts';
import { remediesOf } from '../../actions/lines.ts';
import { rolloutGateActions } from '../../actions/rolloutGateActions.ts';
import type { Cause } from '../application.ts';
import type { Explanation } from '../explanation.ts';
import { objectRef } from '../objectRef.ts';
import { NO_SURROUNDINGS } from '../related.ts';
import { listingOf, rolloutGateSteps } from '../rollout/rolloutGateSteps.ts';

/** `rollout`: the one that it names, where there is one and it may be read. */
export function explainRolloutGate(gate: RolloutGate, rollout: Rollout | undefined, now: EpochMs): Explanation {
  const object = objectRef('RolloutGate', identityOf(gate));
  const { spec } = gate;
  const version = rollout?.status?.pendingVersion;
  const around = { ...NO_SURROUNDINGS, rolloutGates: [gate] };
  const [step] = rollout
    ? rolloutGateSteps(rollout, around, version, now).filter(({ id }) => id === `rolloutGate/${object.name}`)
    : [];
  const isRejected = step?.state === 'failed';
  const isHeld = step?.state === 'blocks' || isRejected || spec?.passing === false;
  // An approval removes the rejection; a deployment by hand does not get past it.
  const actions = isHeld
    ? rolloutGateActions(gate, rollout, version).filter(({ request: { type } }) => !isRejected || type !== 'deploy')
    : [];
  const says = step?.detail ?? (spec?.passing === false ? 'not passing' : 'passing');
  const name = spec?.rolloutRef.name ?? '';
  const waits: Cause[] =
    version === undefined
      ? []
      : [
          {
            code: isHeld ? 'RolloutGatesBlocking' : 'Waits',
            text: `Version ${version} of Rollout '${name}' waits${isHeld ? ' for it' : ', and not for this gate'}`,
          },
        ];
  const missing: Cause[] = rollout
    ? []
    : [
        {
          code: 'RolloutNotFound',
          text: `There is no Rollout '${name}' in namespace '${object.namespace}' that you may read: the gate holds nothing`,
        },
      ];
  const rejected = spec?.rejectedVersions ?? [];
  const listed = listingOf(gate, spec?.passing === false, version);
  const who = listed ? `, by ${listed.by} at ${formatTime(listed.at)}${listed.reason ? `: ${listed.reason}` : ''}` : '';
  return {
    object,
    headline: says,
    state: isHeld ? 'held' : 'free',
    causes: [
      {
        code: isHeld ? 'RolloutGatesBlocking' : 'Passing',
        text: `RolloutGate '${object.name}' of Rollout '${name}': ${says}${who}`,
      },
      ...waits,
      ...missing,
      ...(rejected.length > 0
        ? [{ code: 'Rejects', text: `It rejects ${rejected.slice(0, 5).join(', ')}: these are never deployed` }]
        : []),
    ],
    remedies: remediesOf(actions, 0),
    unread: [],
  };
}
