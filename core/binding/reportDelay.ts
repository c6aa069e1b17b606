/**
 * The time at which a changed report is written into a FluxBinding.
 * Each write of a FluxBinding is a sync of everything related (ADR 2), so two kinds of changes wait:
 *
 * - a deployment that Flux has not applied yet: most are applied before anyone needs to see "Waiting";
 * - a Gate that has just opened or closed: a freeze writes its suspensions first.
 */
import type { EpochMs } from '../../api/kubernetes.ts';
import { statusChangedAt } from '../gate/evaluateGates.ts';
import { sameJson } from '../kube/json.ts';
import { refKey } from '../kube/names.ts';
import { parseTime } from '../kube/time.ts';
import type { Inputs, Report } from './bindingReport.ts';

/**
 * The delay from a deployment to its report: longer than a burst of thousands of deployments, whose work the reports
 * would double.
 */
const DEPLOYMENT_DELAY_MS = 600_000;
/** The delay from a change of a Gate to its report. A thousand objects are suspended in less time. */
const GATE_DELAY_MS = 15_000;

/** When the next report has to be written; undefined if it has to be written now. */
export function reportDue(before: Report, next: Report, inputs: Inputs, now: EpochMs): EpochMs | undefined {
  if (!sameJson(urgentPart(before), urgentPart(next))) return undefined;
  const changes = [...changedRollouts(before, next, inputs), ...changedGates(before, next, inputs, now)];
  const due = changes.map(({ at, delay }) => (at <= now ? at + delay : now));
  return due.length > 0 && due.every((at) => at > now) ? Math.min(...due) : undefined;
}

interface Change {
  /** The time of the change; 0 if it is unknown, so that the report is due. */
  at: EpochMs;
  /** Milliseconds until the change has to be reported. */
  delay: number;
}

/** Changes of deployments that are not in the report yet. */
function changedRollouts(before: Report, next: Report, { rollouts }: Inputs): Change[] {
  const was = new Map((before.rollouts ?? []).map((each) => [each.rollout, each]));
  return (next.rollouts ?? []).flatMap((entry) => {
    if (sameJson(was.get(entry.rollout), entry)) return [];
    const [head] = rollouts.get(entry.rollout)?.status?.history ?? [];
    return [{ at: parseTime(head?.timestamp) ?? 0, delay: DEPLOYMENT_DELAY_MS }];
  });
}

/** Changes of Gates. A Gate whose own status does not show the change yet counts as changed now. */
function changedGates(before: Report, next: Report, { gates }: Inputs, now: EpochMs): Change[] {
  const was = new Map((before.gates ?? []).map((gate) => [refKey(gate), gate]));
  return (next.gates ?? []).flatMap((entry) => {
    if (sameJson(was.get(refKey(entry)), entry)) return [];
    return [{ at: statusChangedAt(gates.get(refKey(entry)), entry.opened, now), delay: GATE_DELAY_MS }];
  });
}

/** The part of a report whose changes are written at once: the Rollouts, the Gates, and the bypassing deployments. */
function urgentPart({ rollouts = [], gates = [], bypassing }: Report) {
  return { rollouts: rollouts.map(({ rollout }) => rollout), gates: gates.map(refKey), bypassing };
}
