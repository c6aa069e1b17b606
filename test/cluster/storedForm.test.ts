/** A client with Flux's Go types behind a closed gate. */
import { describe, expect, it } from 'vitest';
import { DURATION_FIELDS } from '../../core/admission/storedForm.ts';
import type { ObjectRef } from '../../dev/client/resources.ts';
import { type AnyObject, gate, sharedCluster, waitFor } from './support/cluster.ts';
import { gated, isHeld } from './support/gates.ts';

const { admin, developer, sre, newNamespace } = sharedCluster();

it('a refresh that spells durations as Go does adds its annotation to a held object, and nothing else', async () => {
  const ns = await newNamespace();
  await sre.create(gate(ns, 'freeze'));
  for (const kind of ['Kustomization', 'HelmRelease', 'OCIRepository'] as const) {
    const object = gated(kind, ns, 'app', 'freeze', { interval: '10m', timeout: '60s' });
    await developer.create(object);
    await isHeld(admin, object, 'unset');
    // A decorator may write between reading and writing.
    const { read, stored } = await waitFor(
      () => refresh(object).catch((error) => (error.code === 409 ? undefined : Promise.reject(error))),
      'a refresh of what was read last',
    );
    expect(stored.metadata.annotations?.['reconcile.fluxcd.io/requestedAt']).toBe('now');
    expect(stored.spec).toEqual(read.spec);
    expect(stored.metadata.generation).toBe(read.metadata.generation);
  }
});

async function refresh(object: AnyObject) {
  let read = object;
  const { object: stored } = await developer.update(object as ObjectRef, (live) => {
    read = structuredClone(live);
    Object.assign(live.spec, { interval: '10m0s', timeout: '1m0s' });
    live.metadata.annotations = { ...live.metadata.annotations, 'reconcile.fluxcd.io/requestedAt': 'now' };
  });
  return { read, stored };
}

const CRDS: [kind: keyof typeof DURATION_FIELDS, crd: string][] = [
  ['Kustomization', 'kustomizations.kustomize.toolkit.fluxcd.io'],
  ['GitRepository', 'gitrepositories.source.toolkit.fluxcd.io'],
  ['OCIRepository', 'ocirepositories.source.toolkit.fluxcd.io'],
  ['HelmRepository', 'helmrepositories.source.toolkit.fluxcd.io'],
  ['Bucket', 'buckets.source.toolkit.fluxcd.io'],
];

describe('the durations that are compared by length are those of the CRD', () => {
  it.each(CRDS)('%s', async (kind, name) => {
    const crd = await admin.get<AnyObject>({
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name },
    });
    const version = crd.spec.versions.find((each: { storage: boolean }) => each.storage);
    expect(durations(version.schema.openAPIV3Schema.properties.spec).sort()).toEqual(
      DURATION_FIELDS[kind].split(' ').filter(Boolean).sort(),
    );
  });
});

interface Schema {
  pattern?: string;
  properties?: Record<string, Schema>;
}

function durations({ pattern, properties = {} }: Schema, path: string[] = []): string[] {
  if (pattern?.includes('(ms|s|m')) return [path.join('.')];
  return Object.entries(properties).flatMap(([key, below]) => durations(below, [...path, key]));
}
