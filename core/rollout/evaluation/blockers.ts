/**
 * Everything that blocks the version that waits, as typed data, `status.blockers`, and in words.
 * Whether the version may be deployed, the conditions, Ready and the Events follow from this list.
 * A new kind of wait: docs/extending.md.
 */
import { LISTED, RETRY, UNBLOCK_FAILED } from '../../../api/annotations.ts';
import { GATE_CLOSED } from '../../../api/conditions.ts';
import { KINDS } from '../../../api/kinds.ts';
import type { EpochMs } from '../../../api/kubernetes.ts';
import type { Blocker, HistoryEntry, RolloutGate, VersionInfo } from '../../../api/types.ts';
import { verdictText } from '../../approval/approvalVerdict.ts';
import { approveGateCommands, closedGateText, mapClosed } from '../../gate/closedGates.ts';
import { identityOf, isNamespaceName, isObjectName } from '../../kube/names.ts';
import { tagWord } from '../../kube/tag.ts';
import { formatTime, parseTime } from '../../kube/time.ts';
import { LIMITS } from '../../limits.ts';
import { IMAGE_POLICY_NOT_FOUND, illegalTag, imageOfReleases, policyRef } from '../../policy/imagePolicy.ts';
import { listedOn, parseListed } from '../../record/listRecord.ts';
import { pinRecordOf } from '../../record/pinAndSchedule.ts';
import type { CommandLine } from '../../text/commands.ts';
import { shell } from '../../text/shell.ts';
import { bakeUntil } from '../deployment/bake.ts';
import { hasNoBake, isUnfinished, movedTagText } from '../deployment/history.ts';
import { RELEASE_TOO_YOUNG } from '../release/candidates.ts';
import { type CopyState, copiesFirst } from './copy.ts';
import { isAutomatic, type NextVersion } from './nextVersion.ts';
import type { Observed, RolloutContext } from './observed.ts';
import { blocksAfterFailure } from './rollback.ts';
import { allows, allowsNothing, blockingText, scheduledOpening } from './rolloutGates.ts';
import { type Requests, unknownBypass } from './rolloutRequests.ts';
import { approveRolloutGateCommand, missingApprovals, WAITING_FOR_APPROVALS } from './versionApprovals.ts';

/** The inputs of the functions that find blockers. */
type BlockerInputs = NextVersion & RolloutContext;

/** A blocker, with its words for the sentence of its kind in core/rollout/waits.ts. Only the blocker is stored. */
export interface FoundBlocker extends Blocker {
  /** Absent if the blocker is in no such sentence: Ready, RolledBack or Pinned reports it. */
  text?: string;
  commands?: readonly CommandLine[];
}

/** The functions that find blockers, in the order of `status.blockers`: DeploymentBlocked has the first reason. */
const FINDERS: readonly ((inputs: BlockerInputs) => FoundBlocker[])[] = [
  problemBlockers,
  healthBlockers,
  gateBlockers,
  bakeBlockers,
  failureBlockers,
  approvalBlockers,
  minimumAgeBlockers,
  upstreamBlockers,
  rolloutGateBlockers,
  pinBlockers,
];

/** All blockers but the copy and the budgets: a copy begins, and a slot is requested, once none of these blocks. */
export function findBlockers(next: NextVersion, context: RolloutContext): FoundBlocker[] {
  const inputs: BlockerInputs = { ...next, ...context };
  return FINDERS.flatMap((find) => find(inputs));
}

/** Whether one of the blockers blocks `version`. A blocker without a version blocks every version. */
export function isBlockedBy(blockers: readonly Blocker[], version: string): boolean {
  return blockers.some((each) => each.version === undefined || each.version === version);
}

/** Everything that Ready reports as RolloutFailed. */
function problemBlockers(inputs: BlockerInputs): Blocker[] {
  const { observed, config, choice } = inputs;
  const { rollout, imagePolicy } = observed;
  const { version } = choice;
  const problem = { type: 'Problem', effect: 'Blocks', version } as const;
  // Without its ImagePolicy the order of releases is unknown; a manual deployment and a rollback need no order.
  const lacksPolicy = imagePolicy === undefined && (version === undefined || isAutomatic(choice));
  const ref = lacksPolicy ? policyRef(rollout) : undefined;
  // The spec may have a longer name than any object, which the CRD doesn't take in the status.
  const missing = ref && isObjectName(ref.name) && isNamespaceName(ref.namespace) ? ref : undefined;
  const isUnselectable = choice.is === 'impossible' && choice.rejectedBy === undefined;
  const hasFailed = isUnselectable || config.problems.length > 0 || (lacksPolicy && !missing);
  return [
    ...(hasFailed ? [{ ...problem, reason: 'RolloutFailed' }] : []),
    ...(missing
      ? [{ ...problem, reason: IMAGE_POLICY_NOT_FOUND, object: { kind: KINDS.ImagePolicy.kind, ...missing } }]
      : []),
    ...problemsOfOthers(inputs),
  ];
}

