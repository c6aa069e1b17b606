/**
 * The permissions that a deployment had, for `history[].approvals`: requests that opened Gates, approvals, and listings
 * in `allowedVersions`.
 */
import { LISTED } from '../../../api/annotations.ts';
import type { HistoryEntry, RolloutGate } from '../../../api/types.ts';
import type { Approval } from '../../approval/approvalRecord.ts';
import type { GateResult } from '../../gate/evaluateGates.ts';
import { formatTime } from '../../kube/time.ts';
import { LIMITS } from '../../limits.ts';
import { listedOn, parseListed } from '../../record/listRecord.ts';
import type { RolloutGateApprovals } from './versionApprovals.ts';

export type StoredPermission = NonNullable<HistoryEntry['approvals']>[number];

/** The number of Gates for which a deployment records the users who opened or bypassed them. */
export const GATES_IN_HISTORY = 10;
const MAX_PERMISSIONS = 20;

/** The permissions that a deployment of the version records: those at its Gates, then those at its RolloutGates. */
export function storedPermissions(
  atGates: readonly StoredPermission[],
  requiredApprovals: readonly RolloutGateApprovals[],
  rolloutGates: readonly RolloutGate[],
  version: string,
): StoredPermission[] {
  const counted = requiredApprovals.flatMap((each) => countedApprovals(each, version));
  const listings = rolloutGates.flatMap((gate) => listingOf(gate, version));
  return [...atGates, ...counted, ...listings].slice(0, MAX_PERMISSIONS);
}

/** The requests and approvals that opened a Gate; of another namespace only the time: that Gate's readers see more. */
export function permissionsAtGate(
  { key, ref, openedBy, approvedBy = [] }: GateResult,
  namespace: string,
): StoredPermission[] {
  const given = openedBy ? [openedBy] : approvedBy;
  const latest = given.at(-1);
  if (!latest) return [];
  if (ref?.namespace !== namespace) return [{ gate: key, at: formatTime(latest.at) }];
  return given.map((each) => ({ gate: key, ...stored(each) }));
}

/** The approvals of the version that count at a RolloutGate. */
function countedApprovals({ gate, verdictOn }: RolloutGateApprovals, version: string): StoredPermission[] {
  return verdictOn(version).counted.map((each) => ({
    kind: 'RolloutGate',
    gate: gate.metadata.name ?? '',
    ...stored(each),
  }));
}

/** The user who put the version onto the list of a RolloutGate. */
function listingOf({ metadata, spec }: RolloutGate, version: string): StoredPermission[] {
  if (!spec?.allowedVersions?.includes(version)) return [];
  const listed = listedOn(parseListed(metadata.annotations?.[LISTED]), 'allowedVersions', version);
  return listed ? [{ kind: 'RolloutGate', gate: metadata.name ?? '', ...stored(listed) }] : [];
}

function stored({ at, by, reason }: Pick<Approval, 'at' | 'reason'> & { by?: string }) {
  return { at: formatTime(at), ...(by && { by }), ...(reason && { reason: reason.slice(0, LIMITS.reason) }) };
}
