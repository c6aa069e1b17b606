/** Writes of a Rollout: deploy, pin, retry, bypass; and the user's confirmations for a version. */
import {
  BYPASS_FOR,
  BYPASS_REASON,
  BYPASS_ROLLOUT_GATES,
  DEPLOY_MESSAGE,
  DEPLOY_USER,
  FORCE_DEPLOY,
  RETRY,
  UNBLOCK_FAILED,
} from '../../../api/annotations.ts';
import type { EpochMs, NamespacedName } from '../../../api/kubernetes.ts';
import type { HistoryEntry, Rollout } from '../../../api/types.ts';
import { ANY_REF, gatesNamedBy } from '../../../core/gate/gateRefs.ts';
import { identityOf, refKey } from '../../../core/kube/names.ts';
import { isLegalTag } from '../../../core/kube/tag.ts';
import { formatTime } from '../../../core/kube/time.ts';
import { imageChange, movedHeadText } from '../../../core/rollout/deployment/history.ts';
import { heldBefore } from '../../../core/rollout/evaluation/bypassTarget.ts';
import { copiesFirst } from '../../../core/rollout/evaluation/copy.ts';
import { neverSeen } from '../../../core/rollout/evaluation/gatesOfRollout.ts';
import { requestsOf, versionRequests } from '../../../core/rollout/evaluation/rolloutRequests.ts';
import { nextAutomatic } from '../../../core/rollout/rolloutStatus.ts';
import { isRollingOut } from '../../../core/suspension/bypassGrant.ts';
import { withCommands } from '../../../core/text/commands.ts';
import { firstFew } from '../../../core/text/firstFew.ts';
import { nameWord, quote, shell, WHY } from '../../../core/text/shell.ts';
import {
  annotateOperations,
  badRequest,
  changeCause,
  type JsonPatchOperation,
  noChange,
  objectTitle,
  type PlannedWrite,
  PROGRAM_WORD,
  patchMetadata,
  patchWrite,
  reasonAnnotation,
  titleOf,
} from './plannedWrite.ts';

type Reason = string | undefined;

/** Deploys the version manually and at once, bypassing RolloutGates, HealthChecks and a running bake. */
export function deploy(rollout: Rollout, version: string, reason: Reason): PlannedWrite {
  const pinned = rollout.spec?.wantedVersion;
  if (pinned) {
    return badRequest(
      withCommands(
        `${titleOf(rollout)} is pinned to ${pinned}: no other version is deployed until it is unpinned.`,
        [`To pin it to ${version} instead`, rolloutCommand(rollout, 'pin', version)],
        ['To resume automation', rolloutCommand(rollout, 'unpin')],
      ),
    );
  }
  if (isNewest(rollout, version)) {
    const moved = ' Its tag was moved to another image since: to deploy that image, publish it under a new tag.';
    const isMoved = movedHeadText(rollout.status ?? {}) !== undefined;
    return noChange(`${titleOf(rollout)} has deployed ${version} already.${isMoved ? moved : ''}`);
  }
  const annotations = { [FORCE_DEPLOY]: version, ...messageAnnotation(rollout, reason) };
  return patchWrite(rollout, patchMetadata(annotations), {
    text: `Requested that ${titleOf(rollout)} deploy ${version}`,
    brings: { version },
    concerns: [
      ...versionConcerns(rollout, version, 'the request would wait until it exists'),
      ...unavailableConcern(rollout, version),
    ],
  });
}

/** Deploys the version and stays on it. */
export function pin(rollout: Rollout, version: string, reason: Reason): PlannedWrite {
  if (rollout.spec?.wantedVersion === version) return noChange(`${titleOf(rollout)} is pinned to ${version} already.`);
  const annotations = messageAnnotation(rollout, reason);
  const body = { ...patchMetadata(annotations), spec: { wantedVersion: version } };
  return patchWrite(rollout, body, {
    text: `Pinned ${titleOf(rollout)} to ${version}: it stays there until it is unpinned`,
    brings: { version },
    concerns: versionConcerns(rollout, version, 'it would be deployed anyway'),
  });
}

