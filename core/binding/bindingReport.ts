/**
 * The report: the deployments and Gate states that apply to one Flux object.
 * The object's decorator makes the report and stores it in the spec of the FluxBinding: that saves a write and two
 * syncs for each deployment (ADR 2).
 * Metacontroller sends a decorator only the objects that the annotations named at its last customize call
 * (docs/facts.md, M6). If an object is missing, the FluxBinding's own hook makes the report.
 */
import type { EpochMs } from '../../api/kubernetes.ts';
import type { DeploymentRef, FluxBinding, FluxBindingSpec, FluxBindingStatus, Gate, Rollout } from '../../api/types.ts';
import { evaluateGates, fullMessage, type GateResult, redactFor, statusChangedAt } from '../gate/evaluateGates.ts';
import { requiredGatesOfBinding } from '../gate/gateRefs.ts';
import { sameJson } from '../kube/json.ts';
import { byRefKey, refKey } from '../kube/names.ts';
import { formatTime, parseTime } from '../kube/time.ts';
import { deploymentOf } from '../managedField/deployment.ts';
import { closureKey } from '../objectGates/objectState.ts';
import { writeBackName } from '../policy/derivedPolicy.ts';
import { bypassesGates, bypassGrantEnds } from '../suspension/bypassGrant.ts';
import { TRACKING_KIND } from './appliedDeployment.ts';

/** The Rollouts and Gates of an object that Metacontroller sent to one hook. More may exist. */
export interface ReportInputs {
  /** Keyed by name: all are in the object's namespace. */
  rollouts: ReadonlyMap<string, Rollout>;
  /** Keyed by `namespace/name`. */
  gates: ReadonlyMap<string, Gate>;
}

/** The entry of one Gate, with only the details that readers in the FluxBinding's namespace may see. */
export type GateEntry = NonNullable<FluxBindingStatus['gates']>[number];

/** The report as it is stored in the spec of a FluxBinding. */
type EncodedReport = NonNullable<FluxBindingSpec['report']>;

export interface Report extends Omit<EncodedReport, 'gates'> {
  gates?: GateEntry[];
}

export function reportInputs(rollouts: readonly Rollout[], gates: readonly Gate[]): ReportInputs {
  return {
    rollouts: new Map(rollouts.map((rollout) => [rollout.metadata.name ?? '', rollout])),
    gates: byRefKey(gates),
  };
}

/** The report on a FluxBinding, and the time at which it changes even if no object does. */
export function reportOf(
  { spec, metadata }: FluxBinding,
  { rollouts, gates }: ReportInputs,
  now: EpochMs,
): { report: Report; requeueAt?: EpochMs } {
  const evaluated = evaluateGates(requiredGatesOfBinding(spec), gates, now);
  const entries = redactFor(evaluated, metadata.namespace ?? '').map(gateEntry);
  const ends = [...rollouts.values()].flatMap((rollout) => bypassGrantEnds(rollout) ?? []).filter((end) => end > now);
  const edges = [...evaluated.flatMap((gate) => gate.until ?? []), ...ends];
  const report = reportWith(spec, rollouts, entries, now);
  return { report, ...(edges.length > 0 && { requeueAt: Math.min(...edges) }) };
}

/**
 * The report with these entries of Gates.
 * @param gates one entry for each Gate of the spec
 */
export function reportWith(
  spec: FluxBindingSpec | undefined,
  rollouts: ReportInputs['rollouts'],
  gates: readonly GateEntry[],
  now: EpochMs,
): Report {
  const existing = rolloutsOfBinding(spec).flatMap((name) => rollouts.get(name) ?? []);
  const closures = closedClosures(gates);
  const bypassing = existing.filter((rollout) => bypassesGates(rollout, closures, now));
  return {
    ...(existing.length > 0 && {
      rollouts: existing.map((rollout) => {
        const writeBack = writeBackName(rollout);
        return { rollout: rollout.metadata.name ?? '', ...deploymentOf(rollout), ...(writeBack && { writeBack }) };
      }),
    }),
    ...(gates.length > 0 && { gates: [...gates] }),
    ...(bypassing.length > 0 && { bypassing: bypassing.map((rollout) => deploymentOf(rollout)!) }),
  };
}

function gateEntry(gate: GateResult): GateEntry {
  return {
    namespace: gate.ref.namespace,
    name: gate.ref.name,
    opened: gate.open,
    message: fullMessage(gate),
    ...(gate.until !== undefined && { until: formatTime(gate.until) }),
    ...(gate.closure && { closure: gate.closure }),
  };
}

export function encodeReport({ gates, ...rest }: Report): EncodedReport {
  return { ...rest, ...(gates && { gates: gates.map(({ name, ...entry }) => ({ ...entry, gate: name })) }) };
}

