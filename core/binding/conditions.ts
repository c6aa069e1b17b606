/** The conditions of a FluxBinding: the one place to look when an object waits. */
import { APPROVED, GATE_CLOSED, GATES_OPEN, READY } from '../../api/conditions.ts';
import type { Condition, EpochMs } from '../../api/kubernetes.ts';
import type { FluxBindingSpec, FluxBindingStatus } from '../../api/types.ts';
import { deploymentText } from '../admission/managedFields/deployment.ts';
import { approvalText, passedText } from '../admission/messages.ts';
import { awaitsText } from '../admission/suspend/resume.ts';
import { isTooMany } from '../gate/refs.ts';
import { setCondition } from '../kube/conditions.ts';
import { refKey } from '../kube/names.ts';
import type { GateEntry } from './report.ts';

const MAX_MESSAGE = 32_000;

type BindingSpec = Pick<FluxBindingSpec, 'problems' | 'source'>;
type Finding = Pick<Condition, 'status' | 'reason' | 'message'>;

/** Ready: each pin is applied, no gate holds the object and no suspension is left over. Approved: only where gates are required. */
export function bindingConditions(
  status: FluxBindingStatus,
  spec: BindingSpec,
  before: Condition[] | undefined,
  now: EpochMs,
): Condition[] {
  let conditions = setCondition(before, { type: READY, ...cut(ready(status, spec)) }, now);
  const approval = approved(status);
  conditions = approval
    ? setCondition(conditions, { type: APPROVED, ...cut(approval) }, now)
    : conditions.filter((condition) => condition.type !== APPROVED);
  return conditions;
}

function ready(status: FluxBindingStatus, spec: BindingSpec): Finding {
  const { problems = [] } = spec;
  const pins = status.pins ?? [];
  const waits: [reason: string, messages: string[]][] = [
    ['InvalidAnnotations', [...problems]],
    [
      GATE_CLOSED,
      (status.passing ? [] : closedGates(status)).map((gate) =>
        isTooMany(gate) ? `held: ${gate.message}` : `waiting for gate ${refKey(gate)}: ${gate.message}`,
      ),
    ],
    ['Resuming', status.awaits ? [`suspended ${awaitsText(status.awaits)}`] : []],
    ['RolloutNotDeployed', pins.flatMap((pin) => (pin.state === 'Missing' && pin.message ? [pin.message] : []))],
  ];
  const messages = unique(waits.flatMap(([, list]) => list));
  if (messages.length > 0) {
    const reason = waits.find(([, list]) => list.length > 0)![0];
    return { status: 'False', reason, message: messages.join('; ') };
  }
  if (pins.length === 0) return { status: 'True', reason: GATES_OPEN, message: 'All gates are open' };
  const waiting = pins.filter((pin) => pin.state === 'Waiting');
  if (waiting.length > 0) {
    const why = waiting.map((pin) => (pin.message === undefined ? '' : `: ${pin.message}`)).join('');
    const message = `waiting for ${waitingFor(status, spec)} ${unique(waiting.map(deploymentText)).join(', ')}${why}`;
    return { status: 'Unknown', reason: 'Progressing', message };
  }
  return { status: 'True', reason: 'Applied', message: `${unique(pins.map(deploymentText)).join(', ')} applied` };
}

function waitingFor({ source }: FluxBindingStatus, spec: BindingSpec): string {
  const name = `${spec.source?.kind} ${spec.source?.name}`;
  if (source?.stuck !== undefined) return `${name}, which ${source.stuck}, while the object keeps what it has:`;
  return source?.awaits === undefined ? 'Flux to apply' : `${name}, suspended until it has fetched`;
}

function approved(status: FluxBindingStatus): Finding | undefined {
  if (!status.gates?.length) return undefined;
  const closed = closedGates(status);
  if (closed.length === 0) return { status: 'True', reason: GATES_OPEN, message: 'All gates are open' };
  const text = status.passing ? passedText : (gate: GateEntry) => approvalText(gate, gate.message);
  const message = closed.map(text).join(' ');
  return { status: 'False', reason: GATE_CLOSED, message };
}

function closedGates(status: FluxBindingStatus) {
  return (status.gates ?? []).filter((gate) => !gate.opened);
}

function unique(texts: string[]): string[] {
  return [...new Set(texts)];
}

function cut(finding: Finding): Finding {
  return { ...finding, message: finding.message.slice(0, MAX_MESSAGE) };
}
