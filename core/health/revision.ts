/**
 * Whether what a Kustomization's objects show is the health of what should be running now, or of what ran before: the Go controller
 * does not tell them apart (docs/reference/quirks.md, Q28).
 * Trap: kustomize-controller moves `status.observedGeneration` only when it succeeds; a failure at the current
 * generation shows in the Ready condition's own `observedGeneration`.
 */
import { DEPLOYED } from '../../api/annotations.ts';
import type { FluxObject, Kustomization } from '../../api/flux.ts';
import type { EpochMs } from '../../api/kubernetes.ts';
import type { Rollout } from '../../api/types.ts';
import { conditionsOf, stringAt } from '../kstatus/fields.ts';
import { parseTime } from '../kube/time.ts';
import { deploymentOf, deploymentText, parseDeployments } from '../pin/deployment.ts';

export interface Revision {
  /** Why good health would not be the new revision's; undefined where it would. */
  waiting?: string;
  /** Flux works on, or has worked on, exactly what should run now. */
  attempted: boolean;
  /** A failure before this instant is the old revision's; Infinity while Flux has not begun, 0 where nothing ran before. */
  failuresCountFrom: EpochMs;
}

export interface Upstream {
  /** The Kustomization's source; undefined when there is none or its kind is not known. */
  source: FluxObject | undefined;
  /** Rollouts that may have deployed into the Kustomization or its source. */
  rollouts: readonly Rollout[];
}

export function revisionOf(kustomization: Kustomization, { source, rollouts }: Upstream): Revision {
  const artifact = source && stringAt(source, ['status', 'artifact', 'revision']);
  const applied = kustomization.status?.lastAppliedRevision;
  const old = oldDeployment(kustomization as FluxObject, rollouts) ?? (source && oldDeployment(source, rollouts));
  const notBegun =
    old ??
    (source && notFetched(source, artifact)) ??
    readyIsOld(kustomization) ??
    notAttempted(kustomization, artifact);
  if (notBegun !== undefined) {
    const isFirst = old === undefined && neverSucceeded(kustomization);
    return { waiting: notBegun, attempted: false, failuresCountFrom: isFirst ? 0 : Number.POSITIVE_INFINITY };
  }
  const waiting =
    artifact !== undefined && applied !== artifact
      ? `revision ${artifact} is being applied, ${applied ?? 'nothing'} was applied before`
      : generationAhead(kustomization, kustomization.status?.observedGeneration);
  if (waiting === undefined) return { attempted: true, failuresCountFrom: 0 };
  return { waiting, attempted: true, failuresCountFrom: attemptStart(kustomization) };
}

/** What fails is then the first revision: no other one ever ran. */
function neverSucceeded({ status }: Kustomization): boolean {
  return status?.observedGeneration === -1 && status.lastAppliedRevision === undefined;
}

/** The object carries another deployment than the Rollout stands at. */
function oldDeployment(object: FluxObject, rollouts: readonly Rollout[]): string | undefined {
  for (const deployment of parseDeployments(object.metadata.annotations?.[DEPLOYED])) {
    const rollout = rollouts.find((r) => r.metadata.uid === deployment.uid && r.metadata.name === deployment.rollout);
    const head = deploymentOf(rollout);
    if (head && head.id !== deployment.id) {
      return `${object.kind} ${object.metadata.name} has ${deploymentText(deployment)}, ${deploymentText(head)} is on its way`;
    }
  }
  return undefined;
}

function notFetched(source: FluxObject, artifact: string | undefined): string | undefined {
  const { generation, name } = source.metadata;
  const observed = source.status?.observedGeneration;
  if (generation !== undefined && observed !== undefined && generation !== observed) {
    return `${source.kind} ${name} has not fetched its generation ${generation}`;
  }
  const ref = source.spec?.ref as { tag?: string; semver?: string; digest?: string } | undefined;
  // Flux ignores the tag beside the other two.
  if (source.kind !== 'OCIRepository' || !ref?.tag || ref.semver || ref.digest) return undefined;
  if (artifact?.startsWith(`${ref.tag}@`)) return undefined;
  return `${source.kind} ${name} has ${artifact ?? 'nothing'}, not ${ref.tag}`;
}

/**
 * What is applied says nothing of the attempt: after a rollback the artifact is the one that was applied last, while the
 * failure in Ready is still that of the version between.
 */
function notAttempted({ status }: Kustomization, artifact: string | undefined): string | undefined {
  const { lastAttemptedRevision, lastAppliedRevision: applied } = status ?? {};
  const attempted = lastAttemptedRevision ?? applied;
  if (artifact === undefined || attempted === artifact) return undefined;
  if (applied === artifact) return `revision ${artifact} is fetched, ${attempted} was tried since it was applied`;
  return `revision ${artifact} is fetched, ${applied ?? 'nothing'} is applied`;
}

function readyIsOld(kustomization: Kustomization): string | undefined {
  const ready = conditionsOf(kustomization as FluxObject).find((c) => c.type === 'Ready');
  return generationAhead(kustomization, ready?.observedGeneration ?? kustomization.status?.observedGeneration);
}

function generationAhead({ kind, metadata, spec }: Kustomization, seen: number | undefined): string | undefined {
  const { generation } = metadata;
  if (generation === undefined || seen === undefined || seen === generation) return undefined;
  const suspended = spec?.suspend ? ' (suspended)' : '';
  return `${kind} generation is ${generation}, but latest observed generation is ${seen}${suspended}`;
}

/** Reconciling=True keeps its time through all the retries of one revision; Ready's moves with each. */
function attemptStart(kustomization: Kustomization): EpochMs {
  const conditions = conditionsOf(kustomization as FluxObject);
  const reconciling = conditions.find((c) => c.type === 'Reconciling' && c.status === 'True');
  const ready = conditions.find((c) => c.type === 'Ready');
  return parseTime((reconciling ?? ready)?.lastTransitionTime) ?? 0;
}
