/**
 * Whether the objects' health is that of the revision that should run now, or of an older one. The Go controller does
 * not distinguish them (docs/reference/quirks.md, Q28).
 * Trap: kustomize-controller moves `status.observedGeneration` only when it succeeds; a failure at the current
 * generation shows in the Ready condition's own `observedGeneration`.
 */
import { DEPLOYED } from '../../api/annotations.ts';
import type { FluxObject, Kustomization } from '../../api/flux.ts';
import type { EpochMs } from '../../api/kubernetes.ts';
import type { Rollout } from '../../api/types.ts';
import { readyOf, stringAt } from '../kstatus/fields.ts';
import { earliestTime, parseTime } from '../kube/time.ts';
import { deploymentOf, deploymentText, parseDeployments } from '../managedField/deployment.ts';
import { wasReadyAtSuspension } from '../objectGates/objectState.ts';
import { whyNotFetched } from './objects/behindSource.ts';
import {
  attemptsSince,
  BUILD_FAILED,
  type FailedAttempt,
  failedAttemptOf,
  hasVersionInSpec,
  whyOldAttempt,
} from './objects/fluxAttempts.ts';
import type { HealthContext } from './objects/healthContext.ts';

export interface ObservedKustomization {
  kustomization: Kustomization;
  /** The Kustomization's source; undefined if it does not exist or has an unknown kind. */
  source: FluxObject | undefined;
  /** Rollouts that may have deployed into the Kustomization or its source. */
  rollouts: readonly Rollout[];
}

export interface Revision {
  /** Why Healthy objects may be those of an older revision; undefined if they are those of the present one. */
  waiting?: string;
  /** Whether Flux has begun to apply exactly the revision that should run now. */
  hasBegun: boolean;
  /**
   * Failures before this instant are an older revision's; Infinity if Flux has applied nothing of this one, 0 if
   * nothing ran before.
   */
  failuresCountFrom: EpochMs;
  /** Whether no event ends the wait: changes of a source trigger no sync, nor does the time since a failed build. */
  waitsForTime?: boolean;
  /** Flux's last attempt since the deployment, if it has failed. */
  failedAttempt?: FailedAttempt;
}

interface NotBegun extends Pick<Revision, 'waitsForTime'> {
  /** Why Flux has not begun; undefined if this doesn't show it. */
  why: string | undefined;
  /** Whether another version ran before. */
  isUpdate?: boolean;
  /** Whether Flux may have begun nevertheless: the spec has the version, whatever the artifact. */
  mayHaveBegun?: boolean;
}

/** The revision to which the objects' health belongs. */
export function observedRevision(
  { kustomization, source, rollouts }: ObservedKustomization,
  context: HealthContext,
): Revision {
  const artifact = source && stringAt(source, ['status', 'artifact', 'revision']);
  const applied = kustomization.status?.lastAppliedRevision;
  const isBuildFailed = readyOf(kustomization)?.reason === BUILD_FAILED;
  const reasons: NotBegun[] = [
    { why: whyOldDeployment(kustomization, rollouts), isUpdate: true },
    { why: source && whyOldDeployment(source, rollouts), isUpdate: true, waitsForTime: true },
    { why: source && whyNotFetched(source), waitsForTime: true },
    { why: whyReadyIsOld(kustomization) },
    { why: whyNotAttempted(kustomization, artifact), mayHaveBegun: true },
    { why: whyOldAttempt(kustomization, context), mayHaveBegun: true, waitsForTime: isBuildFailed },
  ];
  const notBegun = reasons.find(({ why }) => why !== undefined);
  const starts = attemptsSince(kustomization, context, source);
  // With many commits the newest one may never be attempted.
  const hasAttempts = hasVersionInSpec(kustomization, source) && starts.length > 0;
  if (notBegun && !(notBegun.mayHaveBegun && hasAttempts)) {
    const { why: waiting, isUpdate, waitsForTime } = notBegun;
    const isFirst = !isUpdate && neverSucceeded(kustomization);
    return { waiting, hasBegun: false, failuresCountFrom: isFirst ? 0 : Number.POSITIVE_INFINITY, waitsForTime };
  }
  const failedAttempt = failedAttemptOf(kustomization, context, source);
  const applying =
    artifact !== undefined && applied !== artifact
      ? `revision ${artifact} is being applied, ${applied ?? 'nothing'} was applied before`
      : whyGenerationIsOld(kustomization, kustomization.status?.observedGeneration);
  const waiting = notBegun?.why ?? applying;
  const failuresCountFrom = waiting === undefined ? 0 : firstAttempt(kustomization, starts);
  return { waiting, hasBegun: true, failuresCountFrom, failedAttempt };
}

