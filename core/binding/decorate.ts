/**
 * The writes of the decorator `flux` for one object: its FluxBinding with the report, the annotations that trigger the
 * webhook, and the condition about its Gates.
 */
import {
  ARTIFACT,
  AWAITS_ARTIFACT,
  DEPLOYED,
  GATE_STATE,
  RECONCILE_REQUESTED_AT,
  SUSPENDED,
} from '../../api/annotations.ts';
import type { FluxObject, FluxStatus } from '../../api/flux.ts';
import type { EpochMs } from '../../api/kubernetes.ts';
import type { DeploymentRef, FluxBinding, FluxBindingStatus } from '../../api/types.ts';
import { requiredByBinding } from '../gate/closedGates.ts';
import { statusChangedAt } from '../gate/evaluateGates.ts';
import { sameJson } from '../kube/json.ts';
import { refKey } from '../kube/names.ts';
import { earliestTime, minuteOf, parseTime } from '../kube/time.ts';
import { parseDeployments } from '../managedField/deployment.ts';
import { readManagedField } from '../managedField/managedFields.ts';
import type { ObjectGates } from '../objectGates/objectGates.ts';
import { reportedState } from '../objectGates/objectState.ts';
import { awaitedApply, currentWait, mayApply, reconcileRequest, resumedAloneAt } from '../suspension/applier.ts';
import { withGateCondition } from '../suspension/gateConditions.ts';
import { fitsGates, requestedByRollouts } from '../suspension/stateTriggers.ts';
import { TRACKING_KIND } from './appliedDeployment.ts';
import { gatesOfReport, makeBinding, type Report, type ReportInputs, reportOf } from './bindingSpec.ts';
import { bindingStatus, type ManagedFieldState, targetOfBinding } from './bindingStatus.ts';

interface DecorationInputs {
  object: FluxObject;
  /** The object's FluxBinding as stored. */
  stored: FluxBinding | undefined;
  /** The Gates that the object's annotations record. */
  gates: ObjectGates;
  reportInputs: ReportInputs;
  /** The FluxBindings of objects whose applier this object may be. */
  waiting: readonly FluxBinding[];
  /** Whether the object may request an apply of its own applier. */
  mayRequest: boolean;
}

interface Decoration {
  binding: FluxBinding | undefined;
  /** The annotations to write; null removes one. */
  annotations?: Record<string, string | null>;
  status?: FluxStatus;
  /** The time of the next sync if nothing is written. */
  requeueAt?: EpochMs;
}

/** The interval for the report on a held object: changes of Gates trigger only the decorator `hold`. */
const HELD_REQUEUE_MS = 60_000;

/**
 * The interval for an object that isn't allowed to request its applier's apply yet, whose state doesn't fit its Gates
 * yet, or whose last trigger the webhook hasn't seen.
 */
const PENDING_REQUEUE_MS = 10_000;

export function decorate(from: DecorationInputs, now: EpochMs): Decoration {
  const { object, stored, gates, reportInputs, waiting, mayRequest } = from;
  const wanted = makeBinding(object, gates, stored, mayRequest);
  const next = wanted && nextBinding(wanted, stored, reportInputs, now);
  if (object.metadata.deletionTimestamp) return { binding: next?.binding };

  const nextStatus = next ? next.status : stored?.status;
  const state = requestedByRollouts(object, gates, nextStatus, now);
  const deployed = deploymentTrigger(object, nextStatus, now);
  const requests = waiting.filter((binding) => mayApply(object, targetOfBinding(binding)));
  const requestedAt = reconcileRequest(object, requests, now);
  const annotations = {
    ...(state !== undefined && { [GATE_STATE]: state }),
    ...(deployed !== undefined && { [DEPLOYED]: deployed }),
    ...artifactTrigger(object, nextStatus),
    ...(requestedAt !== undefined && { [RECONCILE_REQUESTED_AT]: requestedAt }),
  };
  // If the state doesn't fit the Gates, the state or the Gates are about to change.
  const fits = fitsGates(object, gates);
  const isTriggered = object.metadata.annotations?.[DEPLOYED]?.includes(DEPLOYED_MINUTE_MARK);
  const wait = currentWait(object, nextStatus);
  const status = state === undefined && fits ? withGateCondition(object, gates, now, wait) : undefined;
  const changes = gates.all.map(({ key, isOpen }) => statusChangedAt(reportInputs.gates.get(key), isOpen, now));
  const statusDue = status && reportDue(changes, now);
  const isPending = (awaitedApply(object) && !mayRequest) || !fits || isTriggered;
  const isHeld = object.metadata.annotations?.[SUSPENDED] !== undefined;
  return {
    binding: next?.binding,
    ...(Object.keys(annotations).length > 0 && { annotations }),
    ...(statusDue === undefined && status && { status }),
    requeueAt: earliestTime([
      next?.requeueAt,
      statusDue,
      resumedAloneAt(wait),
      isPending ? now + PENDING_REQUEUE_MS : undefined,
      isHeld ? now + HELD_REQUEUE_MS : undefined,
    ]),
  };
}

