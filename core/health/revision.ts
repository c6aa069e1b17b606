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
import { conditionsOf, stringAt } from '../kstatus/fields.ts';
import { parseTime } from '../kube/time.ts';
import { deploymentOf, deploymentText, parseDeployments } from '../managedField/deployment.ts';
import { wasReadyAtSuspension } from '../suspension/stateAnnotation.ts';
import { whyNotFetched } from './objects/behindSource.ts';
import { whyOldAttempt } from './objects/fluxAttempt.ts';
import type { HealthContext } from './objects/healthContext.ts';

export interface ObservedKustomization {
  kustomization: Kustomization;
  /** The Kustomization's source; undefined if it does not exist or has an unknown kind. */
  source: FluxObject | undefined;
  /** Rollouts that may have deployed into the Kustomization or its source. */
  rollouts: readonly Rollout[];
}

interface Revision {
  /** Why Healthy objects may be those of an older revision; undefined if they are those of the present one. */
  waiting?: string;
  /** Whether Flux has begun to apply exactly the revision that should run now. */
  hasBegun: boolean;
  /** Failures before this instant are an older revision's; Infinity if Flux has not begun, 0 if nothing ran before. */
  failuresCountFrom: EpochMs;
  /** Whether the Kustomization waits for its source, whose changes trigger no sync. */
  waitsForSource?: boolean;
}

export function revisionOf(
  { kustomization, source, rollouts }: ObservedKustomization,
  context: HealthContext,
): Revision {
  const artifact = source && stringAt(source, ['status', 'artifact', 'revision']);
  const applied = kustomization.status?.lastAppliedRevision;
  const ownOld = whyOldDeployment(kustomization as FluxObject, rollouts);
  const sourceOld = source && whyOldDeployment(source, rollouts);
  const ofSource = ownOld === undefined ? (sourceOld ?? (source && whyNotFetched(source))) : undefined;
  const notBegun =
    ownOld ??
    ofSource ??
    whyReadyIsOld(kustomization) ??
    whyNotAttempted(kustomization, artifact) ??
    whyOldAttempt(kustomization as FluxObject, context);
  if (notBegun !== undefined) {
    const isFirst = (ownOld ?? sourceOld) === undefined && neverSucceeded(kustomization);
    const failuresCountFrom = isFirst ? 0 : Number.POSITIVE_INFINITY;
    return { waiting: notBegun, hasBegun: false, failuresCountFrom, waitsForSource: ofSource !== undefined };
  }
  const waiting =
    artifact !== undefined && applied !== artifact
      ? `revision ${artifact} is being applied, ${applied ?? 'nothing'} was applied before`
      : whyGenerationIsOld(kustomization, kustomization.status?.observedGeneration);
  if (waiting === undefined) return { hasBegun: true, failuresCountFrom: 0 };
  return { waiting, hasBegun: true, failuresCountFrom: attemptStart(kustomization) };
}

/** Whether a Rollout has deployed a version into the Kustomization or its source that it had deployed before. */
export function returnsToVersion({ kustomization, source, rollouts }: ObservedKustomization): boolean {
  const objects = [kustomization as FluxObject, ...(source ? [source] : [])];
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
      return `${object.kind} ${object.metadata.name} has ${deploymentText(deployment)}, ${deploymentText(head)} is rolling out`;
    }
  }
  return undefined;
}

/**
 * Why the newest artifact counts as not attempted; undefined if Flux has attempted it last. So an applied artifact may
 * count as not attempted: after a rollback the source has it again, while Ready still has the failure of the version in
 * between.
 */
function whyNotAttempted({ status }: Kustomization, artifact: string | undefined): string | undefined {
  const { lastAttemptedRevision, lastAppliedRevision: applied } = status ?? {};
  const attempted = lastAttemptedRevision ?? applied;
  if (artifact === undefined || attempted === artifact) return undefined;
  if (applied === artifact) return `revision ${artifact} is fetched, ${attempted} was tried since it was applied`;
  return `revision ${artifact} is fetched, ${applied ?? 'nothing'} is applied`;
}

function whyReadyIsOld(kustomization: Kustomization): string | undefined {
  const ready = conditionsOf(kustomization as FluxObject).find((c) => c.type === 'Ready');
  if (wasReadyAtSuspension(kustomization as FluxObject)) return undefined;
  return whyGenerationIsOld(kustomization, ready?.observedGeneration ?? kustomization.status?.observedGeneration);
}

function whyGenerationIsOld({ kind, metadata, spec }: Kustomization, seen: number | undefined): string | undefined {
  const { generation } = metadata;
  if (generation === undefined || seen === undefined || seen === generation) return undefined;
  const suspended = spec?.suspend ? ' (suspended)' : '';
  return `${kind} generation is ${generation}, but latest observed generation is ${seen}${suspended}`;
}

/**
 * The start of Flux's attempts at the present revision. Reconciling=True keeps its time through all retries, while the
 * time of Ready changes with each.
 */
function attemptStart(kustomization: Kustomization): EpochMs {
  const conditions = conditionsOf(kustomization as FluxObject);
  const reconciling = conditions.find((c) => c.type === 'Reconciling' && c.status === 'True');
  const ready = conditions.find((c) => c.type === 'Ready');
  return parseTime((reconciling ?? ready)?.lastTransitionTime) ?? 0;
}
