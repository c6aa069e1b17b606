/** Why a Gate is open or closed, what it holds, and how it is opened. */
import type { EpochMs } from '../../../api/kubernetes.ts';
import type { Gate } from '../../../api/types.ts';
import { evaluateGate } from '../../gate/evaluate.ts';
import { askedBy } from '../../gate/judge.ts';
import { requirerText } from '../../gate/requirers.ts';
import { identityOf } from '../../kube/names.ts';
import { formatTime } from '../../kube/time.ts';
import type { Cause } from '../application.ts';
import type { Explanation } from '../explanation.ts';
import { gateText } from '../gateText.ts';
import { objectRef } from '../objectRef.ts';
import { closeGate, openGate } from '../remedies.ts';

/** How many of the objects that it holds are named. */
const NAMED = 5;

export function explainGate(gate: Gate, now: EpochMs): Explanation {
  const object = objectRef('Gate', identityOf(gate));
  const { opened, until, planned, stalled } = evaluateGate(gate, now);
  const headline = gateText(gate, now);
  const name = `Gate ${object.namespace}/${object.name}`;
  const causes: Cause[] = [
    { code: opened ? 'Opened' : 'GateClosed', text: `${name} is ${headline}` },
    { code: 'Holds', text: heldText(gate, opened) },
    ...(stalled ? [{ code: 'Stalled', text: `What it cannot read is ignored: ${stalled}` }] : []),
  ];
  const then =
    until === undefined ? undefined : { text: `it ${opened ? 'closes' : 'opens'} by itself`, at: formatTime(until) };
  const byPlan =
    planned && then && planned.at === until ? { ...then, text: `${then.text}: ${askedBy(planned)}` } : then;
  return {
    object,
    headline,
    isHeld: !opened,
    causes,
    next: byPlan ?? {
      text: `nothing by itself: it stays ${opened ? 'open' : 'closed'} until somebody ${opened ? 'closes' : 'opens'} it`,
    },
    remedies: [opened ? closeGate(object) : openGate(object)],
    unread: [],
  };
}

function heldText({ status }: Gate, opened: boolean): string {
  const { held, heldObjects = [] } = status ?? {};
  if (held === undefined) return 'What it holds has not been counted yet';
  if (held === 0) return `Nothing requires it${opened ? '' : ', so it holds nothing'}`;
  const names = heldObjects.slice(0, NAMED).map(requirerText);
  const more = held > names.length ? `${names.length > 0 ? ' and ' : ''}${held - names.length} more` : '';
  return `It ${opened ? 'would hold' : 'holds'} ${held} ${held === 1 ? 'object' : 'objects'}: ${names.join(', ')}${more}`;
}
