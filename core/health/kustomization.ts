/**
 * The health of class kustomization. docs/reference/quirks.md, Q27 to Q29, has the differences from the Go controller.
 * docs/healthchecks.md, *Class kustomization*, has the health of each state.
 */
import { DEPLOYED } from '../../api/annotations.ts';
import type { FluxObject, Kustomization } from '../../api/flux.ts';
import type { EpochMs } from '../../api/kubernetes.ts';
import type { Rollout } from '../../api/types.ts';
import { conditionsOf, type LooseCondition, stringAt } from '../kstatus/fields.ts';
import { kstatusOf } from '../kstatus/kstatus.ts';
import { parseTime } from '../kube/time.ts';
import { deploymentOf, deploymentText, parseDeployments } from '../managedField/deployment.ts';
import { wasReadyAtSuspension } from '../suspension/stateAnnotation.ts';
import type { Verdict } from './healthStatus.ts';
import { failureTime, type Since } from './objects/broken.ts';
import { whyOldAttempt } from './objects/fluxAttempt.ts';
import { type Inventory, type InventoryResource, parseInventory } from './objects/inventory.ts';
import { FAILED_KUSTOMIZATION } from './objects/kindHealth.ts';
import { listLines, type ObservedResource, resourceHealth } from './objects/resources.ts';

interface OwnHealth {
  /** The verdict, if no object needs to be read. */
  settled?: Verdict;
  /** Why the Kustomization itself is not healthy yet. */
  pending: string | undefined;
  /** Whether Flux is attempting the revision that should run now. */
  isAttempting: boolean;
  /** Whether Flux reconciles a revision that it has applied already. */
  isRepeat: boolean;
  /** When Flux had applied everything; undefined while it has not, or if the time is unknown. */
  applied: EpochMs | undefined;
  revision: Revision;
  /** Whether a Rollout has deployed a version that it had deployed before. */
  returns: boolean;
  inventory: Inventory;
  /** Whether the check is Pending until the Kustomization or a Rollout changes, whatever the objects do. */
  waitsForEvent: boolean;
}

const ALL_HEALTHY = 'Kustomization and all managed resources are healthy';

/** The health of the Kustomization itself, before any of its objects is read. */
export function ownHealth(kustomization: Kustomization, inputs: RevisionInputs, now: EpochMs): OwnHealth {
  const revision = revisionOf(kustomization, inputs, now);
  const ready = conditionsOf(kustomization as FluxObject).find((c) => c.type === 'Ready');
  const own = kstatusOf(kustomization, now);
  const isElsewhere = kustomization.spec?.kubeConfig !== undefined;
  const inventory = parseInventory(kustomization.status?.inventory?.entries);
  const isAttempting = revision.attempted && ready?.status === 'Unknown';
  const pending = revision.waiting ?? (own.status === 'Current' ? undefined : own.message);
  const isRepeat = isAttempting && revision.waiting === undefined;
  const applied = pending === undefined && ready?.status === 'True' ? parseTime(ready.lastTransitionTime) : undefined;
  const hasNotBegun = revision.failuresCountFrom === Number.POSITIVE_INFINITY && !revision.waitsForSource;
  const returns = [kustomization as FluxObject, ...(inputs.source ? [inputs.source] : [])].some((object) =>
    deployersOf(object, inputs.rollouts).some(returnsToVersion),
  );
  const base = { isAttempting, isRepeat, revision, returns, inventory, pending, applied, waitsForEvent: hasNotBegun };

  const failure = revision.attempted ? failureOf(ready, FAILED_KUSTOMIZATION) : undefined;
  if (failure) return { ...base, settled: failure };
  if (own.status === 'Failed') return { ...base, settled: stalledVerdict(kustomization, own.message, ready) };
  if (isElsewhere) return { ...base, settled: verdictElsewhere(pending, ready, { isAttempting, isRepeat }) };
  if (inventory.resources.length + inventory.errors.length === 0) {
    const message = pending === undefined ? 'Kustomization has no managed resources' : pendingText(pending);
    const waitsForEvent = !revision.waitsForSource;
    return { ...base, settled: { health: 'Pending', message, isAttempting, ...(waitsForEvent && { waitsForEvent }) } };
  }
  return { ...base, inventory: withoutEvaluatedByFlux(kustomization, inventory) };
}

/**
 * The inventory without the objects that Flux evaluates. If Flux waits for objects by `healthCheckExprs`, its Ready
 * condition is their health.
 */