export function unpin(rollout: Rollout, reason: Reason): PlannedWrite {
  const pinned = rollout.spec?.wantedVersion;
  if (!pinned) return noChange(`${titleOf(rollout)} is not pinned.`);
  const body = { ...patchMetadata(reasonAnnotation(reason)), spec: { wantedVersion: null } };
  const next = nextAutomatic(rollout.status ?? {});
  return patchWrite(rollout, body, {
    text: `Unpinned ${titleOf(rollout)} from ${pinned}: automation resumes`,
    concerns:
      next === undefined || next === pinned ? [] : [`${next} is deployed next. To prevent that, reject it first`],
    basis: `the pin to ${pinned}`,
  });
}

/** Retries the failed deployment. `version`: the failed one that the user saw; absent: any. */
export function retry(rollout: Rollout, reason: Reason, version?: string): PlannedWrite {
  const [head] = rollout.status?.history ?? [];
  if (isOther(version, head?.version.tag)) return otherDeployment(rollout, version);
  const rolledBack = head?.rolledBackFrom && ` ${head.rolledBackFrom} was rolled back: deploy it to try it again.`;
  if (head?.bakeStatus !== 'Failed')
    return badRequest(`${titleOf(rollout)}: ${headText(rollout)}, so there is nothing to retry.${rolledBack ?? ''}`);
  // The tag as the value: it differs from that of an earlier request that is not removed yet.
  const annotations = { [RETRY]: head.version.tag, ...changeCause(`retry ${head.version.tag}`, reason) };
  const moved = copiesFirst(rollout) ? undefined : movedHeadText(rollout.status ?? {});
  return patchWrite(rollout, patchMetadata(annotations, rollout), {
    text: `Requested that ${titleOf(rollout)} retry ${head.version.tag}`,
    brings: { version: head.version.tag },
    concerns: moved === undefined ? [] : [`The retry would fail: ${moved}`],
    basis: deploymentBasis(head),
  });
}

/** Lets the next version follow the failed one, under `onFailure: Hold`. `version`: as for `retry`. */
export function unblock(rollout: Rollout, reason: Reason, version?: string): PlannedWrite {
  const [head] = rollout.status?.history ?? [];
  if (isOther(version, head?.version.tag)) return otherDeployment(rollout, version);
  if (head?.bakeStatus !== 'Failed')
    return badRequest(`${titleOf(rollout)}: ${headText(rollout)}, and blocks nothing.`);
  const annotations = { [UNBLOCK_FAILED]: 'true', ...changeCause(`unblock after ${head.version.tag}`, reason) };
  return patchWrite(rollout, patchMetadata(annotations, rollout), {
    text: `Unblocked ${titleOf(rollout)}: the next version may follow ${head.version.tag}, which has failed`,
    basis: deploymentBasis(head),
  });
}

/**
 * Lets one version bypass the closed Gates that block it. A pinned Rollout is pinned to that version. The webhook
 * rejects the write if another version would be deployed first.
 */
export function bypass(rollout: Rollout, version: string, reason: string, now: EpochMs): PlannedWrite {
  const { history: [head] = [], pendingVersion } = rollout.status ?? {};
  const isHead = isNewest(rollout, version);
  if (isHead && head && !isRollingOut(head)) {
    const isOther = pendingVersion !== undefined && pendingVersion !== version;
    const waits = isOther ? `${pendingVersion} is waiting: name it` : 'no other version is waiting';
    return badRequest(`${titleOf(rollout)} already runs ${version}; ${waits}.`);
  }
  const isPinned = Boolean(rollout.spec?.wantedVersion);
  const annotations = {
    ...(!isPinned && !isHead && { [FORCE_DEPLOY]: version }),
    [BYPASS_FOR]: version,
    [BYPASS_REASON]: newReason(rollout, reason, now),
    ...messageAnnotation(rollout, reason),
  };
  const body = { metadata: { annotations }, ...(isPinned && !isHead && { spec: { wantedVersion: version } }) };
  return patchWrite(rollout, body, {
    text: `Requested that ${titleOf(rollout)} deploy ${version} despite the closed Gates that block it`,
    brings: { version },
    concerns: [
      `${version} bypasses every closed Gate that blocks it, once; your name and reason are recorded`,
      ...versionConcerns(rollout, version, 'nothing bypasses the Gates until it exists'),
    ],
  });
}

