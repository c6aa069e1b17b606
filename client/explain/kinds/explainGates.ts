/** Explanations of Gates and RolloutGates: the state, what is held, and how to open it. */
import { OPENED } from '../../../api/conditions.ts';
import type { EpochMs, ObjectName } from '../../../api/kubernetes.ts';
import type { Gate, Rollout, RolloutGate } from '../../../api/types.ts';
import { verdictText } from '../../../core/approval/approvalVerdict.ts';
import type { NextDeployment } from '../../../core/gate/gateApprovals.ts';
import { type GateRequest, gateRequestsOf } from '../../../core/gate/gateRequests.ts';
import { requirerText } from '../../../core/gate/gateSelection.ts';
import { evaluateGate, type GateEvaluation } from '../../../core/gate/gateTimeline.ts';
import { findCondition } from '../../../core/kube/conditions.ts';
import { identityOf, refKey } from '../../../core/kube/names.ts';
import { formatTime } from '../../../core/kube/time.ts';
import { scheduledBy } from '../../../core/record/pinAndSchedule.ts';
import { changeText, storedEntry } from '../../../core/record/record.ts';
import { countOf } from '../../../core/text/count.ts';
import { firstFew } from '../../../core/text/firstFew.ts';
import { gateActions, rolloutGateActions } from '../../actions/gateActions.ts';
import { type Cause, causeIf, type Next, objectRef } from '../application.ts';
import { approvalRuleText, approvalsAt } from '../approvalViews.ts';
import { gateText } from '../gateText.ts';
import { NO_RELATED } from '../related.ts';
import { listingOf, rolloutGateSteps } from '../rollout/rolloutGateSteps.ts';
import { staleCauses } from '../staleStatus.ts';
import type { Explanation } from './explanation.ts';

/** The most held objects, and the most versions with approvals, that are listed. */
const MAX_LISTED_EACH = 5;

/** The explanation of a Gate. `waiting`: the versions that it holds now, if known. */
export function explainGate(gate: Gate, now: EpochMs, waiting: readonly NextDeployment[] = []): Explanation {
  const object = objectRef('Gate', identityOf(gate));
  const evaluation = evaluateGate(gate, now);
  const { opened, until, planned, stalled } = evaluation;
  const headline = gateText(gate, now, evaluation);
  const causes: Cause[] = [
    { code: 'Holds', text: heldText(gate, opened) },
    ...unreachedCauses(gate),
    ...causeIf('ScheduledBy', scheduleText(gate)),
    ...approvalCauses(gate, evaluation, waiting, now),
    ...causeIf('Stalled', stalled && `Invalid settings are ignored: ${stalled}`),
    ...staleCauses(gate, now),
  ];
  const plan = planned && planned.at === until ? planText(planned) : '';
  const ending = endingOf(gate, until, now);
  const next: Next = ending
    ? { text: `its closure ends, and versions need approvals again${planText(ending)}`, at: formatTime(ending.at) }
    : until === undefined
      ? { text: staysText(gate, evaluation) }
      : { text: nextText(opened) + plan, at: formatTime(until) };
  const actions = gateActions(gate, waiting, now);
  return { object, headline, state: opened ? 'free' : 'held', causes, next, actions, unread: [] };
}

/** The planned end of a closure on a Gate with approvals: the end opens nothing, so that it is no `until`. */
function endingOf(gate: Gate, until: EpochMs | undefined, now: EpochMs): GateRequest | undefined {
  const { current, planned } = gateRequestsOf(gate, now);
  const isEnd = gate.spec.approvals && current?.action === 'close' && planned?.action === 'open';
  return isEnd && (until === undefined || planned.at < until) ? planned : undefined;
}

function planText({ by, reason }: GateRequest): string {
  const parts = [by && `planned by ${by}`, reason].filter(Boolean).join(': ');
  return parts && ` (${parts})`;
}

function nextText(opened: boolean): string {
  return `it ${opened ? 'closes' : 'opens'} automatically`;
}

function staysText({ spec }: Gate, { opened, opensByApprovalsOnly }: GateEvaluation): string {
  if (opened) return 'no automatic change. It stays open until a user closes it';
  const passing = spec.approvals ? '; approved versions pass' : '';
  return `no automatic change. It stays closed${opensByApprovalsOnly ? '' : ' until a user opens it'}${passing}`;
}

function scheduleText(gate: Gate): string | undefined {
  const set = scheduledBy(gate);
  return set && `Its schedule was set ${changeText(set)}`;
}