/** Whether a Rollout has deployed a version into the Kustomization or its source that it had deployed before. */
export function wasDeployedBefore({ kustomization, source, rollouts }: ObservedKustomization): boolean {
  const objects = [kustomization, ...(source ? [source] : [])];
  const deployers = objects.flatMap(({ metadata }) => parseDeployments(metadata.annotations?.[DEPLOYED]));
  const uids = new Set(deployers.map(({ uid }) => uid));
  return rollouts.some(({ metadata, status }) => {
    const [tag, ...older] = (status?.history ?? []).map((entry) => entry?.version?.tag);
    return uids.has(metadata.uid ?? '') && tag !== undefined && older.includes(tag);
  });
}

/** Whether Flux has never applied any revision: a failure cannot be an older revision's then. */
function neverSucceeded({ status }: Kustomization): boolean {
  return status?.observedGeneration === -1 && status.lastAppliedRevision === undefined;
}

/** Why the object's deployment is not its Rollout's newest; undefined if it is. */
function whyOldDeployment(object: FluxObject, rollouts: readonly Rollout[]): string | undefined {
  for (const deployment of parseDeployments(object.metadata.annotations?.[DEPLOYED])) {
    const rollout = rollouts.find((r) => r.metadata.uid === deployment.uid && r.metadata.name === deployment.rollout);
    const head = deploymentOf(rollout);
    if (head && head.id !== deployment.id) {
      return `${object.kind} ${object.metadata.name} still has ${deploymentText(deployment)}; ${deploymentText(head)} is rolling out`;
    }
  }
  return undefined;
}

/**
 * Why the newest artifact counts as not attempted; undefined if Flux's last attempt was at it. Even an applied artifact
 * may count as not attempted: after a rollback the source has it again, while Ready still reports the failure of the
 * version in between.
 */
function whyNotAttempted({ status }: Kustomization, artifact: string | undefined): string | undefined {
  const { lastAttemptedRevision, lastAppliedRevision: applied } = status ?? {};
  const attempted = lastAttemptedRevision ?? applied;
  if (artifact === undefined || attempted === artifact) return undefined;
  if (applied === artifact)
    return `revision ${artifact} was applied, then ${attempted} was attempted: waiting for Flux to apply ${artifact} again`;
  return `revision ${artifact} is fetched, ${applied ?? 'nothing'} is applied`;
}

function whyReadyIsOld(kustomization: Kustomization): string | undefined {
  const ready = readyOf(kustomization);
  if (wasReadyAtSuspension(kustomization)) return undefined;
  return whyGenerationIsOld(kustomization, ready?.observedGeneration ?? kustomization.status?.observedGeneration);
}

function whyGenerationIsOld({ kind, metadata, spec }: Kustomization, seen: number | undefined): string | undefined {
  const { generation } = metadata;
  if (generation === undefined || seen === undefined || seen === generation) return undefined;
  const suspended = spec?.suspend ? ' (suspended)' : '';
  return `${kind} generation is ${generation}, but latest observed generation is ${seen}${suspended}`;
}

/** The reasons of an attempt that has applied nothing: a dependency is not ready, or the artifact can't be fetched. */
const NOTHING_APPLIED: readonly string[] = ['DependencyNotReady', 'ArtifactFailed'];

/**
 * The start of Flux's first attempt since the deployment, from its history; without that, of the attempt that runs, or
 * the end of the last one. Infinity if that has applied nothing. Trap: the time of Ready changes with each attempt, and
 * that of Reconciling with each step of an attempt.
 */
function firstAttempt(kustomization: Kustomization, starts: readonly EpochMs[]): EpochMs {
  const ready = readyOf(kustomization);
  const last = NOTHING_APPLIED.includes(ready?.reason ?? '')
    ? Number.POSITIVE_INFINITY
    : parseTime(ready?.lastTransitionTime);
  return earliestTime([...starts, last]) ?? 0;
}