/**
 * A bypass without a named version: for the waiting version, or for the deployment that a Gate has stopped. A version
 * that a user has requested has to be named.
 */
export function bypassWaiting(rollout: Rollout, reason: string, now: EpochMs): PlannedWrite {
  const { pendingVersion } = rollout.status ?? {};
  const held = heldBefore(rollout, pendingVersion);
  const version = held?.version.tag ?? pendingVersion;
  if (version === undefined) return badRequest(`No version of ${titleOf(rollout)} is waiting: name the one to deploy.`);
  const by = held ? held.requestedBy : versionRequests(rollout, version)[0]?.by;
  if (by === undefined) return bypass(rollout, version, reason, now);
  const line = { expanded: rolloutCommand(rollout, 'bypass', version) };
  return badRequest(
    withCommands(`${by} requested ${version}, the version of ${titleOf(rollout)} that is waiting: name it.`, [
      'To bypass the Gates for that version',
      shell`${line} --reason ${WHY}`,
    ]),
  );
}

/** Lets one candidate bypass the RolloutGates. */
export function bypassRolloutGates(rollout: Rollout, version: string, reason: Reason): PlannedWrite {
  const annotations = { [BYPASS_ROLLOUT_GATES]: version, ...changeCause(`bypass-gates ${version}`, reason) };
  return patchWrite(rollout, patchMetadata(annotations), {
    text: `Requested that ${version} bypass the RolloutGates of ${titleOf(rollout)}`,
    brings: { version },
    concerns: [
      `${version} bypasses every RolloutGate, those of schedules too`,
      ...versionConcerns(rollout, version, 'the bypass has no effect until it exists'),
    ],
  });
}

/** Withdraws a requested deployment that has not started. `shown`: the version that the user saw; absent: any. */
export function withdrawRequest(rollout: Rollout, reason: Reason, shown?: string): PlannedWrite {
  const { forceDeploy: version } = requestsOf(rollout);
  if (version !== undefined && isOther(shown, version))
    return badRequest(`The request at ${titleOf(rollout)} is for ${version}, not for ${shown}. Nothing was changed.`);
  if (version === undefined) {
    const pinned = rollout.spec?.wantedVersion;
    const none = `${titleOf(rollout)} has no pending request for a version.`;
    if (!pinned) return noChange(none);
    return noChange(
      withCommands(`${none} It is pinned to ${pinned}.`, ['To unpin it', rolloutCommand(rollout, 'unpin')]),
    );
  }
  const set = rollout.metadata.annotations ?? {};
  const own = [FORCE_DEPLOY, DEPLOY_MESSAGE, DEPLOY_USER, BYPASS_FOR, BYPASS_REASON].filter((key) => key in set);
  const annotations = {
    ...Object.fromEntries(own.map((key) => [key, null])),
    ...changeCause(`withdraw ${version}`, reason),
  };
  return patchWrite(rollout, patchMetadata(annotations, rollout), {
    text: `Withdrew the request to deploy ${version} in ${titleOf(rollout)}`,
    basis: `the request for ${version}`,
  });
}

/**
 * Removes a Gate from `spec.gates`. The API server rejects the write if the
 * Rollout has changed since it was read: a Gate that another client has added to the list must not get lost.
 */
