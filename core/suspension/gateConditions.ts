/** The RFC's conditions on Flux objects: `Approved` on syncs, `Blocked` on sources. */
import { APPROVED, BLOCKED, GATE_CLOSED, GATES_OPEN, READY } from '../../api/conditions.ts';
import type { FluxObject, FluxStatus } from '../../api/flux.ts';
import { governedKindOf, KINDS } from '../../api/kinds.ts';
import type { EpochMs } from '../../api/kubernetes.ts';
import { type ClosedGates, mapClosed } from '../gate/closedGates.ts';
import { findCondition, setCondition } from '../kube/conditions.ts';
import { groupOf } from '../kube/names.ts';
import { bypassedSentences, closedSentences } from '../objectGates/gateTexts.ts';
import type { ObjectGates } from '../objectGates/objectGates.ts';
import { currentState, isBypass, isSuspendedByUs, wasReadyAtSuspension } from '../objectGates/objectState.ts';
import { type ApplierWait, applierWaitText } from './applier.ts';

/** States of the wait for an applier that may last. The others end in a moment and aren't worth two writes. */
const LONG_WAITS = new Set<ApplierWait['state']>(['Failing', 'Suspended', 'Missing']);

type Status = FluxStatus & Record<string, unknown>;

type ConditionGates = Pick<ObjectGates, 'all' | 'closed' | 'heldBy' | 'problems'>;

/**
 * The status with the condition for these Gates, without one if no Gate is required; undefined if nothing changes.
 * @param awaits the wait for the object's applier
 */
export function withGateCondition(
  object: FluxObject,
  gates: ConditionGates,
  now: EpochMs,
  awaits?: ApplierWait,
): Status | undefined {
  const status: Status = object.status ?? {};
  const isHeld = gates.heldBy.length > 0;
  const isRequired = gates.all.length > 0 || isHeld;
  const next = isRequired ? withCondition(object, status, gates, now, awaits) : withoutCondition(status);
  if (!isHeld || !waitsOnlyForUs(object)) return next;
  return { ...(next ?? status), observedGeneration: object.metadata.generation } as Status;
}

/**
 * Whether only our suspension keeps `observedGeneration` behind: the object was created suspended and has never been
 * reconciled, or it was ready when our suspension increased its generation by one.
 * A parent with `wait: true` would wait for such an object until it times out.
 */
function waitsOnlyForUs(object: FluxObject): boolean {
  const { metadata, status } = object;
  if (!isSuspendedByUs(object) || status?.observedGeneration === (metadata.generation ?? 0)) return false;
  const ready = findCondition(status?.conditions, READY);
  return !ready || (wasReadyAtSuspension(object) && ready.observedGeneration === status?.observedGeneration);
}

function withCondition(
  object: FluxObject,
  status: Status,
  { closed, heldBy, problems }: ConditionGates,
  now: EpochMs,
  awaits: ApplierWait | undefined,
): Status | undefined {
  const kind = governedKindOf(groupOf(object.apiVersion), object.kind);
  const isSource = kind !== undefined && KINDS[kind].governed === 'source';
  const holds = heldBy.length > 0;
  const isRunning = isBypass(currentState(object, heldBy));
  const heldSentences = isSource ? blockedSentences : closedSentences;
  const sentences = isRunning ? bypassedSentences : heldSentences;
  const problemText = (problem: string) => `Reconciliation ${isRunning ? 'continues' : 'is blocked'}: ${problem}`;
  const condition = {
    type: isSource ? BLOCKED : APPROVED,
    status: holds === isSource ? ('True' as const) : ('False' as const),
    reason: holds ? GATE_CLOSED : GATES_OPEN,
    message: holds
      ? [...(closed ? sentences(closed) : []), ...problems.map(problemText)].join(' ')
      : `All gates are open.${awaits && LONG_WAITS.has(awaits.state) ? ` Suspended ${applierWaitText(awaits)}.` : ''}`,
  };
  const conditions = setCondition(status.conditions, condition, now);
  const [before, after] = [status.conditions, conditions].map((list) => findCondition(list, condition.type));
  const same = (['status', 'reason', 'message'] as const).every((key) => before?.[key] === after?.[key]);
  return same ? undefined : { ...status, conditions };
}

function withoutCondition(status: Status): Status | undefined {
  const conditions = status.conditions?.filter(
    ({ type, reason }) =>
      !((type === APPROVED || type === BLOCKED) && (reason === GATE_CLOSED || reason === GATES_OPEN)),
  );
  return conditions?.length === status.conditions?.length ? undefined : { ...status, conditions: conditions ?? [] };
}

function blockedSentences(closed: ClosedGates): string[] {
  return mapClosed(
    closed,
    (limit) => `Reconciliation is blocked: ${limit}.`,
    ({ key }) => `Reconciliation is blocked as gate '${key}' is closed.`,
  );
}
