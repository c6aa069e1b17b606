/**
 * The spec of a FluxBinding: the Rollouts and Gates of one Flux object, the observed deployments, and the report.
 */
import { BOUND_LABEL_SUFFIX, RESUME_LABEL } from '../../api/annotations.ts';
import type { FluxObject } from '../../api/flux.ts';
import { apiVersionOf, KINDS } from '../../api/kinds.ts';
import type { EpochMs } from '../../api/kubernetes.ts';
import type { DeploymentRef, FluxBinding, FluxBindingSpec, FluxBindingStatus, Gate, Rollout } from '../../api/types.ts';
import {
  bindingGates,
  closureKeys,
  LIMIT_TEXTS,
  reportedClosed,
  requiredByBinding,
  storedLimit,
} from '../gate/closedGates.ts';
import { evaluateGates, fullMessage, type GateResult, redactFor } from '../gate/evaluateGates.ts';
import { byRefKey, objectName, shortHash } from '../kube/names.ts';
import { earliestTime, formatTime } from '../kube/time.ts';
import { LIMITS } from '../limits.ts';
import { deploymentOf } from '../managedField/deployment.ts';
import { managedFieldsOf } from '../managedField/managedFields.ts';
import { sourceOf } from '../managedField/source.ts';
import type { RequiredByObject } from '../objectGates/objectGates.ts';
import { writeBackName } from '../policy/derivedPolicy.ts';
import { awaitedApply, resumeLabel } from '../suspension/applier.ts';
import { currentGrant, grantCovers, hasEverReconciled } from '../suspension/bypassGrant.ts';
import { observedOf } from './appliedDeployment.ts';

export function bindingName(object: FluxObject): string {
  return objectName(object.kind, object.metadata.name ?? '');
}

/**
 * The FluxBinding of the object; undefined for an object that tracks no Rollout, requires no Gate, has no problem, and
 * waits for no applier.
 * @param mayRequest whether the object may request an apply of its applier
 */
export function makeBinding(
  object: FluxObject,
  required: RequiredByObject,
  before: FluxBinding | undefined,
  mayRequest: boolean,
): FluxBinding | undefined {
  const { fields: own, tracks, problems: fieldProblems } = managedFieldsOf(object);
  const fields = tracks === undefined ? own : [{ rollout: tracks }];
  const gates = bindingGates(required).slice(0, LIMITS.requiredGates);
  const limitProblem = required.limit ? [LIMIT_TEXTS[required.limit]] : [];
  const problems = [...fieldProblems, ...required.problems, ...limitProblem];
  const awaits = awaitedApply(object);
  if (fields.length === 0 && gates.length === 0 && problems.length === 0 && !awaits) return undefined;
  const source = fields.length > 0 ? sourceOf(object) : undefined;
  const observed = fields.length > 0 ? observedOf(object, before) : {};
  const spec: FluxBindingSpec = {
    target: {
      apiVersion: object.apiVersion,
      kind: object.kind,
      name: object.metadata.name ?? '',
      uid: object.metadata.uid ?? '',
    },
    ...(fields.length > 0 && { fields }),
    ...(gates.length > 0 && { gates }),
    ...(fields.length > 0 && gates.length > 0 && !hasEverReconciled(object) && { neverReconciled: true }),
    ...(problems.length > 0 && { problems }),
    source,
    awaits,
    // An empty map would be written again at every sync (docs/facts.md, M10).
    ...(Object.keys(observed).length > 0 && { observed }),
  };
  const labels = Object.fromEntries(fields.map((field) => [boundLabel(field.rollout), '']));
  if (awaits && mayRequest) labels[RESUME_LABEL] = resumeLabel(awaits);
  return {
    apiVersion: apiVersionOf(KINDS.FluxBinding),
    kind: 'FluxBinding',
    metadata: {
      name: bindingName(object),
      namespace: object.metadata.namespace ?? '',
      ...(Object.keys(labels).length > 0 && { labels }),
    },
    spec,
  };
}

/** Kubernetes' limit for the part of a label's key before the slash, in characters. */
const MAX_LABEL_PREFIX = 253;