/**
 * Problems of versions that are not next: a tag that can't be deployed, a bypass for an unknown release, and the
 * deployed version, which can't be written into its ConfigMap.
 */
function problemsOfOthers({ observed, state, requests, choice }: BlockerInputs): Blocker[] {
  const { rollout, imagePolicy, configMapProblem } = observed;
  const [head] = state.history;
  const { namespace = '' } = rollout.metadata;
  const illegal = illegalTag(imagePolicy);
  const bypassed = unknownBypass(requests, state.available);
  const configMap = { kind: 'ConfigMap', namespace, name: rollout.spec?.releaseConfigMap?.name ?? '' };
  const found = [
    { version: illegal, object: imagePolicy && { kind: KINDS.ImagePolicy.kind, ...identityOf(imagePolicy) } },
    { version: bypassed },
    { version: configMapProblem === undefined ? undefined : head?.version.tag, object: configMap },
  ];
  return found.flatMap(({ version, object }) => {
    if (version === undefined || version === choice.version) return [];
    return [{ type: 'Problem', effect: 'Blocks', reason: 'RolloutFailed', version, object }];
  });
}

/** Reason of DeploymentBlocked. */
export const UNHEALTHY_HEALTH_CHECKS = 'UnhealthyHealthChecks';

/** The unhealthy checks. They don't block the first deployment: nothing was healthy before it. */
function healthBlockers({ state, choice, unhealthyChecks }: BlockerInputs): Blocker[] {
  const { version } = choice;
  if (version === undefined || !isAutomatic(choice) || state.history.length === 0) return [];
  return unhealthyChecks.map(({ metadata, status }) => ({
    type: 'Health',
    effect: 'Blocks',
    reason: UNHEALTHY_HEALTH_CHECKS,
    version,
    object: { kind: KINDS.HealthCheck.kind, ...identityOf({ metadata }) },
    ...times({ since: parseTime(status?.lastChangeTime) }),
  }));
}

function gateBlockers({ choice: { version }, versionGates: { closed } }: BlockerInputs): FoundBlocker[] {
  if (version === undefined || !closed) return [];
  const blocker = { type: 'Gate', reason: GATE_CLOSED, version } as const;
  return mapClosed<FoundBlocker>(
    closed,
    (text) => ({ ...blocker, effect: 'Blocks', text }),
    (gate) => {
      const { ref, until, closedBy, missingApprovals } = gate;
      return {
        ...blocker,
        effect: until === undefined ? 'Blocks' : 'Waits',
        object: { kind: KINDS.Gate.kind, ...ref },
        ...times({ since: closedBy?.at, until }),
        ...(closedBy?.by && { by: closedBy.by }),
        ...(missingApprovals && { have: missingApprovals.have, need: missingApprovals.need }),
        text: closedGateText(gate),
        commands: approveGateCommands([gate]),
      };
    },
  );
}

/**
 * The running bake, with its end if that is known: after bakeTime it may wait for health, and a problem of the spec
 * stops it. A deployment without a bake may be replaced by the next version before Flux has applied it.
 */
function bakeBlockers({ observed, state, choice, config, now }: BlockerInputs): FoundBlocker[] {
  const [head] = state.history;
  const { version } = choice;
  if (version === undefined || !isAutomatic(choice) || !head) return [];
  if (!isUnfinished(head) || hasNoBake(head, observed.rollout)) return [];
  const started = parseTime(head.bakeStartTime);
  const end = config.problems.length > 0 ? undefined : bakeUntil(head, config, observed.healthChecks);
  const until = end !== undefined && end > now ? end : undefined;
  const since = started ?? parseTime(head.lastRetryTimestamp) ?? parseTime(head.timestamp);
  const text = `the bake of ${head.version.tag}${until === undefined ? '' : ` until ${formatTime(until)}`}`;
  return [{ type: 'Bake', effect: 'Waits', reason: 'BakeInProgress', version, ...times({ since, until }), text }];
}