function withoutEvaluatedByFlux({ spec }: Kustomization, { resources, errors }: Inventory): Inventory {
  const { wait, healthChecks, healthCheckExprs } = (spec ?? {}) as Record<string, unknown>;
  const kindsOf = (list: unknown) =>
    new Set(
      (Array.isArray(list) ? list : []).map((each) => `${stringAt(each, ['apiVersion'])} ${stringAt(each, ['kind'])}`),
    );
  const defined = kindsOf(healthCheckExprs);
  const waitedFor = kindsOf(healthChecks);
  const isEvaluatedByFlux = ({ apiVersion, kind }: InventoryResource) => {
    const key = `${apiVersion} ${kind}`;
    return defined.has(key) && (wait === true || waitedFor.has(key));
  };
  return { resources: resources.filter((resource) => !isEvaluatedByFlux(resource)), errors };
}

function failureOf(ready: LooseCondition | undefined, reasons: ReadonlySet<string>): Verdict | undefined {
  if (ready?.status !== 'False' || !reasons.has(ready.reason)) return undefined;
  const message = `Kustomization unhealthy: ${ready.reason}: ${ready.message}`;
  return { health: 'Unhealthy', message, failedAt: parseTime(ready.lastTransitionTime) };
}

function stalledVerdict(kustomization: Kustomization, message: string, ready: LooseCondition | undefined): Verdict {
  const more = ready?.message ? `: ${ready.message}` : '';
  const failedAt = failureTime(kustomization as FluxObject);
  return { health: 'Unhealthy', message: `Kustomization unhealthy: ${message}${more}`, failedAt };
}

/** The verdict for a Kustomization with `spec.kubeConfig`: its objects are in another cluster. */
function verdictElsewhere(
  pending: string | undefined,
  ready: LooseCondition | undefined,
  { isAttempting, isRepeat }: Pick<OwnHealth, 'isAttempting' | 'isRepeat'>,
): Verdict {
  if (pending !== undefined) {
    return { health: 'Pending', message: pendingText(pending), isAttempting, ...(isRepeat && { isRepeat }) };
  }
  if (ready?.status !== 'True') return { health: 'Pending', message: pendingText('no Ready condition yet') };
  return { health: 'Healthy', message: 'Kustomization is ready in the cluster of its kubeConfig' };
}

/**
 * The verdict from the Kustomization and its objects.
 * @param since the deployment that the health is for, and until when it was healthy
 * @param likeKuberik whether objects that do not exist are ignored
 */
export function evaluateWithResources(
  own: OwnHealth,
  observed: readonly ObservedResource[],
  since: Since,
  now: EpochMs,
  likeKuberik = false,
): Verdict {
  if (own.settled) return own.settled;
  const { returns, applied } = own;
  const health = resourceHealth(observed, { ...since, returns, applied: likeKuberik ? undefined : applied }, now);
  const errors = [...own.inventory.errors, ...health.errors];
  const withErrors = (message: string) => (errors.length > 0 ? `${message}. Errors: ${listLines(errors)}` : message);
  const waits = own.waitsForEvent && errors.length === 0 ? { waitsForEvent: true as const } : {};

  if (health.unhealthy.length > 0) {
    const unhealthy = withErrors(`Unhealthy resources: ${listLines(health.unhealthy)}`);
    if (isOldFailure(health.failedAt ?? now, own.revision, since.deployed)) {
      const message = `${pendingText(own.pending ?? 'not applied yet')}. Before: ${unhealthy}`;
      return { health: 'Pending', message, ...waits };
    }
    return { health: 'Unhealthy', message: unhealthy, failedAt: health.failedAt };
  }
  if (health.pending.length > 0) {
    return { health: 'Pending', message: withErrors(`Pending resources: ${listLines(health.pending)}`), ...waits };
  }
  const { pending, isAttempting, isRepeat } = own;
  if (pending !== undefined && !(isRepeat && errors.length > 0)) {
    return {
      health: 'Pending',
      message: withErrors(pendingText(pending)),
      isAttempting,
      ...(isRepeat && { isRepeat }),
      ...waits,
    };
  }
  if (health.missing.length > 0 && !likeKuberik) {
    const missing = health.missing.map((name) => `${name} (not found)`);
    return { health: 'Pending', message: withErrors(`Pending resources: ${listLines(missing)}`), isAttempting };
  }
  if (errors.length > 0) return { health: 'Unknown', message: `Errors: ${listLines(errors)}` };
  const absent = [...health.missing, ...health.gone];
  return {
    health: 'Healthy',
    message: absent.length > 0 ? `${ALL_HEALTHY} (not found: ${listLines(absent)})` : ALL_HEALTHY,
  };
}

/**
 * Whether the failure is newer than the deployment, but older than Flux's first step for it: an older version failed.
 */
