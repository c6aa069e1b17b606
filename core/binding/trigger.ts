/** The annotations that trigger the webhook to set the managed fields of a Flux object to its deployments. */
import { ARTIFACT, AWAITS_ARTIFACT, DEPLOYED } from '../../api/annotations.ts';
import type { FluxObject } from '../../api/flux.ts';
import type { DeploymentRef, FluxBindingStatus } from '../../api/types.ts';
import { parseDeployments } from '../managedField/deployment.ts';
import { readManagedField } from '../managedField/managedFields.ts';
import { hasEverReconciled } from '../suspension/bypassGrant.ts';
import { carries } from './appliedDeployment.ts';
import type { ManagedFieldState } from './bindingStatus.ts';

/**
 * The value of the annotation DEPLOYED to write; undefined for no write. The write only triggers the webhook, which
 * computes the value itself. If only the field is wrong, null removes the annotation.
 * @param status of the FluxBinding: `deployed` has the newest deployment of each Rollout that the object tracks, in the
 * form of the annotation, and `fields` the state of each managed field
 */
export function deploymentTrigger(
  object: FluxObject,
  status: FluxBindingStatus | undefined,
): string | null | undefined {
  if (!status?.deployed || isHeldByGates(status)) return undefined;
  const bypassing = status.bypassing ?? [];
  if (bypassing.length > 0 && !hasEverReconciled(object)) return undefined;
  const carried = parseDeployments(object.metadata.annotations?.[DEPLOYED]);
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
  const drifted = fields.some((field) => hasDrifted(object, field, wanted, carried));
  return drifted ? null : undefined;
}

/** The annotations ARTIFACT and AWAITS_ARTIFACT to write. As with DEPLOYED, the write only triggers the webhook. */
export function artifactTrigger(
  object: FluxObject,
  status: FluxBindingStatus | undefined,
): Record<string, string | null> {
  if (!status || isHeldByGates(status) || (status.bypassing && !hasEverReconciled(object))) return {};
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

/** Whether closed Gates block all changes of the object except those by a bypassing deployment. */
export function isHeldByGates(status: FluxBindingStatus | undefined): boolean {
  return (status?.gates?.some((gate) => !gate.opened) ?? false) && !status?.bypassing?.length;
}

/**
 * Whether the wanted deployment is newer than the carried one. A binding may lag, and an older id must never be
 * written.
 */
function isNewer(wanted: DeploymentRef, carried: readonly DeploymentRef[]): boolean {
  const have = carried.find((deployment) => deployment.rollout === wanted.rollout);
  if (!have || have.uid !== wanted.uid) return true;
  return wanted.id > have.id || (wanted.id === have.id && wanted.version !== have.version);
}

/** Whether the object has the annotation without the value: a client wrote it while the webhook was down. */
function hasDrifted(
  object: FluxObject,
  field: ManagedFieldState,
  wanted: readonly DeploymentRef[],
  carried: readonly DeploymentRef[],
): boolean {
  const deployment = wanted.find(({ rollout }) => rollout === field.rollout);
  return (
    deployment !== undefined && carries(carried, deployment) && readManagedField(object, field) !== deployment.version
  );
}
