/**
 * A fake Flux: writes the status that source-controller, kustomize-controller and helm-controller would write for the
 * current objects. Applies nothing, unless it gets artifacts: then fakeKustomize.ts reconciles the Kustomizations.
 */
import { createHash } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { AnyObject } from '../client/send.ts';
import { type Artifact, fakeKustomize } from './fakeKustomize.ts';
import { appliedStatus, conditionAt, conditions, echo, now } from './fluxStatus.ts';
import { ref } from './objects.ts';
import type { User } from './user.ts';

/** The revision of a tag, in the form of source-controller: `<tag>@sha256:…`. */
function revisionOf(tag: string): string {
  return `${tag}@sha256:${createHash('sha256').update(tag).digest('hex')}`;
}

interface ApplyOptions {
  /** Entries such as `<ns>_web_apps_Deployment`; unchanged if absent. */
  inventory?: { id: string; v: string }[];
  /** Overrides the revision of the OCIRepository. */
  revision?: string;
}

interface FakeFlux {
  /** source-controller fetches the tag in `spec.ref`. Resolves to the revision, or undefined for a suspended object. */
  fetch(namespace: string, name: string): Promise<string | undefined>;
  /** kustomize-controller applies the artifact of `spec.sourceRef` successfully. */
  apply(namespace: string, name: string, options?: ApplyOptions): Promise<string | undefined>;
  /** kustomize-controller has started to apply and, with `spec.wait`, waits for healthy objects. */
  attempt(namespace: string, name: string): Promise<void>;
  /** kustomize-controller fails to apply; as in Flux, `observedGeneration` stays. */
  fail(namespace: string, name: string, reason: string, message: string): Promise<void>;
  /** helm-controller releases the chart of `spec.chartRef`, or fails to. Resolves to the digest. */
  release(namespace: string, name: string, options?: { fails?: boolean }): Promise<string | undefined>;
  /**
   * Reconciles every GitRepository, OCIRepository, Kustomization and HelmRelease of the namespace that isn't up to
   * date.
   */
  reconcile(namespace: string): Promise<void>;
  /** Calls `reconcile` in a loop until it is stopped, ignoring errors. */
  follow(namespace: string): { stop(): Promise<void> };
}

const REVISION_WITHOUT_SOURCE = revisionOf('latest');
const GIT = { apiVersion: 'source.toolkit.fluxcd.io/v1', kind: 'GitRepository' };
const BRANCH = `main@sha1:${'0'.repeat(40)}`;
const FOLLOW_MS = 100;