// The FluxBinding.

interface NextBinding {
  binding: FluxBinding;
  /** The next status of the FluxBinding, to decide on writes of the object; the present one if an input is missing. */
  status: FluxBindingStatus | undefined;
  /** When a delayed report is due, or the present one ends. */
  requeueAt?: EpochMs;
}

/**
 * The FluxBinding to write, with the decorator's report if the decorator has all inputs. Also its next status, on which
 * the decorator acts before the FluxBinding's own hook has stored it.
 */
export function nextBinding(
  wanted: FluxBinding,
  stored: FluxBinding | undefined,
  inputs: ReportInputs,
  now: EpochMs,
): NextBinding {
  if (!hasAllInputs(wanted, inputs)) return { binding: wanted, status: stored?.status };
  const { report, requeueAt } = reportOf(wanted, inputs, now);
  const { report: before, ...others } = stored?.spec ?? {};
  const isOnlyReport = before !== undefined && sameJson(others, wanted.spec) && !sameJson(before, report);
  // A bypass is reported at once: until then the FluxBinding shows that Gates hold the deployment.
  const mayWait = isOnlyReport && sameJson(before.bypassing, report.bypassing);
  const due = mayWait ? reportDue(changesOf(report, inputs, now), now) : undefined;
  return {
    binding: { ...wanted, spec: { ...wanted.spec!, report: due === undefined ? report : before! } },
    status: statusWithoutSource(wanted, stored?.status, report, now),
    requeueAt: earliestTime([due, requeueAt]),
  };
}

/** The next status, computed without the source and the applier: the fields that depend on them keep their values. */
function statusWithoutSource(
  binding: FluxBinding,
  stored: FluxBindingStatus | undefined,
  report: Report,
  now: EpochMs,
): FluxBindingStatus {
  const { source: _, awaits: __, ...status } = bindingStatus({ ...binding, status: stored }, { report }, now);
  return { ...status, source: stored?.source, awaits: stored?.awaits };
}

/** Gates of a report in the spec, which has the message of each. With more, the FluxBinding's own hook reports. */
const MAX_GATES_IN_REPORT = 16;

/**
 * Whether the inputs have every Rollout and Gate that the object names, so that its decorator can make the report.
 * An atomic update of tag and variable (core/managedField/atomicUpdate.ts) and a HelmRelease need the object's source
 * too, which only the FluxBinding relates.
 */
function hasAllInputs({ spec, metadata }: FluxBinding, { rollouts, gates }: ReportInputs): boolean {
  if (!spec || spec.target.kind === TRACKING_KIND) return false;
  if (spec.source?.kind === 'OCIRepository' && spec.source.namespace === metadata.namespace) return false;
  const { fields = [] } = spec;
  const { refs, limit } = requiredByBinding(spec);
  if (limit || (fields.length === 0 && refs.length === 0)) return false;
  if (refs.length > MAX_GATES_IN_REPORT) return false;
  return fields.every(({ rollout }) => rollouts.has(rollout)) && refs.every((ref) => gates.has(refKey(ref)));
}

/** The times of the deployments and of the changes of Gates in the report. */
function changesOf(report: Report, { rollouts, gates }: ReportInputs, now: EpochMs): EpochMs[] {
  const deployed = [...rollouts.values()].map(({ status }) => parseTime(status?.history?.[0]?.timestamp) ?? 0);
  const changed = gatesOfReport(report).map((gate) => statusChangedAt(gates.get(refKey(gate)), gate.opened, now));
  return [...deployed, ...changed];
}