function failureBlockers(inputs: BlockerInputs): FoundBlocker[] {
  const { state, choice, rollback, config, requests } = inputs;
  const [head] = state.history;
  const { version } = choice;
  if (version === undefined || !isAutomatic(choice) || !head) return [];
  const failed = { type: 'Failure', version } as const;
  const since = parseTime(head.bakeEndTime);
  if (blocksAfterFailure(head, config) && !requests.unblockFailed) {
    const words = failureWords(head, inputs);
    return [{ ...failed, effect: 'Blocks', reason: 'PreviousDeploymentFailed', ...times({ since }), ...words }];
  }
  if (rollback?.is !== 'undecided') return [];
  return [{ ...failed, effect: 'Waits', reason: rollback.reason, ...times({ since, until: rollback.until }) }];
}

function failureWords(head: HistoryEntry, { observed, state, config }: BlockerInputs) {
  const { rollout, imagePolicy } = observed;
  const { namespace, name } = identityOf(rollout);
  const { tag } = head.version;
  const moved =
    copiesFirst(rollout) || config.kuberikCompat
      ? undefined
      : movedTagText(head, { ...state, image: imageOfReleases(rollout, imagePolicy) });
  const annotate = { expanded: shell`kubectl -n ${namespace} annotate --overwrite rollout.kuberik.com/${name}` };
  const retry: CommandLine = [`To retry ${tag}`, shell`${annotate} ${RETRY}=${tagWord(tag)}`];
  const next: CommandLine = ['To let automation deploy the next version', shell`${annotate} ${UNBLOCK_FAILED}=true`];
  return {
    text: `${tag} has failed${moved === undefined ? '' : `, and so would a retry: ${moved}`}`,
    commands: moved === undefined ? [retry, next] : [next],
  };
}

/** Missing approvals are reported even while a bake runs, because approving takes longer. */
function approvalBlockers({ observed, choice: { version }, requiredApprovals }: BlockerInputs): FoundBlocker[] {
  if (version === undefined) return [];
  return missingApprovals(requiredApprovals, version).map(({ gate, verdict }, index) => ({
    type: 'Approvals',
    effect: 'Blocks',
    reason: WAITING_FOR_APPROVALS,
    version,
    object: rolloutGateRef(observed, gate.metadata.name),
    have: verdict.counted.length,
    need: verdict.required,
    text: `RolloutGate '${gate.metadata.name}' has ${verdictText(verdict)}`,
    ...(index === 0 && { commands: [approveRolloutGateCommand(gate, version)] }),
  }));
}

/**
 * Upstream Rollouts that block, the missing ones first. Without a pending version, only those that block every version:
 * missing, or in a cycle.
 */
function upstreamBlockers({ choice, rolloutGatesResult, upstreamVerdicts }: BlockerInputs): FoundBlocker[] {
  const { version } = choice;
  const isPromotable = rolloutGatesResult.promotable.some(({ tag }) => tag === version);
  if (!isAutomatic(choice) || isPromotable) return [];
  return upstreamVerdicts
    .filter(({ wait, isMissing, problem }) => (version === undefined ? isMissing || problem : wait))
    .sort((a, b) => Number(b.isMissing) - Number(a.isMissing))
    .map(({ ref, isMissing, problem, wait }) => ({
      type: 'Upstream',
      effect: wait?.endsByItself ? 'Waits' : 'Blocks',
      reason: problem ?? (isMissing ? 'RolloutNotFound' : 'NotSucceeded'),
      version,
      object: { kind: KINDS.Rollout.kind, ...ref },
      ...times({ since: wait?.since, until: wait?.until }),
      text: wait?.text,
    }));
}

/**
 * The RolloutGate that rejects the requested version; or those that block an automatic deployment, or
 * `initialVersion` if they block first deployments.
 */
