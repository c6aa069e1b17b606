/**
 * Admission of a Rollout's status that users, dashboards and tests write. They don't set `revision`, and typed clients
 * of the Go controller drop the fields that only rollout-hooks has (docs/reference/writes.md, W42).
 */
import type { HistoryEntry, Rollout, RolloutStatus } from '../../api/types.ts';
import { sameJson } from '../../core/kube/json.ts';
import { type AdmissionHandler, allowed, versionsOf } from '../response.ts';
import { decideAddedDeployment } from './rolloutEvasion.ts';

/** The fields that the Go controller's API lacks; a test compares both lists with the CRD. */
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
  'graceSeconds',
  'image',
  'knownHealth',
  'origin',
  'reason',
  'requestedBy',
  'rolledBackFrom',
  'waitedSeconds',
  'waitingSince',
] as const satisfies (keyof HistoryEntry)[];

export const mutateRolloutStatus: AdmissionHandler = async (request, call) => {
  const { object: rollout, old } = versionsOf<Rollout>(request);
  // The CRD's own rule rejects a write that removes the status.
  if (!rollout?.status || request.userInfo.username === call.settings.metacontrollerUser) return allowed();
  const status = acceptStatus(rollout.status, old?.status, request.userInfo.username);
  return { allowed: true, object: { ...rollout, status } };
};

/**
 * Denies a deployment behind a closed Gate. Our own deployments were already decided from live Gates
 * (hooks/rollout/rolloutHook.ts).
 */
export const validateRolloutStatus: AdmissionHandler = async (request, call) => {
  const { object: rollout, old } = versionsOf<Rollout>(request);
  if (!rollout || !old || request.userInfo.username === call.settings.metacontrollerUser) return allowed();
  return decideAddedDeployment(rollout, old, request, call);
};

/**
 * The status to store for one that others wrote. It has our fields if the writer's type lacks them, the stored inputs
 * of decisions, the writer as the requester of a new deployment, and the next revision.
 */
function acceptStatus(written: RolloutStatus, stored: RolloutStatus | undefined, user: string): RolloutStatus {
  // A writer that sends a revision has read our fields, and may omit them on purpose.
  const knowsOurFields = written.revision !== undefined || stored?.revision === undefined;
  const { revision: _, ...rest } = knowsOurFields ? written : withOurFields(written, stored);
  const status = withRequester(withStoredInputs(rest, stored), stored, user);
  const { revision, ...before } = stored ?? {};
  if (sameJson(status, before)) return stored ?? {};
  return { ...status, revision: (revision ?? 0) + 1 };
}

/**
 * The fields that decide whether a Gate may be dropped, whose approval counts, and what is never rolled back: only the
 * hooks set these, and `firstSeen` of releases.
 */
const DECISION_INPUTS = ['namedGates', 'releaseAuthors', 'rollbackBarriers'] as const satisfies (keyof RolloutStatus)[];

function withStoredInputs(written: RolloutStatus, stored: RolloutStatus | undefined): RolloutStatus {
  const status = { ...written };
  for (const key of DECISION_INPUTS) delete status[key];
  // If the Rollout has no status, for example in a restored backup, the writer's times count.
  if (!stored) return status;
  const seen = new Map(stored.availableReleases?.map((release) => [release.tag, release.firstSeen]));
  const releases = written.availableReleases?.map(({ firstSeen: _, ...release }) => {
    const firstSeen = seen.get(release.tag);
    return firstSeen === undefined ? release : { ...release, firstSeen };
  });
  return { ...status, ...pick(stored, DECISION_INPUTS), ...(releases && { availableReleases: releases }) };
}

/**
 * The status with the writer as the requester of the deployment that it adds, and without records of other users: only
 * the hooks may record who approved or bypassed. In a first history, for example of a restored backup, the writer's
 * records stay.
 */
function withRequester(written: RolloutStatus, stored: RolloutStatus | undefined, user: string): RolloutStatus {
  const [head, ...older] = written.history ?? [];
  const [known] = stored?.history ?? [];
  if (!head || !known || head.id === known.id) return written;
  const { approvals, bypass, origin, rolledBackFrom, ...own } = head;
  return { ...written, history: [{ ...own, requestedBy: user }, ...older] };
}

function withOurFields(written: RolloutStatus, stored: RolloutStatus): RolloutStatus {
  const known = new Map(stored.history?.map((entry) => [entryKey(entry), entry]));
  const history = written.history?.map((entry) => {
    const own = known.get(entryKey(entry));
    return own ? { ...pick(own, OUR_ENTRY_FIELDS), ...entry } : entry;
  });
  return {
    ...pick(stored, OUR_FIELDS),
    ...written,
    ...(history && { history }),
  };
}

/** Identifies an entry. The schema, by which every entry has a version, applies only after this webhook. */
function entryKey({ id, timestamp, version }: HistoryEntry): string {
  return JSON.stringify([id, timestamp, version?.tag]);
}

function pick<T extends object>(from: T, keys: readonly (keyof T)[]): Partial<T> {
  const picked: Partial<T> = {};
  for (const key of keys) if (from[key] !== undefined) picked[key] = from[key];
  return picked;
}