export function unrequire(rollout: Rollout, gate: NamespacedName, reason: Reason, now: EpochMs): PlannedWrite {
  const refs = gatesNamedBy(rollout, ANY_REF);
  const all = rollout.spec?.gates ?? [];
  const gates = all.filter((_, index) => refKey(refs[index]!) !== refKey(gate));
  const title = objectTitle('Gate', gate);
  if (gates.length === all.length) return noChange(`${titleOf(rollout)} does not require ${title}.`);
  const bypasses = unrequireBypasses(rollout, gate);
  if (bypasses && !reason) return badRequest('A bypass needs a reason, which is recorded.');
  const annotations: Record<string, string> =
    bypasses && reason
      ? { [BYPASS_REASON]: newReason(rollout, reason, now) }
      : changeCause(`remove ${title} from spec.gates`, reason);
  const body = { ...patchMetadata(annotations, rollout), spec: { gates: gates.length > 0 ? gates : null } };
  const removed = all.flatMap((entry, index) =>
    gates.includes(entry) ? [] : [{ entry, path: `/spec/gates/${index}` }],
  );
  return patchWrite(rollout, body, {
    text: `Removed ${title} from spec.gates of ${titleOf(rollout)}`,
    jsonPatch: [...annotateOperations(rollout, annotations), ...removeOperations(removed, gates.length === 0)],
  });
}

/** Whether it is a bypass to remove the Gate from `spec.gates`: it has existed. */
export function unrequireBypasses(rollout: Rollout, gate: NamespacedName): boolean {
  return !neverSeen(rollout).has(refKey(gate));
}

/** The operations that remove entries of `spec.gates`, from the end, so that the others keep their indexes. */
function removeOperations(entries: readonly { entry: unknown; path: string }[], isAll: boolean): JsonPatchOperation[] {
  if (isAll) {
    const value = entries.map(({ entry }) => entry);
    return [
      { op: 'test', path: '/spec/gates', value },
      { op: 'remove', path: '/spec/gates' },
    ];
  }
  const tested = entries.map(({ entry, path }) => ({ op: 'test' as const, path, value: entry }));
  return [...tested, ...entries.toReversed().map(({ path }) => ({ op: 'remove' as const, path }))];
}

/** The reason, made different from the last one: only a new reason makes a bypass. */
export function newReason({ metadata }: Pick<Rollout, 'metadata'>, reason: string, now: EpochMs): string {
  return metadata.annotations?.[BYPASS_REASON] === reason ? `${reason} (${formatTime(now)})` : reason;
}

/** The annotation with the reason as the message; without a reason, an older message is removed. */
function messageAnnotation({ metadata }: Rollout, reason: Reason): Record<string, string | null> {
  if (reason) return { [DEPLOY_MESSAGE]: reason };
  return metadata.annotations?.[DEPLOY_MESSAGE] === undefined ? {} : { [DEPLOY_MESSAGE]: null };
}

/** The basis of a write that depends on the newest deployment. */
export function deploymentBasis({ id, version: { tag } }: HistoryEntry): string {
  // The Go controller's history has no ids.
  return `deployment ${id ?? 0} (${tag})`;
}

function isOther(shown: string | undefined, version: string | undefined): boolean {
  return shown !== undefined && shown !== version;
}

function otherDeployment(rollout: Rollout, shown: string | undefined) {
  const text = `the action was for ${shown}, but now ${headText(rollout)}`;
  return badRequest(`${titleOf(rollout)}: ${text}. Nothing was changed.`);
}

function isNewest({ status }: Rollout, version: string): boolean {
  return status?.history?.[0]?.version.tag === version;
}

function headText({ status }: Rollout): string {
  const [head] = status?.history ?? [];
  if (!head) return 'nothing is deployed';
  const texts: Record<string, string> = {
    Deploying: 'is being deployed',
    InProgress: 'is baking',
    Succeeded: 'has succeeded',
  };
  return `${head.version.tag} ${texts[head.bakeStatus ?? ''] ?? 'has not failed'}`;
}

