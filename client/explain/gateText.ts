/** A Gate's state in a few words, with the user and the reason; and as fields, with its times. */
import type { EpochMs } from '../../api/kubernetes.ts';
import type { Gate } from '../../api/types.ts';
import { requestText, withException } from '../../core/gate/evaluateGates.ts';
import { evaluateGate, type GateEvaluation } from '../../core/gate/gateTimeline.ts';
import { withoutEmpty } from '../../core/kube/json.ts';
import { formatTime } from '../../core/kube/time.ts';
import { scheduledBy } from '../../core/record/pinAndSchedule.ts';
import type { Step } from './application.ts';

/** The Gate's state: `closed by alice: freeze`, `closed by its schedule; open for version '1.2.0', opened by bob`. */
export function gateText(gate: Gate, now: EpochMs, evaluation = evaluateGate(gate, now)): string {
  const { opened, cause } = evaluation;
  const byItself = isByDefault(gate, opened) ? 'default' : 'its schedule';
  return withException(cause ? requestText(cause) : `${opened ? 'open' : 'closed'} by ${byItself}`, evaluation, now);
}

/** Whether the Gate's state is its default, even if a calendar sets the same. */
function isByDefault({ spec }: Gate, opened: boolean): boolean {
  return (spec.default === 'opened') === opened;
}

/** The user, reason, start and end of the Gate's state, as far as known. */
export function gateFacts(
  gate: Gate,
  { opened, cause, until }: GateEvaluation,
): Pick<Step, 'since' | 'until' | 'by' | 'reason'> {
  const set = cause || isByDefault(gate, opened) ? undefined : scheduledBy(gate);
  return withoutEmpty({
    since: cause && formatTime(cause.at),
    until: until === undefined ? undefined : formatTime(until),
    by: cause?.by ?? set?.by,
    reason: cause?.reason ?? set?.reason,
  });
}