function rolloutGateBlockers(inputs: BlockerInputs): FoundBlocker[] {
  const { observed, config, state, choice, pendingVersion: version, rolloutGatesResult } = inputs;
  const blocks = { type: 'RolloutGate', effect: 'Blocks' } as const;
  if (choice.is === 'impossible' && choice.rejectedBy !== undefined) {
    const object = rolloutGateRef(observed, choice.rejectedBy);
    return [{ ...blocks, reason: 'ReleaseRejected', version: choice.version, object }];
  }
  const isGated = config.gateFirstDeployment || state.history.length > 0;
  const isClosed = isGated && allowsNothing(rolloutGatesResult);
  const isBlocked = choice.trigger === 'InitialVersion' ? blocksInitial(inputs) : isAutomatic(choice) && isClosed;
  // A release that is too young is also blocked, once it is old enough.
  if (version === undefined || !isBlocked) return [];
  return observed.rolloutGates
    .filter((gate) => !allows(gate, version))
    .map((gate, index) => {
      const until = scheduledOpening(gate);
      return {
        ...blocks,
        ...(until !== undefined && { effect: 'Waits' }),
        reason: 'RolloutGatesBlocking',
        version,
        object: rolloutGateRef(observed, gate.metadata.name),
        ...(index < LIMITS.listedBlockers && closedSince(gate)),
        ...times({ until }),
        text: blockingText(gate),
      };
    });
}

/**
 * Whether RolloutGates block `initialVersion`, as they block every first version.
 * They don't if a manual deployment is requested: that deployment would wait for `initialVersion`.
 */
function blocksInitial({ observed: { rollout }, config, choice, requests }: BlockerInputs): boolean {
  const isManual = rollout.spec?.wantedVersion || requests.forceDeploy !== undefined;
  const isNext = choice.is === 'next' && requests.bypassGates !== choice.version;
  return config.gateFirstDeployment && isNext && !isManual;
}

/** The time since which the RolloutGate is closed, and the user, from the webhook's record. */
function closedSince({ metadata, spec }: RolloutGate): Pick<Blocker, 'since' | 'by'> {
  if (spec?.passing !== false) return {};
  const closed = listedOn(parseListed(metadata.annotations?.[LISTED]), 'passing');
  return closed ? { ...times({ since: closed.at }), by: closed.by } : {};
}

function minimumAgeBlockers({ choice, young: [youngest] }: BlockerInputs): FoundBlocker[] {
  if (choice.version !== undefined || !isAutomatic(choice) || !youngest) return [];
  const { tag: version, deployableAt } = youngest;
  const until = times({ until: parseTime(deployableAt) });
  const text = `until ${until.until} (spec.minimumReleaseAge after its discovery)`;
  return [{ type: 'MinimumAge', effect: 'Waits', reason: RELEASE_TOO_YOUNG, version, ...until, text }];
}

/** Reason of DeploymentBlocked while a deployment waits for its copy. */
export const WAITING_FOR_COPY = 'WaitingForCopy';

/** The copy that the deployment waits for. A failed copy is retried only after a user has fixed its cause. */
export function copyBlockers(copy: CopyState | undefined): FoundBlocker[] {
  if (!copy?.isAwaited || copy.progress.state === 'Copied') return [];
  const { version, url, progress } = copy;
  const effect = progress.state === 'Copying' ? 'Waits' : 'Blocks';
  const text = `its copy to ${url}: ${progress.message}`;
  return [{ type: 'Copy', effect, reason: WAITING_FOR_COPY, version: version.tag, text }];
}

/** The versions that a pin blocks: the newest other candidate, and that of a force-deploy. */
export function blockedByPin(
  wantedVersion: string,
  candidates: readonly VersionInfo[],
  { forceDeploy }: Requests,
): { newer: string | undefined; forced: string | undefined } {
  const newer = candidates.find(({ tag }) => tag !== wantedVersion)?.tag;
  return { newer, forced: forceDeploy === wantedVersion ? undefined : forceDeploy };
}

function pinBlockers({ observed: { rollout }, requests, candidates }: BlockerInputs): Blocker[] {
  const wanted = rollout.spec?.wantedVersion;
  if (!wanted) return [];
  const { newer, forced } = blockedByPin(wanted, candidates, requests);
  const record = pinRecordOf(rollout);
  const blocked = [newer, forced].filter((tag) => tag !== undefined);
  return [...new Set(blocked)].map((version) => ({
    type: 'PinnedVersion',
    effect: 'Blocks',
    reason: 'WantedVersion',
    version,
    object: { kind: KINDS.Rollout.kind, ...identityOf(rollout) },
    ...times({ since: parseTime(record?.at) }),
    by: record?.by,
  }));
}

function rolloutGateRef({ rollout }: Observed, name = ''): NonNullable<Blocker['object']> {
  return { kind: KINDS.RolloutGate.kind, namespace: rollout.metadata.namespace ?? '', name };
}

function times({ since, until }: { since?: EpochMs; until?: EpochMs }) {
  return {
    ...(since !== undefined && { since: formatTime(since) }),
    ...(until !== undefined && { until: formatTime(until) }),
  };
}