/** A command on the Rollout: `kubectl rollouts pin checkout 1.4.0 -n shop`. */
export function rolloutCommand(rollout: Rollout, verb: string, version?: string): string {
  const { namespace, name } = identityOf(rollout);
  const tag = { expanded: version === undefined ? '' : ` ${quote(version)}` };
  return shell`${PROGRAM_WORD} ${verb} ${nameWord(name)}${tag} -n ${nameWord(namespace)}`;
}

/** Why a text is not a tag; undefined if it is one. */
export function tagProblem(version: string): string | undefined {
  if (isLegalTag(version)) return undefined;
  return `'${version}' is not a tag: letters, digits, '_', '.' and '-', at most 128 of them.`;
}

/** The versions that the Rollout has discovered or run, newest first. */
function knownVersions({ status }: Rollout): string[] {
  const { availableReleases = [], history = [] } = status ?? {};
  const released = availableReleases.map(({ tag }) => tag).reverse();
  return [...new Set([...released, ...history.map(({ version }) => version.tag)])];
}

/** Texts to confirm before a version is requested. `ifUnknown`: the effect of a version that is no release. */
function versionConcerns(rollout: Rollout, version: string, ifUnknown: string): string[] {
  const unknown = unknownText(rollout, version);
  return [
    ...(unknown === undefined ? [] : [`${unknown}: ${ifUnknown}`]),
    ...rejectedConcern(rollout, version),
    ...barrierConcern(rollout, version),
    ...imageConcern(rollout, version),
  ];
}

/** A note about a version that is no release of the Rollout, and may be a typo. */
export function unknownText(rollout: Rollout, version: string): string | undefined {
  const known = knownVersions(rollout);
  if (known.includes(version)) return undefined;
  const has = known.length > 0 ? `it has ${firstFew(known, 5)}` : 'it has none yet';
  return `${titleOf(rollout)} has no release ${version} (${has})`;
}

/** The text to confirm for a version that ran before but is no longer available: only a pin deploys it. */
function unavailableConcern({ status }: Rollout, version: string): string[] {
  const { availableReleases, history = [] } = status ?? {};
  const isAvailable = !availableReleases || availableReleases.some(({ tag }) => tag === version);
  if (isAvailable || !history.some((entry) => entry.version.tag === version)) return [];
  const waits = 'the request waits until it is available again. To deploy it now, pin it';
  return [`${version} ran before, but is no longer an available release: ${waits}`];
}

function rejectedConcern({ status }: Rollout, version: string): string[] {
  const rejected = status?.rejectedReleases?.find(({ tag }) => tag === version);
  return rejected
    ? [`RolloutGate ${rejected.gate} rejects ${version}: the version waits until it is removed from that list`]
    : [];
}

/** The text to confirm if the deployment goes back past a release that can't be undone. */
function barrierConcern({ spec, status }: Rollout, version: string): string[] {
  const { history = [], rollbackBarriers = [] } = status ?? {};
  const index = history.findIndex((entry) => entry.version.tag === version);
  const undone = history.slice(0, Math.max(index, 0)).map((entry) => entry.version.tag);
  const barrier = undone.find(
    (tag) => tag !== version && (tag === spec?.rollback?.barrier || rollbackBarriers.includes(tag)),
  );
  return barrier === undefined ? [] : [`${barrier} cannot be undone, and ${version} precedes it`];
}

/** The text to confirm if the version was deployed from another image than its tag is now. */
function imageConcern({ status }: Rollout, version: string): string[] {
  const { availableReleases: available = [], history = [], image } = status ?? {};
  const last = history.find((entry) => entry.version.tag === version);
  const changed = last && last !== history[0] && imageChange(last, { history, image, available });
  return changed ? [`It may deploy another image than before: ${changed.text}`] : [];
}