function approvalCauses(
  gate: Gate,
  evaluation: GateEvaluation,
  waiting: readonly NextDeployment[],
  now: EpochMs,
): Cause[] {
  const rule = gate.spec.approvals;
  if (!rule) return [];
  const given = approvalsAt(gate, waiting, now).slice(0, MAX_LISTED_EACH);
  return [
    { code: 'Approvals', text: approvalRuleText(rule, evaluation) },
    ...given.map(({ rollout, version, verdict }) => ({
      code: 'Approvals',
      text: `${version} of Rollout ${refKey(rollout)} has ${verdictText(verdict)}`,
    })),
  ];
}

/** The causes about objects that the Gate does not hold although it is closed, or holds although it is open. */
function unreachedCauses({ status }: Gate): Cause[] {
  const { notHeld = 0, notHeldObjects = [], notResumed = 0, notResumedObjects = [] } = status ?? {};
  const cause = (code: string, count: number, text: string, [first]: (ObjectName & { message?: string })[]) =>
    count === 0
      ? []
      : [
          {
            code,
            text: `${countOf(count, 'object')} ${text}${first ? `, such as ${requirerText(first)}: ${first.message}` : ''}`,
          },
        ];
  return [
    ...cause('NotHeld', notHeld, 'still running although the Gate is closed', notHeldObjects),
    ...cause('NotResumed', notResumed, 'still suspended although the Gate is open', notResumedObjects),
  ];
}

function heldText({ status }: Gate, opened: boolean): string {
  const { requiredByCount: count, requiredBy = [], notHeld = 0 } = status ?? {};
  if (count === undefined) return 'The objects that it holds have not been counted yet';
  if (count === 0) return `Nothing requires it${opened ? '' : ', so it holds nothing'}`;
  const names = requiredBy.length > 0 ? `: ${firstFew(requiredBy.map(requirerText), MAX_LISTED_EACH, count)}` : '';
  const inStatus = findCondition(status?.conditions, OPENED)?.status;
  if (!opened && inStatus === 'True') return `It does not hold its ${countOf(count, 'object')} yet${names}`;
  const verb = opened ? 'would hold' : notHeld > 0 ? 'should hold' : 'holds';
  return `It ${verb} ${countOf(count, 'object')}${names}`;
}

/** The explanation of a RolloutGate. `rollout`: the Rollout that it names, if that exists and may be read. */
export function explainRolloutGate(gate: RolloutGate, rollout: Rollout | undefined, now: EpochMs): Explanation {
  const object = objectRef('RolloutGate', identityOf(gate));
  const { spec } = gate;
  const version = rollout?.status?.pendingVersion;
  const related = { ...NO_RELATED, rolloutGates: [gate] };
  const [step] = rollout
    ? rolloutGateSteps(rollout, related, version, now).filter(({ id }) => id === `rolloutGate/${object.name}`)
    : [];
  const isRejected = step?.state === 'failed';
  const isWaitedFor = step?.state === 'blocks' || isRejected;
  const isBlocked = isWaitedFor || spec?.passing === false;
  // A manual deployment doesn't bypass a rejection. Approving the version removes the rejection.
  const actions = isBlocked
    ? rolloutGateActions(gate, rollout, version, now).filter(
        ({ request: { type } }) => !isRejected || type !== 'deploy',
      )
    : [];
  const headline = step?.detail ?? (spec?.passing === false ? 'not passing' : 'passing');
  const name = spec?.rolloutRef.name ?? '';
  const rejected = spec?.rejectedVersions ?? [];
  const listed = listingOf(gate, spec?.passing === false, version);
  const who = listed ? `, ${changeText(storedEntry(listed))}` : '';
  const waits = `Version ${version} of Rollout ${name} waits${isWaitedFor ? ' for it' : ', but not for this RolloutGate'}`;
  const absent = `Rollout ${name} was not found in namespace ${object.namespace}, or you aren't allowed to read it`;
  const code = isBlocked ? 'RolloutGatesBlocking' : undefined;
  const causes: Cause[] = [
    { code: code ?? 'Passing', text: `RolloutGate ${object.name} of Rollout ${name}: ${headline}${who}` },
    ...causeIf(code ?? 'Waits', version !== undefined && waits),
    ...causeIf('RolloutNotFound', !rollout && absent),
    ...causeIf(
      'Rejects',
      rejected.length > 0 &&
        `It rejects ${firstFew(rejected, 5)}: a rejected version isn't deployed, not even manually`,
    ),
  ];
  // The time is that of its schedule.
  const next = step?.until !== undefined && {
    next: { text: nextText(spec?.passing !== false), at: step.until },
  };
  return { object, headline, state: isBlocked ? 'held' : 'free', causes, ...next, actions, unread: [] };
}
