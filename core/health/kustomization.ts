/**
 * The health of class kustomization: of the Kustomization itself, then with the health of each of its objects.
 * docs/healthchecks.md, *Class kustomization*, has the health of each state; docs/reference/quirks.md, Q27 to Q29, has
 * the differences from the Go controller.
 */
import type { FluxObject } from '../../api/flux.ts';
import type { EpochMs } from '../../api/kubernetes.ts';
import { conditionsOf } from '../kstatus/fields.ts';
import { kstatusOf } from '../kstatus/kstatus.ts';
import { latestTime, parseTime } from '../kube/time.ts';
import type { Verdict } from './healthStatus.ts';
import { failureTime } from './objects/broken.ts';
import type { HealthContext } from './objects/healthContext.ts';
import { evaluatedHere, type Inventory, parseInventory } from './objects/inventory.ts';
import { FAILED_KUSTOMIZATION } from './objects/kindHealth.ts';
import { lineOf, listLines, type ObjectHealth } from './objects/resources.ts';
import { type ObservedKustomization, revisionOf } from './revision.ts';

interface OwnHealth {
  /** The verdict if all objects are healthy. */
  verdict: Verdict;
  /** The objects to read: none if the Kustomization alone decides. */
  inventory: Inventory;
  /** Failures of objects before this instant are an older revision's. */
  failuresCountFrom: EpochMs;
  /** When Flux had applied everything; undefined while it has not, or if the time is unknown. */
  applied: EpochMs | undefined;
}

const NO_OBJECTS: Inventory = { resources: [], errors: [] };

/** The health of the Kustomization itself, before any of its objects is read. */
export function ownHealth(observed: ObservedKustomization, context: HealthContext): OwnHealth {
  const { kustomization } = observed;
  const revision = revisionOf(observed, context);
  const ready = conditionsOf(kustomization as FluxObject).find(({ type }) => type === 'Ready');
  const own = kstatusOf(kustomization, context.now);
  if (revision.hasBegun && ready?.status === 'False' && FAILED_KUSTOMIZATION.has(ready.reason)) {
    return unhealthyAlone(`${ready.reason}: ${ready.message}`, parseTime(ready.lastTransitionTime));
  }
  if (own.status === 'Failed') {
    const more = ready?.message ? `: ${ready.message}` : '';
    return unhealthyAlone(`${own.message}${more}`, failureTime(kustomization as FluxObject));
  }

  const isElsewhere = kustomization.spec?.kubeConfig !== undefined;
  const inventory = isElsewhere ? NO_OBJECTS : parseInventory(kustomization.status?.inventory?.entries);
  const isEmpty = !isElsewhere && inventory.resources.length + inventory.errors.length === 0;
  const { waitsForSource, failuresCountFrom } = revision;
  const waiting = revision.waiting ?? (own.status === 'Current' ? undefined : own.message);
  const isReady = waiting === undefined && ready?.status === 'True';
  const isAttempting = revision.hasBegun && ready?.status === 'Unknown';
  const pending = (message: string): Verdict => ({
    health: 'Pending',
    message,
    isAttempting,
    isRepeat: isAttempting && revision.waiting === undefined,
    waitsForEvent: !waitsForSource && (isEmpty || failuresCountFrom === Number.POSITIVE_INFINITY),
  });
  const verdict = (): Verdict => {
    if (waiting !== undefined) return pending(`Kustomization pending: ${waiting}`);
    if (isElsewhere && !isReady) return pending('Kustomization pending: no Ready condition yet');
    if (isEmpty) return pending('Kustomization has no managed resources');
    const whose = isElsewhere ? 'is ready in the cluster of its kubeConfig' : 'and all managed resources are healthy';
    return { health: 'Healthy', message: `Kustomization ${whose}` };
  };
  return {
    verdict: verdict(),
    inventory: evaluatedHere(kustomization, inventory),
    failuresCountFrom,
    applied: isReady ? parseTime(ready.lastTransitionTime) : undefined,
  };
}

function unhealthyAlone(why: string, failedAt: EpochMs | undefined): OwnHealth {
  const verdict: Verdict = { health: 'Unhealthy', message: `Kustomization unhealthy: ${why}`, failedAt };
  return { verdict, inventory: NO_OBJECTS, failuresCountFrom: 0, applied: undefined };
}

/** The verdict from the Kustomization itself and its objects. */
export function verdictWith(
  objects: readonly ObjectHealth[],
  { verdict, inventory, failuresCountFrom }: OwnHealth,
  { now, cutoff }: HealthContext,
): Verdict {
  const {
    unhealthy = [],
    pending = [],
    missing = [],
    gone = [],
    unknown = [],
  } = Object.groupBy(objects, ({ health }) => health);
  const errors = [...inventory.errors, ...unknown.map(lineOf)];
  const withErrors = (message: string) => (errors.length > 0 ? `${message}. Errors: ${listLines(errors)}` : message);
  const waitsForEvent = verdict.waitsForEvent === true && errors.length === 0;
  const isRepeat = verdict.health === 'Pending' && verdict.isRepeat === true;

  if (unhealthy.length > 0) {
    const message = withErrors(`Unhealthy resources: ${listLines(unhealthy.map(lineOf))}`);
    const failedAt = latestTime(unhealthy.map((object) => object.failedAt));
    // An older version has failed: Flux has yet to take its first step for this one.
    const isOld = cutoff !== undefined && (failedAt ?? now) < failuresCountFrom;
    if (isOld) return { health: 'Pending', message: `${verdict.message}. Before: ${message}`, waitsForEvent };
    return { health: 'Unhealthy', message, failedAt };
  }
  if (pending.length > 0) {
    const message = withErrors(`Pending resources: ${listLines(pending.map(lineOf))}`);
    return { health: 'Pending', message, waitsForEvent };
  }
  // A repeated reconciliation keeps the status, but what couldn't be read is still unknown.
  if (verdict.health !== 'Healthy' && !(isRepeat && errors.length > 0)) {
    return { ...verdict, message: withErrors(verdict.message), waitsForEvent };
  }
  if (missing.length > 0) {
    const message = withErrors(`Pending resources: ${listLines(missing.map(lineOf))}`);
    return { health: 'Pending', message };
  }
  if (errors.length > 0) return { health: 'Unknown', message: `Errors: ${listLines(errors)}` };
  const absent = gone.length > 0 ? ` (not found: ${listLines(gone.map(lineOf))})` : '';
  return { health: 'Healthy', message: `${verdict.message}${absent}` };
}
