/**
 * Delays the report of a deployment that Flux has not applied yet, and of a Gate that has just opened or closed. Most deployments are applied before
 * anyone needs to see "Waiting", a freeze writes its suspensions first, and each write of a FluxBinding is a sync of everything related. ADR 2.
 */
import type { EpochMs } from '../../api/kubernetes.ts';
import type { FluxBinding, FluxBindingStatus } from '../../api/types.ts';
import { changedAt } from '../gate/evaluateGates.ts';
import { sameJson } from '../kube/json.ts';
import { refKey } from '../kube/names.ts';
import { parseTime } from '../kube/time.ts';
import { decodeReport, encodeReport, hasAllInputs, type Inputs, type Report, reportOf } from './bindingReport.ts';
import { bindingStatus } from './bindingStatus.ts';

/** From a deployment until its report. Longer than a burst of thousands, which reports in its midst would double. */
const DEPLOYMENT_DELAY_MS = 600_000;
/** From a first deployment until its report: until then the FluxBinding reports that its Rollout has deployed nothing, which is false. */
const FIRST_DEPLOYMENT_DELAY_MS = 60_000;
/** From the opening or closing of a Gate until its report. Longer than the suspension of a thousand objects takes. */
const GATE_DELAY_MS = 15_000;

interface Reporting {
  binding: FluxBinding;
  /** The status that the FluxBinding will have, as far as the object's writes depend on it; its present one where an input is missing. */
  status: FluxBindingStatus | undefined;
  /** When a delayed report is due, or the present one ends. */
  requeueAt?: EpochMs;
}

/** @param observed the FluxBinding as it is stored */
export function withReport(
  wanted: FluxBinding,
  observed: FluxBinding | undefined,
  inputs: Inputs,
  now: EpochMs,
): Reporting {
  if (!hasAllInputs(wanted, inputs)) return { binding: wanted, status: observed?.status };
  const { report, until } = reportOf(wanted, inputs, now);
  const { report: before, ...others } = observed?.spec ?? {};
  const isOnlyReport = before !== undefined && sameJson(others, wanted.spec);
  const due = isOnlyReport ? reportDue(decodeReport(before), report, inputs, now) : undefined;
  const requeues = [due, until].filter((at) => at !== undefined);
  return {
    binding: { ...wanted, spec: { ...wanted.spec!, report: due === undefined ? encodeReport(report) : before! } },
    status: statusWith(wanted, observed?.status, report, now),
    ...(requeues.length > 0 && { requeueAt: Math.min(...requeues) }),
  };
}

/** Source and applier are not among the inputs: what depends on them stays as observed. */
function statusWith(
  binding: FluxBinding,
  observed: FluxBindingStatus | undefined,
  report: Report,
  now: EpochMs,
): FluxBindingStatus {
  const { source: _, awaits: __, ...status } = bindingStatus({ ...binding, status: observed }, { report }, now);
  return { ...status, source: observed?.source, awaits: observed?.awaits };
}

/** When the next report has to be written; undefined: now. */
function reportDue(before: Report, next: Report, inputs: Inputs, now: EpochMs): EpochMs | undefined {
  if (!sameJson(urgentPart(before), urgentPart(next))) return undefined;
  const changes = [...changedRollouts(before, next, inputs), ...changedGates(before, next, inputs, now)];
  const due = changes.map(({ at, delay }) => (at <= now ? at + delay : now));
  return due.length > 0 && due.every((at) => at > now) ? Math.min(...due) : undefined;
}

interface Change {
  /** 0 where it is not known: long ago. */
  at: EpochMs;
  /** Milliseconds for which it may go unreported. */
  delay: number;
}

/** Deployments that the object has applied are not in the report: the status reports them at once. */
function changedRollouts(before: Report, next: Report, { rollouts }: Inputs): Change[] {
  const was = new Map((before.rollouts ?? []).map((each) => [each.rollout, each]));
  return (next.rollouts ?? []).flatMap((entry) => {
    const earlier = was.get(entry.rollout);
    if (sameJson(earlier, entry)) return [];
    const [head] = rollouts.get(entry.rollout)?.status?.history ?? [];
    const delay = earlier?.id === undefined ? FIRST_DEPLOYMENT_DELAY_MS : DEPLOYMENT_DELAY_MS;
    return [{ at: parseTime(head?.timestamp) ?? 0, delay }];
  });
}

/** A Gate whose own status does not show the change yet counts as changed now. */
function changedGates(before: Report, next: Report, { gates }: Inputs, now: EpochMs): Change[] {
  const was = new Map((before.gates ?? []).map((gate) => [refKey(gate), gate]));
  return (next.gates ?? []).flatMap((entry) => {
    if (sameJson(was.get(refKey(entry)), entry)) return [];
    return [{ at: changedAt(gates.get(refKey(entry)), entry.opened, now), delay: GATE_DELAY_MS }];
  });
}

/** A change of this is reported at once: other Rollouts, other Gates, another deployment that bypasses them. */
function urgentPart({ rollouts = [], gates = [], passing }: Report) {
  return { rollouts: rollouts.map(({ rollout }) => rollout), gates: gates.map(refKey), passing };
}
