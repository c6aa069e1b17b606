/** Durations are compared by value: a client with Flux's Go types writes them in another form. */
import { describe, expect, it } from 'vitest';
import { DURATION_FIELDS } from '../../core/admission/storedForm.ts';
import { type AnyObject, sharedCluster } from './support/cluster.ts';

const { admin } = sharedCluster();

const CRDS: [kind: keyof typeof DURATION_FIELDS, crd: string][] = [
  ['Kustomization', 'kustomizations.kustomize.toolkit.fluxcd.io'],
  ['HelmRelease', 'helmreleases.helm.toolkit.fluxcd.io'],
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
