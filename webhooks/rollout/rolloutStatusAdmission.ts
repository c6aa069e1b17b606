/**
 * Status writes by people, dashboards and tests.
 * They know nothing of `revision`, and typed clients of the Go controller drop the fields that are ours
 * (docs/reference/writes.md, W42).
 */
import type { HistoryEntry, Rollout, RolloutStatus } from '../../api/types.ts';
import { sameJson } from '../../core/kube/json.ts';
import { type AdmissionHandler, allowed } from '../response.ts';
import { denyDeployment } from './rolloutDenials.ts';

/** All fields but those of the Go controller's API; a test holds both lists to the CRD. */
export const OUR_FIELDS = [
  'observedGeneration',
  'handledRequest',
  'currentVersion',
  'rollingOutVersion',
  'pendingVersion',
  'blockers',
  'availableReleasesCount',
  'lastReleaseUpdate',
  'rejectedReleases',
  'withdrawnReleases',
  'rolledBackReleases',
  'rollbackBarriers',
  'youngReleases',
  'releaseAuthors',
  'namedGates',
  'copy',
  'image',
  'slotRequest',
] as const satisfies (keyof RolloutStatus)[];

export const OUR_ENTRY_FIELDS = [
  'appliedTime',
  'approvals',
  'bypass',
  'knownHealth',
  'origin',
  'reason',
  'requestedBy',
  'rolledBackFrom',
  'waitedSeconds',
  'waitingSince',
] as const satisfies (keyof HistoryEntry)[];

export const mutateRolloutStatus: AdmissionHandler = async (request, call) => {
  const rollout = request.object as Rollout | null | undefined;
  const stored = (request.oldObject as Rollout | null | undefined)?.status;
  // A removed status is left for the CRD's own rule to refuse.
  if (!rollout?.status || request.userInfo.username === call.settings.metacontrollerUser) return allowed();
  const status = acceptStatus(rollout.status, stored);
  return sameJson(status, rollout.status) ? allowed() : { allowed: true, object: { ...rollout, status } };
};

/** Our own deployments are decided from live Gates already: see hooks/rollout/rolloutHook.ts. */
export const validateRolloutStatus: AdmissionHandler = async (request, call) => {
  const rollout = request.object as Rollout | null | undefined;
  const before = request.oldObject as Rollout | null | undefined;
  if (!rollout || !before || request.userInfo.username === call.settings.metacontrollerUser) return allowed();
  return (await denyDeployment(rollout, before, request, call)) ?? allowed();
};

/**
 * What others wrote, as it may be stored: our fields restored if the writer does not know them, the inputs of decisions
 * as they were, the next revision.
 */
export function acceptStatus(written: RolloutStatus, stored: RolloutStatus | undefined): RolloutStatus {
  // Whoever sends a revision has read ours and may mean to leave out what is missing.
  const knowsUs = written.revision !== undefined || stored?.revision === undefined;
  const { revision: _, ...rest } = knowsUs ? written : restored(written, stored);
  const status = withStoredInputs(rest, stored);
  const { revision, ...before } = stored ?? {};
  if (sameJson(status, before)) return stored ?? {};
  return { ...status, revision: (revision ?? 0) + 1 };
}

/**
 * What decides whether a Gate may be left, whose approval counts, what is never rolled back, and how old a release is:
 * only the hooks set it.
 */
const INPUTS = ['namedGates', 'releaseAuthors', 'rollbackBarriers'] as const satisfies (keyof RolloutStatus)[];

function withStoredInputs(written: RolloutStatus, stored: RolloutStatus | undefined): RolloutStatus {
  const status = { ...written };
  for (const key of INPUTS) delete status[key];
  // In a Rollout without a status, as in a restored backup, the times are the writer's.
  if (!stored) return status;
  const seen = new Map(stored.availableReleases?.map((release) => [release.tag, release.firstSeen]));
  const releases = written.availableReleases?.map(({ firstSeen: _, ...release }) => {
    const firstSeen = seen.get(release.tag);
    return firstSeen === undefined ? release : { ...release, firstSeen };
  });
  return { ...status, ...pick(stored, INPUTS), ...(releases && { availableReleases: releases }) };
}

function restored(written: RolloutStatus, stored: RolloutStatus): RolloutStatus {
  const history = written.history?.map((entry) => {
    const own = stored.history?.find((known) => isSameEntry(known, entry));
    return own ? { ...pick(own, OUR_ENTRY_FIELDS), ...entry } : entry;
  });
  return {
    ...pick(stored, OUR_FIELDS),
    ...written,
    ...(history && { history }),
  };
}

function isSameEntry(a: HistoryEntry, b: HistoryEntry): boolean {
  return a.id === b.id && a.timestamp === b.timestamp && a.version.tag === b.version.tag;
}

function pick<T extends object>(from: T, keys: readonly (keyof T)[]): Partial<T> {
  const picked: Partial<T> = {};
  for (const key of keys) if (from[key] !== undefined) picked[key] = from[key];
  return picked;
}
