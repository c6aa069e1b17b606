/** The Warnings about an allowed write of a Flux object. They decide nothing. */
import { AWAITS_ARTIFACT, REQUIRED_GATES, SUSPENDED } from '../../api/annotations.ts';
import type { FluxObject } from '../../api/flux.ts';
import type { Bypass } from '../gate/bypassReason.ts';
import { isLimit, LIMIT_TEXTS } from '../gate/closedGates.ts';
import { isMissing } from '../gate/evaluateGates.ts';
import type { RefRules } from '../gate/gateRefs.ts';
import { newProblems } from '../kube/fieldProblem.ts';
import { deploymentText, parseDeployments } from '../managedField/deployment.ts';
import { rolloutsOfObject } from '../managedField/managedFields.ts';
import type { ManagedFieldInputs } from '../managedField/setManagedFields.ts';
import { areClosed, subjectOf } from '../objectGates/gateTexts.ts';
import { gatesInAnnotation, type ObjectGates } from '../objectGates/objectGates.ts';
import { storedState } from '../objectGates/objectState.ts';
import { unknownAnnotationWarnings } from './unknownAnnotations.ts';

/** The part of a `FluxWrite` that the Warnings are about. */
interface AllowedWrite extends RefRules, Pick<ManagedFieldInputs, 'rollouts'> {
  object: FluxObject;
  old?: FluxObject;
  oldGates?: Pick<ObjectGates, 'all'>;
  bypass?: Bypass;
}

/**
 * @param settled the object as it is stored
 * @param gates that it requires
 */
export function writeWarnings(write: AllowedWrite, settled: FluxObject, gates: ObjectGates): string[] {
  return [
    ...referenceWarnings(write, gates),
    ...absentWarnings(settled, write, gates),
    ...idleSourceWarning(write, gates),
    ...suspendedWarning(settled, write, gates),
    ...awaitsWarning(settled, write),
    ...unknownAnnotationWarnings(write.object, write.old),
  ];
}

/** Warnings about references that the write breaks, or with which it exceeds a limit; for a new object, about each. */
function referenceWarnings(write: AllowedWrite, { problems, limit }: ObjectGates): string[] {
  const { old } = write;
  const known = old && gatesInAnnotation(old, write);
  const state = storedState(old);
  const wasBeyond = state?.is === 'closed' && state.gates.some(isLimit);
  return [...(limit && !wasBeyond ? [`held: ${LIMIT_TEXTS[limit]}`] : []), ...newProblems(problems, known?.problems)];
}

/** The most references in Warnings of one kind. */
const MAX_ABSENT = 3;

/** Warnings about new references to Gates and Rollouts that don't exist: typos, or Git creates the objects later. */
function absentWarnings(settled: FluxObject, write: AllowedWrite, { all }: ObjectGates): string[] {
  const { old, oldGates, rollouts: known } = write;
  const required = new Set(oldGates?.all.map(({ key }) => key));
  const gates = all.filter((gate) => isMissing(gate) && !required.has(gate.key));
  const before = old ? rolloutsOfObject(old) : [];
  const rollouts = rolloutsOfObject(settled).filter((name) => !before.includes(name) && !known.has(name));
  return [
    ...gates.slice(0, MAX_ABSENT).map(({ message }) => `${REQUIRED_GATES}: ${message}`),
    ...rollouts
      .slice(0, MAX_ABSENT)
      .map((name) => `${subjectOf(settled)} is bound to Rollout '${name}', which does not exist`),
  ];
}

/**
 * The Warning about a Gate on an OCI HelmRepository. It holds nothing: Flux doesn't reconcile such an object, and the
 * objects that use it fetch the charts.
 */
function idleSourceWarning({ object, old }: AllowedWrite, gates: ObjectGates): string[] {
  const isIdle = (each: FluxObject | undefined) => each?.kind === 'HelmRepository' && each.spec?.type === 'oci';
  const gatesAnnotation = (each: FluxObject | undefined) => each?.metadata.annotations?.[REQUIRED_GATES];
  const isNew = !isIdle(old) || gatesAnnotation(object) !== gatesAnnotation(old);
  const isGated = gates.all.length > 0 || gates.heldBy.length > 0;
  if (!isGated || !isIdle(object) || !isNew) return [];
  return [
    'a Gate on a HelmRepository of type oci holds nothing: require the Gate on the HelmReleases that use the repository',
  ];
}

/**
 * The Warning that the object is suspended: it was created behind a closed Gate, written with a bypass, or resumed by a
 * user in vain. A limit has a Warning of its own.
 */
function suspendedWarning(settled: FluxObject, { object, old, bypass }: AllowedWrite, gates: ObjectGates): string[] {
  if (gates.heldBy.length === 0 || settled.metadata.annotations?.[SUSPENDED] === undefined) return [];
  if (old && bypass?.granted)
    return ['stored, but still suspended: to let Flux act on it, also set spec.suspend to false'];
  if (old) {
    // Behind a closed Gate the write would have been denied.
    const isResumed = old.spec?.suspend === true && object.spec?.suspend !== true;
    return isResumed && gates.problems.length > 0
      ? ['still suspended: a reference in gate.fluxcd.io/gates names no Gate; correct or remove it']
      : [];
  }
  const { closed } = gates;
  if (!closed || closed.limit) return [];
  return [`${subjectOf(settled)} is suspended: ${areClosed(closed)}`];
}

/** The Warning for a user who resumes an object whose version is being fetched: it is resumed automatically. */
function awaitsWarning({ metadata, spec }: FluxObject, { object, old }: AllowedWrite): string[] {
  const awaits = parseDeployments(metadata.annotations?.[AWAITS_ARTIFACT])[0];
  if (!awaits || old?.spec?.suspend !== true || object.spec?.suspend === spec?.suspend) return [];
  return [`stays suspended until its source has fetched ${deploymentText(awaits)}; it is then resumed automatically`];
}
