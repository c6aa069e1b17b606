/**
 * kustomize-controller on the artifacts of a fake registry: builds, applies, prunes and checks health, with the reasons
 * of the real controller. Both run the same scenarios (test/cluster/flux). kustomization.yaml, CEL and `spec.ignore`
 * aren't supported.
 */
import { createHash } from 'node:crypto';
import { posix } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseAllDocuments } from 'yaml';
import type { ObjectRef } from '../client/resources.ts';
import { type AnyObject, ApiError } from '../client/send.ts';
import { durationMs } from '../reference/values.ts';
import { conditionAt, conditions, echo, entryOf, notReady, type Ready } from './fluxStatus.ts';
import { applier } from './gitSync.ts';
import { ref } from './objects.ts';
import { timestamp } from './timestamp.ts';
import type { User } from './user.ts';

/** The files of an artifact, by path. */
export type Artifact = Readonly<Record<string, string>>;

interface Attempt {
  /** Generation, revision and request of the attempt. */
  of: string;
  nextMs: number;
}

/** The pause before a retry without an artifact, or with an unready dependency. */
const DEPENDENCY_MS = 1000;
const HEALTH_MS = 200;

/** @param artifactOf the artifact of an OCIRepository under a tag */
export function fakeKustomize(flux: User, artifactOf: (source: AnyObject, tag: string) => Artifact | undefined) {
  const appliers = new Map<string, ReturnType<typeof applier>>();
  const attempts = new Map<string, Attempt>();
  const working = new Set<string>();

  /** Starts to reconcile the Kustomization, if that is due and not running. */
  return (object: AnyObject): void => {
    const key = `${object.metadata.namespace}/${object.metadata.name}`;
    if (working.has(key)) return;
    working.add(key);
    reconcile(key, object)
      .catch(() => {})
      .finally(() => working.delete(key));
  };

  async function reconcile(key: string, object: AnyObject): Promise<void> {
    const { metadata, spec, status } = object;
    const request = echo(object);
    if (spec.suspend) {
      if (request.lastHandledReconcileAt !== status?.lastHandledReconcileAt) await write(object, request);
      return;
    }
    const { namespace = metadata.namespace, name } = spec.sourceRef;
    const source = await flux.find(ref('ociRepository', namespace, name));
    const revision: string | undefined = source?.status?.artifact?.revision;
    const of = JSON.stringify([metadata.generation, revision, request]);
    const last = attempts.get(key);
    if (last?.of === of && flux.now() < last.nextMs) return;
    const { ready, isWaiting } = await attempt(object, source, revision);
    const pause = ready.status === 'True' ? spec.interval : (spec.retryInterval ?? spec.interval);
    attempts.set(key, { of, nextMs: flux.now() + (isWaiting ? DEPENDENCY_MS : durationMs(pause)!) });
  }

  async function attempt(
    object: AnyObject,
    source: AnyObject | undefined,
    revision: string | undefined,
  ): Promise<{ ready: Ready; isWaiting?: boolean }> {
    const waiting = async (ready: Ready) => {
      await write(object, {}, [ready]);
      return { ready, isWaiting: true };
    };
    if (!source || !revision) return waiting(notReady('ArtifactFailed', 'Source artifact not found'));
    const unmet = await unmetDependency(object);
    if (unmet) return waiting(unmet);
    const progress = (message: string) =>
      ({ type: 'Reconciling', status: 'True', reason: 'Progressing', message }) as const;
    const unknown = { status: 'Unknown', reason: 'Progressing', message: 'Reconciliation in progress' } as const;
    await write(object, {}, [unknown, progress(`Fetching manifests for revision ${revision}`)]);
    const building = progress(`Building manifests for revision ${revision}`);
    try {
      await write(object, { lastAttemptedRevision: revision }, [unknown, building]);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      // As in kustomize-controller, a refused status ends the attempt, and the attempted revision is still written.
      await write(object, { lastAttemptedRevision: revision, ...echo(object) });
      return { ready: notReady('ReconciliationFailed', error.message) };
    }
    const health = () => write(object, {}, [unknown, progress(`Running health checks for revision ${revision}`)]);
    const { ready, digest, applied } = await applyAndCheck(
      object,
      artifactOf(source, revision.split('@')[0]!) ?? {},
      health,
    );
    const { status } = await flux.get(ref('kustomization', object.metadata.namespace, object.metadata.name!));
    const isDone = ready.status === 'True';
    await write(
      object,
      {
        ...echo(object),
        ...(isDone && { observedGeneration: object.metadata.generation, lastAppliedRevision: revision }),
        ...(digest && { history: historyWith(status?.history ?? [], digest, ready.reason) }),
        ...(applied && { inventory: { entries: applied.map(entryOf) } }),
      },
      isDone ? [ready] : [ready, { ...building, reason: 'ProgressingWithRetry', message: ready.message }],
    );
    return { ready };
  }

  async function applyAndCheck(
    object: AnyObject,
    artifact: Artifact,
    checksHealth: () => Promise<void>,
  ): Promise<{ ready: Ready; digest?: string; applied?: readonly AnyObject[] }> {
    const { namespace = '', name = '' } = object.metadata;
    const files = filesBelow(artifact, object.spec.path);
    if (files.length === 0) return { ready: notReady('ArtifactFailed', 'kustomization path not found') };
    let manifests: AnyObject[];
    try {
      manifests = files.flatMap((text) => builtObjects(text, object.spec));
    } catch (error) {
      return { ready: notReady('BuildFailed', (error as Error).message) };
    }
    const digest = `sha256:${createHash('sha256').update(JSON.stringify(manifests)).digest('hex')}`;
    const key = `${namespace}/${name}`;
    const apply = appliers.get(key) ?? applier(flux, { namespace, name });
    appliers.set(key, apply);
    const { result, inventory } = await apply(manifests);
    if (result.failed) return { ready: notReady('ReconciliationFailed', result.failed.message), digest };
    const [unpruned] = result.pruneFailed;
    if (unpruned) return { ready: notReady('PruneFailed', unpruned.message), digest, applied: inventory };
    await checksHealth();
    const ready = await healthOf(object.spec, manifests);
    return { ready, digest, applied: inventory };
  }

  async function healthOf(spec: AnyObject['spec'], manifests: readonly AnyObject[]): Promise<Ready> {
    const named = (spec.healthChecks ?? []).map(({ namespace, name, ...of }: AnyObject) => ({
      ...of,
      metadata: { namespace, name },
    }));
    const checked = spec.wait ? manifests : named;
    const end = flux.now() + durationMs(spec.timeout ?? spec.interval)!;
    for (;;) {
      const live = await Promise.all(checked.map((each: AnyObject) => flux.find(each as ObjectRef)));
      if (live.every(isHealthy)) break;
      if (flux.now() > end) return notReady('HealthCheckFailed', `timeout waiting for: ${checked.map(nameOf)}`);
      await wait(HEALTH_MS);
    }
    return { status: 'True', reason: 'ReconciliationSucceeded', message: 'Applied' };
  }

  /** The reason why a dependency isn't ready; undefined if all are. */
  async function unmetDependency({ metadata, spec }: AnyObject): Promise<Ready | undefined> {
    for (const { namespace = metadata.namespace, name } of spec.dependsOn ?? []) {
      const found = await flux.find(ref('kustomization', namespace, name));
      const isCurrent = found?.status?.observedGeneration === found?.metadata.generation;
      if (!found || !isCurrent || !isReady(found))
        return notReady('DependencyNotReady', `dependency '${namespace}/${name}' is not ready`);
    }
    return undefined;
  }

  /**
   * Writes conditions, of type Ready by default, and keeps the transition time of a condition whose status is
   * unchanged.
   */
  async function write(object: AnyObject, status: object, own: readonly (Ready & { type?: string })[] = []) {
    const at = ref('kustomization', object.metadata.namespace, object.metadata.name!);
    const live = await flux.get(at);
    const { generation } = object.metadata;
    const existing: AnyObject[] = live.status?.conditions ?? [];
    const made = own.map(({ type = 'Ready', status: is, reason, message }) => {
      const before = existing.find((each) => each.type === type);
      const next = conditionAt(flux, type, generation, is, reason, message);
      return before?.status === is ? { ...next, lastTransitionTime: before.lastTransitionTime } : next;
    });
    const isEnd = own.length === 1;
    const kept = conditions(live, made).filter(({ type }) => !isEnd || type !== 'Reconciling');
    await flux.patchStatus(at, { ...status, ...(own.length > 0 && { conditions: kept }) });
  }
}