function isOldFailure(at: EpochMs, revision: Revision, cutoff: EpochMs | undefined): boolean {
  return cutoff !== undefined && at >= cutoff && at < revision.failuresCountFrom;
}

const pendingText = (reason: string) => `Kustomization pending: ${reason}`;

// Whether the objects' health is that of the revision that should run now, or of an older one. The Go controller does
// not distinguish them (docs/reference/quirks.md, Q28).
// Trap: kustomize-controller moves `status.observedGeneration` only when it succeeds; a failure at the current
// generation shows in the Ready condition's own `observedGeneration`.

interface Revision {
  /** Why Healthy objects may be those of an older revision; undefined if they are those of the present one. */
  waiting?: string;
  /** Whether Flux has begun to apply exactly the revision that should run now. */
  attempted: boolean;
  /** Failures before this instant are an older revision's; Infinity if Flux has not begun, 0 if nothing ran before. */
  failuresCountFrom: EpochMs;
  /** Whether the Kustomization waits for its source, whose changes trigger no sync. */
  waitsForSource?: boolean;
}

interface RevisionInputs {
  /** The Kustomization's source; undefined if it does not exist or has an unknown kind. */
  source: FluxObject | undefined;
  /** Rollouts that may have deployed into the Kustomization or its source. */
  rollouts: readonly Rollout[];
  /** When the deployment that the health is for started, or was applied; undefined if there is none. */
  deployed: EpochMs | undefined;
}

function revisionOf(
  kustomization: Kustomization,
  { source, rollouts, deployed }: RevisionInputs,
  now: EpochMs,
): Revision {
  const artifact = source && stringAt(source, ['status', 'artifact', 'revision']);
  const applied = kustomization.status?.lastAppliedRevision;
  const ownOld = whyOldDeployment(kustomization as FluxObject, rollouts);
  const sourceOld = source && whyOldDeployment(source, rollouts);
  const ofSource = ownOld === undefined ? (sourceOld ?? (source && whyNotFetched(source, artifact))) : undefined;
  const notBegun =
    ownOld ??
    ofSource ??
    whyReadyIsOld(kustomization) ??
    whyNotAttempted(kustomization, artifact) ??
    whyOldAttempt(kustomization as FluxObject, deployed, now);
  if (notBegun !== undefined) {
    const isFirst = (ownOld ?? sourceOld) === undefined && neverSucceeded(kustomization);
    const failuresCountFrom = isFirst ? 0 : Number.POSITIVE_INFINITY;
    return { waiting: notBegun, attempted: false, failuresCountFrom, waitsForSource: ofSource !== undefined };
  }
  const waiting =
    artifact !== undefined && applied !== artifact
      ? `revision ${artifact} is being applied, ${applied ?? 'nothing'} was applied before`
      : whyGenerationIsOld(kustomization, kustomization.status?.observedGeneration);
  if (waiting === undefined) return { attempted: true, failuresCountFrom: 0 };
  return { waiting, attempted: true, failuresCountFrom: attemptStart(kustomization) };
}

/** Whether Flux has never applied any revision: a failure cannot be an older revision's then. */
function neverSucceeded({ status }: Kustomization): boolean {
  return status?.observedGeneration === -1 && status.lastAppliedRevision === undefined;
}

/** The Rollouts that have deployed into the object. */
function deployersOf({ metadata }: FluxObject, rollouts: readonly Rollout[]): Rollout[] {
  const uids = new Set(parseDeployments(metadata.annotations?.[DEPLOYED]).map(({ uid }) => uid));
  return rollouts.filter((rollout) => uids.has(rollout.metadata.uid ?? ''));
}

/** Whether the Rollout has deployed its newest version before. */
function returnsToVersion({ status }: Rollout): boolean {
  const [head, ...older] = status?.history ?? [];
  const tag = head?.version?.tag;
  return tag !== undefined && older.some((entry) => entry?.version?.tag === tag);
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

/** Why the source has not fetched its present spec; undefined if it has. */
function whyNotFetched(source: FluxObject, artifact: string | undefined): string | undefined {
  const { generation, name } = source.metadata;
  const observed = source.status?.observedGeneration;
  if (generation !== undefined && observed !== undefined && generation !== observed) {
    return `${source.kind} ${name} has not fetched its generation ${generation}`;
  }
  const ref = source.spec?.ref as { tag?: string; semver?: string; digest?: string } | undefined;
  // Flux ignores the tag if one of the other two is set.
  if (source.kind !== 'OCIRepository' || !ref?.tag || ref.semver || ref.digest) return undefined;
  if (artifact?.startsWith(`${ref.tag}@`)) return undefined;
  return `${source.kind} ${name} has ${artifact ?? 'nothing'}, not ${ref.tag}`;
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