/**
 * The delay from a deployment or a change of a Gate to its reports, in the FluxBinding and in the object's status. Each
 * write of a FluxBinding is a sync of everything related (ADR 2), and each written status costs two writes of
 * Metacontroller. In that time Flux applies most deployments, which are then reported with their proof, and a freeze
 * suspends a thousand objects.
 */
const REPORT_DELAY_MS = 15_000;

/** The time at which these changes are reported; undefined if that is now. */
function reportDue(changes: readonly EpochMs[], now: EpochMs): EpochMs | undefined {
  const last = Math.max(0, ...changes);
  return last <= now && now < last + REPORT_DELAY_MS ? last + REPORT_DELAY_MS : undefined;
}

// The annotations whose write makes the webhook set the managed fields of the object to its deployments.

/**
 * The value of the annotation DEPLOYED to write; undefined if nothing is to be written. The write only triggers the
 * webhook, which computes the value itself. If the annotation is right and only the field is wrong, the value gets the
 * present minute.
 * @param status of the FluxBinding. `deployed` has the newest deployment of each Rollout that the object tracks, in the
 *   form of the annotation; `fields` has the state of each managed field
 */
function deploymentTrigger(
  object: FluxObject,
  status: FluxBindingStatus | undefined,
  now: EpochMs,
): string | undefined {
  if (!status || reportedState(status) === 'closed') return undefined;
  const bypassing = status.bypassing ?? [];
  const stored = object.metadata.annotations?.[DEPLOYED];
  const carried = parseDeployments(stored);
  const maySet = ({ state, rollout }: ManagedFieldState) =>
    state !== 'Missing' && (bypassing.length === 0 || bypassing.some((deployment) => deployment.rollout === rollout));
  const fields = (status.fields ?? []).filter(maySet);
  const present = new Set(fields.map((field) => field.rollout));
  const wanted = parseDeployments(status.deployed).filter(({ rollout }) => present.has(rollout));
  const awaitsGit = ({ rollout, version }: DeploymentRef) =>
    fields.some(
      (field) =>
        field.rollout === rollout && field.writeBack !== undefined && readManagedField(object, field) !== version,
    );
  if (wanted.some((deployment) => isNewer(deployment, carried) && !awaitsGit(deployment))) return status.deployed;
  if (!fields.some((field) => hasDrifted(object, field, carried))) return undefined;
  const again = `${stored!.split(DEPLOYED_MINUTE_MARK)[0]}${DEPLOYED_MINUTE_MARK}${minuteOf(now)}`;
  return stored === again ? undefined : again;
}

/** Makes the minute in the annotation DEPLOYED an entry that names no deployment. */
const DEPLOYED_MINUTE_MARK = ',@';

/** The annotations ARTIFACT and AWAITS_ARTIFACT to write. As with DEPLOYED, the write only triggers the webhook. */
function artifactTrigger(object: FluxObject, status: FluxBindingStatus | undefined): Record<string, string | null> {
  if (!status || reportedState(status) === 'closed') return {};
  const { annotations = {} } = object.metadata;
  const { source } = status;
  const wanted: Record<string, string | null> = {};
  const present = annotations[ARTIFACT];
  const isStale = present === undefined || (source?.artifact !== undefined && source.artifact !== present);
  if (!source && present !== undefined) wanted[ARTIFACT] = null;
  if (source && isStale) wanted[ARTIFACT] = source.artifact ?? '';
  if (annotations[AWAITS_ARTIFACT] !== source?.awaits) wanted[AWAITS_ARTIFACT] = source?.awaits ?? null;
  return wanted;
}

/** Whether the wanted deployment is newer than the carried one. A binding may lag: an older id is never written. */
function isNewer(wanted: DeploymentRef, carried: readonly DeploymentRef[]): boolean {
  const have = carried.find((deployment) => deployment.rollout === wanted.rollout);
  if (!have || have.uid !== wanted.uid) return true;
  return wanted.id > have.id || (wanted.id === have.id && wanted.version !== have.version);
}

/** Whether the field lacks the version in the annotation: a client wrote the field while the webhook was down. */
function hasDrifted(object: FluxObject, field: ManagedFieldState, carried: readonly DeploymentRef[]): boolean {
  const deployment = carried.find(({ rollout }) => rollout === field.rollout);
  return deployment !== undefined && readManagedField(object, field) !== deployment.version;
}