const nameOf = ({ kind, metadata }: AnyObject) => `${kind}/${metadata.namespace}/${metadata.name}`;
const isReady = ({ status }: AnyObject) =>
  (status?.conditions ?? []).some((each: AnyObject) => each.type === 'Ready' && each.status === 'True');

function filesBelow(artifact: Artifact, folder: string): string[] {
  const below = `${posix.join('/', folder, '/')}`;
  return Object.entries(artifact).flatMap(([file, text]) => (posix.join('/', file).startsWith(below) ? [text] : []));
}

/** The objects in a manifest after substitution. @throws for invalid YAML */
function builtObjects(text: string, { postBuild, targetNamespace }: AnyObject['spec']): AnyObject[] {
  const variables = postBuild?.substitute;
  const substituted = variables ? text.replaceAll(/\$\{(\w+)\}/g, (_, name: string) => variables[name] ?? '') : text;
  return parseAllDocuments(substituted).map((document) => {
    if (document.errors[0]) throw document.errors[0];
    const object = document.toJS() as AnyObject;
    return { ...object, metadata: { ...object.metadata, ...(targetNamespace && { namespace: targetNamespace }) } };
  });
}

/** Whether an object is ready by kstatus, for Deployments and objects with a condition Ready. */
function isHealthy(live: AnyObject | undefined): boolean {
  if (!live) return false;
  if (live.kind === 'Deployment') return (live.status?.availableReplicas ?? 0) >= (live.spec.replicas ?? 1);
  const reports = (live.status?.conditions ?? []).some(({ type }: AnyObject) => type === 'Ready');
  return !reports || isReady(live);
}

/** The history with the attempt counted as Flux does: one entry for each set of manifests, newest first. */
function historyWith(history: AnyObject[], digest: string, lastReconciledStatus: string): object[] {
  const at = timestamp();
  const before = history.find((each) => each.digest === digest);
  const entry = {
    digest,
    firstReconciled: before?.firstReconciled ?? at,
    lastReconciled: at,
    lastReconciledDuration: '1s',
    lastReconciledStatus,
    totalReconciliations: (before?.totalReconciliations ?? 0) + 1,
  };
  return [entry, ...history.filter((each) => each !== before)].slice(0, 5);
}