/** The key of the label that a FluxBinding has for each of its Rollouts. The value is empty. */
export function boundLabel(rollout: string): string {
  const [prefix = ''] = BOUND_LABEL_SUFFIX.split('/');
  const isLegal = rollout.length + 1 + prefix.length <= MAX_LABEL_PREFIX;
  return `${isLegal ? rollout : shortHash(rollout)}.${BOUND_LABEL_SUFFIX}`;
}

// The report: the deployments and Gate states that apply to the object.
// The object's decorator makes the report and stores it in the spec: that saves a write and two syncs for each
// deployment (ADR 2). Metacontroller sends a decorator only the objects that the annotations named at its last
// customize call (docs/facts.md, M6). If one is missing, the FluxBinding's own hook makes the report.

/** The Rollouts and Gates of an object that Metacontroller sent to one hook. More may exist. */
export interface ReportInputs {
  /** Keyed by name: all are in the object's namespace. */
  rollouts: ReadonlyMap<string, Rollout>;
  /** Keyed by `namespace/name`. */
  gates: ReadonlyMap<string, Gate>;
}

/** The entry of one Gate, with only the details that readers in the FluxBinding's namespace may see. */
type GateEntry = NonNullable<FluxBindingStatus['gates']>[number];

/** The report, as the spec of a FluxBinding stores it. */
export type Report = NonNullable<FluxBindingSpec['report']>;

export function reportInputsOf(rollouts: readonly Rollout[], gates: readonly Gate[]): ReportInputs {
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
): { report: Report; requeueAt: EpochMs | undefined } {
  const { refs, limit } = requiredByBinding(spec);
  const evaluated = evaluateGates(refs, gates, now);
  const entries: GateEntry[] = [
    ...(limit ? [{ ...storedLimit(limit), opened: false, message: LIMIT_TEXTS[limit] }] : []),
    ...redactFor(evaluated, metadata.namespace ?? '').map(gateEntry),
  ];
  const ends = [...rollouts.values()].flatMap((rollout) => currentGrant(rollout)?.end ?? []).filter((end) => end > now);
  const existing = rolloutsOfBinding(spec).flatMap((name) => rollouts.get(name) ?? []);
  const closures = closureKeys(reportedClosed(entries));
  const bypassing = spec?.neverReconciled ? [] : existing.filter((rollout) => grantCovers(rollout, closures, now));
  const report = {
    ...(existing.length > 0 && {
      rollouts: existing.map((rollout) => {
        const writeBack = writeBackName(rollout);
        return { rollout: rollout.metadata.name ?? '', ...deploymentOf(rollout), ...(writeBack && { writeBack }) };
      }),
    }),
    // Not "name": Metacontroller merges the lists of an attachment by name (docs/facts.md, M16).
    ...(entries.length > 0 && { gates: entries.map(({ name, ...entry }) => ({ ...entry, gate: name })) }),
    ...(bypassing.length > 0 && { bypassing: bypassing.map((rollout) => deploymentOf(rollout)!) }),
  };
  return { report, requeueAt: earliestTime([...evaluated.map(({ until }) => until), ...ends]) };
}

function gateEntry(gate: GateResult): GateEntry {
  return {
    namespace: gate.ref.namespace,
    name: gate.ref.name,
    opened: gate.isOpen,
    message: fullMessage(gate),
    ...(gate.until !== undefined && { until: formatTime(gate.until) }),
    ...(gate.closure && { closure: gate.closure }),
  };
}

/** The Gates of the report, in the form of `status.gates`. */
export function gatesOfReport({ gates = [] }: Report): GateEntry[] {
  return gates.map(({ gate, ...entry }) => ({ ...entry, name: gate }));
}

/** The newest deployment of the Rollout in the report; undefined if it has deployed nothing, or does not exist. */
export function headOf({ rollouts = [] }: Report, name: string): DeploymentRef | undefined {
  const { rollout, id, version, uid } = rollouts.find((each) => each.rollout === name) ?? {};
  return rollout === undefined || id === undefined || version === undefined || uid === undefined
    ? undefined
    : { rollout, id, version, uid };
}

/** The names of the Rollouts that the object tracks, sorted. */
export function rolloutsOfBinding(spec: FluxBindingSpec | undefined): string[] {
  return [...new Set((spec?.fields ?? []).map((field) => field.rollout))].sort();
}
