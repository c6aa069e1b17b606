/**
 * The approvals that RolloutGates require for each version of their Rollout, and the permissions in its history.
 * A manual deployment needs approvals too. A rollback doesn't, nor does an initialVersion with
 * `gateFirstDeployment: false`.
 */
import { APPROVE, LISTED } from '../../../api/annotations.ts';
import type { EpochMs } from '../../../api/kubernetes.ts';
import type { ApprovalRule, Gate, HistoryEntry, ReleaseAuthors, Rollout, RolloutGate } from '../../../api/types.ts';
import { APPROVAL_KEYS, type Approval, recordedOn } from '../../approval/approvalRecord.ts';
import {
  type ApprovalVerdict,
  evaluateApprovals,
  expiryOf,
  type VersionUsers,
  verdictText,
} from '../../approval/approvalVerdict.ts';
import { memoize } from '../../collection/memo.ts';
import type { GateResult } from '../../gate/evaluateGates.ts';
import { identityOf, refKey } from '../../kube/names.ts';
import { tagWord } from '../../kube/tag.ts';
import { formatTime } from '../../kube/time.ts';
import { LIMITS } from '../../limits.ts';
import { listedOn, parseListed } from '../../record/listRecord.ts';
import { type CommandLine, withCommands } from '../../text/commands.ts';
import { shell } from '../../text/shell.ts';
import { requestsOf, versionRequests } from './rolloutRequests.ts';

/** Reason of DeploymentBlocked, and of Ready before a first deployment. */
export const WAITING_FOR_APPROVALS = 'WaitingForApprovals';

/** The approvals at one RolloutGate with `spec.approvals`, for versions of its Rollout. */
export interface RolloutGateApprovals {
  gate: RolloutGate;
  rule: ApprovalRule;
  given: readonly Approval[];
  /** Versions without approvals share one verdict. */
  verdictOn(version: string): ApprovalVerdict;
  /** Whether the version has enough approvals that count. Evaluates only versions with that many in the record. */
  isEnough(version: string): boolean;
}

/**
 * The approvals at each RolloutGate with `spec.approvals`. Work and memory grow with the approvals given, not with the
 * versions.
 */
export function rolloutGateApprovals(
  rollout: Rollout,
  gates: readonly RolloutGate[],
  authors: readonly ReleaseAuthors[],
  now: EpochMs,
): RolloutGateApprovals[] {
  const usersBehind = memoize((version: string) => versionUsers(rollout, authors, version));
  return gates.flatMap((gate) => {
    const rule = gate.spec?.approvals;
    if (!rule) return [];
    const { given } = recordedOn(gate, APPROVAL_KEYS.RolloutGate);
    const byVersion = Map.groupBy(given, ({ version }) => version);
    const none = evaluateApprovals(rule, [], undefined, now);
    const evaluated = memoize((version: string) =>
      evaluateApprovals(rule, byVersion.get(version)!, usersBehind(version), now),
    );
    const verdictOn = (version: string) => (byVersion.has(version) ? evaluated(version) : none);
    const isEnough = (version: string) =>
      (byVersion.get(version)?.length ?? 0) >= rule.required && verdictOn(version).enough;
    return [{ gate, rule, given, verdictOn, isEnough }];
  });
}

/** Whether a version has all approvals that it needs. */
export function isApproved(all: readonly RolloutGateApprovals[], version: string): boolean {
  return all.every(({ isEnough }) => isEnough(version));
}

/** The RolloutGates at which the version lacks approvals. */
export function missingApprovals(
  all: readonly RolloutGateApprovals[],
  version: string,
): { gate: RolloutGate; verdict: ApprovalVerdict }[] {
  return all
    .map(({ gate, verdictOn }) => ({ gate, verdict: verdictOn(version) }))
    .filter(({ verdict }) => !verdict.enough);
}

/** The times at which approvals of these versions expire. */
export function expiries(all: readonly RolloutGateApprovals[], versions: ReadonlySet<string>, now: EpochMs): EpochMs[] {
  const ends = all.flatMap(({ rule, given }) =>
    given.flatMap((approval) => (versions.has(approval.version) ? (expiryOf(approval, rule) ?? []) : [])),
  );
  return ends.filter((end) => end > now);
}

