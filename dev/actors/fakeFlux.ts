/**
 * A fake Flux: writes the status that source-controller and kustomize-controller would write for the current objects,
 * and applies nothing.
 */
import { createHash } from 'node:crypto';
import type { AnyObject } from '../client/send.ts';
import { repeat } from '../local/process/repeat.ts';
import { appliedStatus, conditionAt, conditions, now } from './fluxStatus.ts';
import { ref } from './objects.ts';
import type { User } from './user.ts';

/** The revision of a tag, in the form of source-controller: `<tag>@sha256:…`. */
function revisionOf(tag: string): string {
  return `${tag}@sha256:${createHash('sha256').update(tag).digest('hex')}`;
}

const REVISION_WITHOUT_SOURCE = revisionOf('latest');
const GIT = { apiVersion: 'source.toolkit.fluxcd.io/v1', kind: 'GitRepository' };
const BRANCH = `main@sha1:${'0'.repeat(40)}`;
const FOLLOW_MS = 100;

export function fakeFlux({ flux }: { flux: User }) {
  const ready = (object: AnyObject, reason: string, message: string) =>
    conditions(object, [conditionAt(flux, 'Ready', object.metadata.generation, 'True', reason, message)]);

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

  async function applyObject(object: AnyObject): Promise<string | undefined> {
    const revision = await sourceRevision(object);
    if (object.spec.suspend || revision === undefined) return undefined;
    await flux.patchStatus(refTo(object), appliedStatus(flux, object, revision));
    return revision;
  }

  /** Reconciles every GitRepository, OCIRepository and Kustomization of the namespace that isn't up to date. */
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
      const has = object.status?.lastAppliedRevision === (await sourceRevision(object));
      if (!has || isBehind(object)) await applyObject(object);
    }
  }

  return {
    /** source-controller fetches the tag in `spec.ref`. Resolves to the revision; undefined for a suspended object. */
    fetch: async (namespace: string, name: string) =>
      fetchObject(await flux.get(ref('ociRepository', namespace, name))),
    /** kustomize-controller applies the artifact of `spec.sourceRef` successfully. */
    apply: async (namespace: string, name: string) =>
      applyObject(await flux.get(ref('kustomization', namespace, name))),
    reconcile,
    /** Calls `reconcile` in a loop until it is stopped, ignoring errors. */
    follow: (namespace: string) => repeat(FOLLOW_MS, () => reconcile(namespace)),
  };
}

const refTo = ({ apiVersion, kind, metadata: { namespace, name } }: AnyObject) => ({
  apiVersion,
  kind,
  metadata: { namespace, name },
});
const isBehind = ({ metadata, status }: AnyObject) => status?.observedGeneration !== metadata.generation;
