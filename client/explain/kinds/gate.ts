/** Why a Gate is open or closed, what it holds, and how it is opened. */

import type { EpochMs } from '../../../api/kubernetes.ts';
import type { Gate } from '../../../api/types.ts';
import { scheduledBy } from '../../../core/approval/scheduledBy.ts';
import { verdictText } from '../../../core/approval/verdict.ts';
import { requestText } from '../../../core/gate/evaluateGates.ts';
import { type Requirer, requirerText } from '../../../core/gate/gateSelection.ts';
import { evaluateGate } from '../../../core/gate/gateState.ts';
import { few } from '../../../core/kube/firstFew.ts';
import { identityOf, refKey } from '../../../core/kube/names.ts';
import { formatTime } from '../../../core/kube/time.ts';
import { gateActions } from '../../actions/gateActions.ts';
import { remediesOf } from '../../actions/lines.ts';
import type { Cause } from '../application.ts';
import { approvalsAt, ruleText } from '../approvals.ts';
import type { Explanation } from '../explanation.ts';
import { gateText } from '../gateText.ts';
import { objectRef } from '../objectRef.ts';

/** How many of the objects that it holds are named, and of the versions that lack approvals. */
const NAMED = 5;

export function explainGate(gate: Gate, now: EpochMs): Explanation {
  const object = objectRef('Gate', identityOf(gate));
  const { opened, until, planned, stalled } = evaluateGate(gate, now);
  const headline = gateText(gate, now);
  const name = `Gate ${object.namespace}/${object.name}`;
  const causes: Cause[] = [
    { code: opened ? 'Opened' : 'GateClosed', text: `${name} is ${headline}` },
    { code: 'Holds', text: heldText(gate, opened) },
    ...unreachedCauses(gate),
    ...scheduleCause(gate),
    ...approvalCauses(gate, now),
    ...(stalled ? [{ code: 'Stalled', text: `What it cannot read is ignored: ${stalled}` }] : []),
  ];
  const then =
    until === undefined ? undefined : { text: `it ${opened ? 'closes' : 'opens'} by itself`, at: formatTime(until) };
  const byPlan =
    planned && then && planned.at === until ? { ...then, text: `${then.text}: ${requestText(planned)}` } : then;
  return {
    object,
    headline,
    state: opened ? 'free' : 'held',
    causes,
    next: byPlan ?? {
      text: staysText(gate, opened),
    },
    remedies: remediesOf(gateActions(gate, [], now).slice(0, NAMED), now),
    unread: [],
  };
}

function staysText({ spec }: Gate, opened: boolean): string {
  if (opened) return 'nothing by itself: it stays open until somebody closes it';
  return spec.approvals
    ? 'nothing by itself: it stays closed, and lets those versions through that are approved'
    : 'nothing by itself: it stays closed until somebody opens it';
}

function scheduleCause(gate: Gate): Cause[] {
  const set = scheduledBy(gate);
  if (!set) return [];
  const why = set.reason ? `: ${set.reason}` : '';
  return [{ code: 'ScheduledBy', text: `Its schedule was set by ${set.by} at ${set.at}${why}` }];
}

function approvalCauses(gate: Gate, now: EpochMs): Cause[] {
  const rule = gate.spec.approvals;
  if (!rule) return [];
  const given = approvalsAt(gate, [], now).slice(0, NAMED);
  return [
    { code: 'Approvals', text: ruleText(rule) },
    ...given.map(({ rollout, version, verdict }) => ({
      code: 'Approvals',
      text: `${version} of Rollout ${refKey(rollout)} has ${verdictText(verdict)}`,
    })),
  ];
}

/** What the opening or closing has not reached, with the first of it. */
function unreachedCauses({ status }: Gate): Cause[] {
  const { notHeld = 0, notHeldObjects = [], notResumed = 0, notResumedObjects = [] } = status ?? {};
  const cause = (code: string, count: number, text: string, [first]: (Requirer & { message?: string })[]) =>
    count === 0 ? [] : [{ code, text: `${count} ${text}${first ? `: ${requirerText(first)}, ${first.message}` : ''}` }];
  return [
    ...cause('NotHeld', notHeld, 'of them run although it is closed', notHeldObjects),
    ...cause('NotResumed', notResumed, 'of them are still suspended although it is open', notResumedObjects),
  ];
}

function heldText({ status }: Gate, opened: boolean): string {
  const { held, heldObjects = [] } = status ?? {};
  if (held === undefined) return 'What it holds has not been counted yet';
  if (held === 0) return `Nothing requires it${opened ? '' : ', so it holds nothing'}`;
  return `It ${opened ? 'would hold' : 'holds'} ${held} ${held === 1 ? 'object' : 'objects'}: ${few(heldObjects.map(requirerText), NAMED, held)}`;
}