/** @param artifacts the content of the registry; without it, every tag of every repository exists */
export function fakeFlux(
  { flux }: { flux: User },
  artifacts?: (repository: string, tag: string) => Artifact | undefined,
): FakeFlux {
  const artifactOf = ({ spec }: AnyObject, tag: string) => artifacts?.(new URL(spec.url).pathname.slice(1), tag);
  const kustomize = artifacts && fakeKustomize(flux, artifactOf);

  const ready = (object: AnyObject, reason: string, message: string, status = 'True') =>
    conditions(object, [conditionAt(flux, 'Ready', object.metadata.generation, status, reason, message)]);

  /** Writes once that no artifact can be fetched or released. */
  async function notReady(object: AnyObject, reason: string, message: string): Promise<undefined> {
    const { generation } = object.metadata;
    const before = object.status?.conditions?.find(({ type }: AnyObject) => type === 'Ready');
    if (before?.reason === reason && before.observedGeneration === generation) return undefined;
    await flux.patchStatus(refTo(object), { conditions: ready(object, reason, message, 'False') });
    return undefined;
  }

  /** Writes that the source is fetched. */
  async function fetched(object: AnyObject, revision: string): Promise<string> {
    const { namespace, name, generation } = object.metadata;
    const path = `${object.kind.toLowerCase()}/${namespace}/${name}/${revision.replaceAll(/[@:]/g, '-')}.tar.gz`;
    const url = `http://source-controller.flux-system.svc.cluster.local./${path}`;
    const digest = revision.slice(revision.indexOf('@') + 1);
    await flux.patchStatus(refTo(object), {
      observedGeneration: generation,
      artifact: { revision, digest, path, url, lastUpdateTime: now(flux), size: 1 },
      conditions: ready(object, 'Succeeded', `stored artifact for revision '${revision}'`),
    });
    return revision;
  }

  async function fetchObject(object: AnyObject): Promise<string | undefined> {
    if (object.spec.suspend) return undefined;
    if (artifacts && !artifactOf(object, object.spec.ref?.tag))
      return notReady(object, 'OCIArtifactPullFailed', 'not found');
    return fetched(object, revisionOf(object.spec.ref?.tag ?? 'latest'));
  }

  async function sourceRevision(object: AnyObject): Promise<string | undefined> {
    const { kind, name, namespace = object.metadata.namespace } = object.spec.sourceRef;
    if (kind !== 'OCIRepository') return (await branchRevision(kind, namespace, name)) ?? REVISION_WITHOUT_SOURCE;
    const source = await flux.find(ref('ociRepository', namespace, name));
    return source?.status?.artifact?.revision ?? (source ? undefined : REVISION_WITHOUT_SOURCE);
  }

  /** The revision that `reconcile` has fetched for a GitRepository. */
  async function branchRevision(kind: string, namespace: string, name: string): Promise<string | undefined> {
    if (kind !== GIT.kind) return undefined;
    return (await flux.find({ ...GIT, metadata: { namespace, name } }))?.status?.artifact?.revision;
  }

  async function applyObject(object: AnyObject, options: ApplyOptions = {}): Promise<string | undefined> {
    const revision = options.revision ?? (await sourceRevision(object));
    if (object.spec.suspend || revision === undefined) return undefined;
    const { inventory } = options;
    await flux.patchStatus(refTo(object), {
      ...appliedStatus(flux, object, revision),
      ...(inventory && { inventory: { entries: inventory } }),
    });
    return revision;
  }

  async function notApplied(ns: string, name: string, status: string, reason: string, message: string): Promise<void> {
    const object = await flux.get(ref('kustomization', ns, name));
    const revision = await sourceRevision(object);
    const { generation } = object.metadata;
    const before = object.status?.conditions?.find(({ type }: AnyObject) => type === 'Reconciling');
    const again = object.status?.lastAttemptedRevision === revision ? before : undefined;
    const begun = again ?? conditionAt(flux, 'Reconciling', generation, 'True', 'ProgressingWithRetry', message);
    await flux.patchStatus(ref('kustomization', ns, name), {
      lastAttemptedRevision: revision,
      ...echo(object),
      conditions: conditions(object, [begun, conditionAt(flux, 'Ready', generation, status, reason, message)]),
    });
  }

  async function releaseObject(object: AnyObject, { fails = false } = {}): Promise<string | undefined> {
    const { namespace = '', name = '', generation } = object.metadata;
    const source = await flux.find(ref('ociRepository', namespace, object.spec.chartRef?.name ?? ''));
    const revision: string | undefined = source?.status?.artifact?.revision;
    if (object.spec.suspend) return undefined;
    if (revision === undefined) return notReady(object, 'SourceNotReady', 'source is not ready');
    const [chartVersion = '', ociDigest = ''] = revision.split('@');
    const before: AnyObject[] = object.status?.history ?? [];
    const version = (before[0]?.version ?? 0) + 1;
    const status = fails ? 'failed' : 'deployed';
    const history = [{ name, namespace, version, status, chartName: name, chartVersion, ociDigest }, ...before].slice(
      0,
      2,
    );
    const action = before.length === 0 ? 'Install' : 'Upgrade';
    const [is, outcome] = fails ? ['False', 'Failed'] : ['True', 'Succeeded'];
    const message = `Helm ${action.toLowerCase()} ${outcome.toLowerCase()} for release ${namespace}/${name}.v${version}`;
    const released = { conditions: ready(object, `${action}${outcome}`, message, is) };
    const at = ref('helmRelease', namespace, name);
    // As in helm-controller, Ready is written before the history.
    await flux.patchStatus(at, { lastAttemptedRevisionDigest: ociDigest, ...released });
    await flux.patchStatus(at, {
      ...(!fails && { observedGeneration: generation, lastAppliedRevision: chartVersion }),
      lastAttemptedGeneration: generation,
      lastAttemptedRevision: chartVersion,
      history,
      ...released,
    });
    return ociDigest;
  }

  /** Whether the last release has the fetched chart and the current spec. */
  async function hasReleased(object: AnyObject): Promise<boolean> {
    const { chartRef } = object.spec;
    const source = chartRef && (await flux.find(ref('ociRepository', object.metadata.namespace, chartRef.name)));
    const digest = source?.status?.artifact?.revision?.split('@')[1];
    return !isBehind(object) && object.status?.history?.[0]?.ociDigest === digest;
  }

  async function reconcile(namespace: string): Promise<void> {
    const list = (apiVersion: string, kind: string) => flux.list(apiVersion, kind, namespace);
    for (const source of await list(GIT.apiVersion, GIT.kind)) {
      if (!source.spec.suspend && isBehind(source)) await fetched(source, BRANCH);
    }
    for (const source of await list('source.toolkit.fluxcd.io/v1', 'OCIRepository')) {
      const has = source.status?.artifact?.revision === revisionOf(source.spec.ref?.tag ?? 'latest');
      if (!has || isBehind(source)) await fetchObject(source);
    }
    for (const object of await list('kustomize.toolkit.fluxcd.io/v1', 'Kustomization')) {
      if (kustomize && object.spec.sourceRef.kind === 'OCIRepository') {
        kustomize(object);
        continue;
      }
      const has = object.status?.lastAppliedRevision === (await sourceRevision(object));
      if (!has || isBehind(object)) await applyObject(object);
    }
    for (const object of await list('helm.toolkit.fluxcd.io/v2', 'HelmRelease')) {
      if (!(await hasReleased(object))) await releaseObject(object);
    }
  }

  return {
    fetch: async (namespace, name) => fetchObject(await flux.get(ref('ociRepository', namespace, name))),
    apply: async (namespace, name, options) =>
      applyObject(await flux.get(ref('kustomization', namespace, name)), options),
    attempt: (namespace, name) => notApplied(namespace, name, 'Unknown', 'Progressing', 'Reconciliation in progress'),
    fail: (namespace, name, reason, message) => notApplied(namespace, name, 'False', reason, message),
    release: async (namespace, name, options) =>
      releaseObject(await flux.get(ref('helmRelease', namespace, name)), options),
    reconcile,
    follow: (namespace) => {
      let stopped = false;
      const loop = (async () => {
        while (!stopped) {
          await reconcile(namespace).catch(() => {});
          await wait(FOLLOW_MS);
        }
      })();
      return {
        stop: async () => {
          stopped = true;
          await loop;
        },
      };
    },
  };
}

const refTo = ({ apiVersion, kind, metadata: { namespace, name } }: AnyObject) => ({
  apiVersion,
  kind,
  metadata: { namespace, name },
});
const isBehind = ({ metadata, status }: AnyObject) => status?.observedGeneration !== metadata.generation;