export function decodeReport({ gates, ...rest }: EncodedReport): Report {
  return { ...rest, ...(gates && { gates: gates.map(({ gate, ...entry }) => ({ ...entry, name: gate })) }) };
}

/** The newest deployment of the Rollout; undefined if it has deployed nothing, or does not exist. */
export function headOf({ rollouts = [] }: Report, name: string): DeploymentRef | undefined {
  const { rollout, id, version, uid } = rollouts.find((each) => each.rollout === name) ?? {};
  return rollout === undefined || id === undefined || version === undefined || uid === undefined
    ? undefined
    : { rollout, id, version, uid };
}

/** The closed Gates, each in the form of `closureKey`. */
export function closedClosures(gates: readonly GateEntry[] | undefined): string[] {
  return (gates ?? []).filter(({ opened }) => !opened).map((gate) => closureKey({ ref: gate, closure: gate.closure }));
}

/** The names of the Rollouts that the object tracks, sorted. */
export function rolloutsOfBinding(spec: FluxBindingSpec | undefined): string[] {
  return [...new Set((spec?.fields ?? []).map((field) => field.rollout))].sort();
}

/**
 * The most Gates of a report in the spec, which has a message for each. With more, the FluxBinding's own hook reports.
 */
const MAX_GATES_IN_REPORT = 16;

/**
 * Whether the inputs have every Rollout and Gate that the object names, so that its decorator can make the report.
 * An atomic update of tag and variable (core/managedField/atomicUpdate.ts), and a HelmRelease, also need the object's
 * source, which only the FluxBinding relates.
 */
export function hasAllInputs({ spec, metadata }: FluxBinding, { rollouts, gates }: ReportInputs): boolean {
  if (!spec || spec.target.kind === TRACKING_KIND) return false;
  if (spec.source?.kind === 'OCIRepository' && spec.source.namespace === metadata.namespace) return false;
  const { fields = [] } = spec;
  const required = requiredGatesOfBinding(spec);
  if (fields.length === 0 && required.length === 0) return false;
  if (required.length > MAX_GATES_IN_REPORT) return false;
  return fields.every(({ rollout }) => rollouts.has(rollout)) && required.every((ref) => gates.has(refKey(ref)));
}

// Delays of changed reports. Each write of a FluxBinding causes a sync of everything related (ADR 2), so two kinds of
// changes wait:
// - a deployment that Flux has not applied yet: most are applied before a user needs to see "Waiting". A Rollout's
// first deployment waits less, because until then the FluxBinding shows that nothing is deployed;
// - a Gate that has just opened or closed: a freeze writes its suspensions first.

/**
 * The delay from a deployment to its report. It outlasts a burst of thousands of deployments, whose cost the reports
 * would double.
 */
const DEPLOYMENT_DELAY_MS = 600_000;
/**
 * The delay of a Rollout's first deployment: it costs one more write of the FluxBinding, unless Flux applies it in
 * time.
 */
const FIRST_DEPLOYMENT_DELAY_MS = 10_000;
/** The delay from a change of a Gate to its report. A thousand objects are suspended in less time. */
const GATE_DELAY_MS = 15_000;

/** The time at which the next report has to be written; undefined for now. */
export function reportDue(before: Report, next: Report, inputs: ReportInputs, now: EpochMs): EpochMs | undefined {
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
function changedRollouts(before: Report, next: Report, { rollouts }: ReportInputs): Change[] {
  const was = new Map((before.rollouts ?? []).map((each) => [each.rollout, each]));
  return (next.rollouts ?? []).flatMap((entry) => {
    const reported = was.get(entry.rollout);
    if (sameJson(reported, entry)) return [];
    const [head] = rollouts.get(entry.rollout)?.status?.history ?? [];
    const delay = reported?.id === undefined ? FIRST_DEPLOYMENT_DELAY_MS : DEPLOYMENT_DELAY_MS;
    return [{ at: parseTime(head?.timestamp) ?? 0, delay }];
  });
}

/** Changes of Gates. If the Gate's own status doesn't show the change yet, it counts as changed now. */
function changedGates(before: Report, next: Report, { gates }: ReportInputs, now: EpochMs): Change[] {
  const was = new Map((before.gates ?? []).map((gate) => [refKey(gate), gate]));
  return (next.gates ?? []).flatMap((entry) => {
    if (sameJson(was.get(refKey(entry)), entry)) return [];
    return [{ at: statusChangedAt(gates.get(refKey(entry)), entry.opened, now), delay: GATE_DELAY_MS }];
  });
}

/**
 * The part of a report whose changes are written at once: which Rollouts and Gates there are, and the bypassing
 * deployments.
 */
function urgentPart({ rollouts = [], gates = [], bypassing }: Report) {
  return { rollouts: rollouts.map(({ rollout }) => rollout), gates: gates.map(refKey), bypassing };
}