/** The users who made the pending requests for a version. */
export function requestersOf(rollout: Rollout, version: string): Omit<VersionUsers, 'authors'> {
  const requests = versionRequests(rollout, version);
  const { deployUser } = requestsOf(rollout);
  return {
    requesters: [...new Set(requests.flatMap(({ by }) => by ?? []))],
    ...(requests.some(({ by }) => by === undefined) && { isRequesterUnknown: true }),
    ...(requests.length > 0 && deployUser && { onBehalfOf: deployUser }),
  };
}

/** The requesters and authors of a version, whose approvals a rule can exclude. */
export function versionUsers(rollout: Rollout, authors: readonly ReleaseAuthors[], version: string): VersionUsers {
  return { ...requestersOf(rollout, version), authors: authors.find(({ tag }) => tag === version)?.authors };
}

/**
 * The users for the status of a RolloutGate, which also shows versions that no longer wait.
 * Their requests ended with their deployment, so their requesters come from the history. Otherwise a requester's
 * approval would begin to count once the version is deployed.
 */
export function versionUsersInStatus(
  rollout: Rollout,
  authors: readonly ReleaseAuthors[],
  version: string,
): VersionUsers {
  const waiting = versionUsers(rollout, authors, version);
  if (version === rollout.status?.pendingVersion) return waiting;
  const deployed = requestersInHistory(rollout, version);
  const requesters = [...waiting.requesters, ...deployed.requesters];
  return { ...deployed, ...waiting, requesters, isRequesterUnknown: false };
}

/** The requesters of the newest deployment of a version, from the history. */
function requestersInHistory({ status }: Rollout, version: string): Pick<VersionUsers, 'requesters' | 'onBehalfOf'> {
  const entry = status?.history?.find(({ version: { tag } }) => tag === version);
  const { requestedBy, triggeredBy } = entry ?? {};
  return {
    requesters: requestedBy === undefined ? [] : [requestedBy],
    ...(triggeredBy?.kind === 'User' && { onBehalfOf: triggeredBy.name }),
  };
}

/** The approvals of a version for `status.gates`: `1.2.0 has 1 of 2 approvals (alice)`, and the command to approve. */
export function approvalProgress(
  version: string,
  { gate, verdictOn }: Pick<RolloutGateApprovals, 'gate' | 'verdictOn'>,
): string {
  const verdict = verdictOn(version);
  const how = verdict.enough ? [] : [approveRolloutGateCommand(gate, version)];
  return withCommands(`${version} has ${verdictText(verdict)}`, ...how);
}

export function approveRolloutGateCommand({ metadata }: RolloutGate, version: string): CommandLine {
  const { namespace, name } = identityOf({ metadata });
  const line = shell`kubectl -n ${namespace} annotate --overwrite rolloutgate/${name} ${APPROVE}=${tagWord(version)}`;
  return [`To approve it at RolloutGate ${name}, each approver runs`, line];
}

/** The versions whose authors have to be known: an approval has been given that must not come from an author. */
export function authorsWanted(
  rolloutGates: readonly RolloutGate[],
  gates: ReadonlyMap<string, Gate>,
  rollout: Rollout,
): string[] {
  const own = rolloutGates.filter(({ spec }) => spec?.rolloutRef?.name === rollout.metadata.name);
  const excludesAuthors = ({ spec }: RolloutGate | Gate) => spec?.approvals?.notBy?.includes('author');
  const key = refKey(identityOf(rollout));
  const onOwn = own.filter(excludesAuthors).flatMap((gate) => recordedOn(gate, APPROVAL_KEYS.RolloutGate).given);
  const onGates = [...gates.values()]
    .filter(excludesAuthors)
    .flatMap((gate) => recordedOn(gate, APPROVAL_KEYS.Gate).given);
  const given = [...onOwn, ...onGates.filter((each) => each.rollout === key)];
  return [...new Set(given.map(({ version }) => version))];
}

/** Whether the version was discovered. Approvals of any other version would count for an image published later. */
export function hasDiscovered({ status }: Rollout, version: string): boolean {
  return (status?.availableReleases ?? []).some(({ tag }) => tag === version);
}

// The permissions that a deployment had.

/** An entry of `history[].approvals`: a request that opened a Gate, an approval, or a listing in `allowedVersions`. */
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

/**
 * The requests and approvals that opened a Gate. For a Gate in another namespace only the time is recorded: the
 * Rollout's readers may not be allowed to read that Gate.
 */
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
