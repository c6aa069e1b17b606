/** Changes of the installation by its components, as rendered by kustomize. */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { AnyObject } from '../../../../dev/client/send.ts';
import { renderInstallation } from '../../../../dev/local/install/installation.ts';
import { readManifests } from '../../../../dev/local/install/manifests.ts';
import { REPOSITORY } from '../../../../dev/repository.ts';

const childrenOf = (controllers: AnyObject[]) =>
  Object.fromEntries(
    controllers.flatMap(({ metadata, spec }) =>
      (spec.childResources ?? spec.attachments)?.length
        ? [[metadata.name, spec.childResources ?? spec.attachments]]
        : [],
    ),
  );

// The first one on a machine builds kustomize.
describe('renderInstallation', () => {
  it('puts every object of the manifests into one part', async () => {
    const folders = ['app', 'controllers', 'crds', 'metacontroller/bundled', 'policies', 'rbac', 'webhooks'];
    const written = folders.flatMap((folder) => readManifests(join(REPOSITORY, 'manifests', folder)));
    const parts = await renderInstallation([]);
    const name = ({ kind, metadata }: AnyObject) => `${kind} ${metadata.namespace ?? ''}/${metadata.name}`;
    const rendered: AnyObject[] = Object.values(parts).flat();
    expect(rendered.map(name).sort()).toEqual(written.map(name).sort());
    expect(parts.workloads.map(({ kind }) => kind)).toEqual(
      expect.arrayContaining(['Deployment', 'Service', 'NetworkPolicy', 'PodDisruptionBudget']),
    );
  });

  it('keeps every kind when Flux prunes: all objects would go with it', async () => {
    const { kinds } = await renderInstallation([]);
    for (const { metadata } of kinds) {
      expect(metadata.annotations, metadata.name).toMatchObject({ 'kustomize.toolkit.fluxcd.io/prune': 'disabled' });
    }
  });

  it('release-config-map, release-copies and write-back give Rollouts children, and no other component does', async () => {
    const before = childrenOf((await renderInstallation([])).controllers);
    expect(before).not.toHaveProperty('rollouts');
    const { controllers } = await renderInstallation(['release-config-map', 'release-copies', 'write-back']);
    expect(childrenOf(controllers)).toEqual({
      ...before,
      rollouts: [
        { apiVersion: 'v1', resource: 'configmaps', updateStrategy: { method: 'InPlace' } },
        // Jobs are never updated.
        { apiVersion: 'batch/v1', resource: 'jobs', updateStrategy: { method: 'OnDelete' } },
        {
          apiVersion: 'image.toolkit.fluxcd.io/v1',
          resource: 'imagepolicies',
          updateStrategy: { method: 'InPlace' },
        },
      ],
    });
  });

  it('health-jobs and release-copies give HealthChecks and Rollouts Jobs, and no other component does', async () => {
    const before = childrenOf((await renderInstallation(['release-copies'])).controllers);
    const { controllers } = await renderInstallation(['health-jobs', 'release-copies']);
    expect(childrenOf(controllers)).toEqual({
      ...before,
      healthchecks: [{ apiVersion: 'batch/v1', resource: 'jobs', updateStrategy: { method: 'OnDelete' } }],
    });
  });

  it.each([
    ['release-config-map', 'configmaps'],
    ['release-copies', 'jobs'],
    ['health-jobs', 'jobs'],
  ])('%s lets Metacontroller read %s everywhere, and write them where somebody binds it', (component, resource) => {
    const objects = readManifests(join(REPOSITORY, 'manifests/components', component));
    const verbs = Object.fromEntries(
      objects
        .filter(({ kind }) => kind === 'ClusterRole')
        .map(({ metadata, rules }) => [metadata.name, rules[0].verbs]),
    );
    const bound = objects.filter(({ kind }) => kind === 'ClusterRoleBinding').map(({ roleRef }) => roleRef.name);
    expect(bound.flatMap((name) => verbs[name])).toEqual(['get', 'list', 'watch']);
    expect(verbs[`rollout-hooks-${component}`]).toEqual(['create', 'update', 'patch', 'delete']);
    const base = readManifests(join(REPOSITORY, 'manifests/rbac')).find(
      ({ kind, metadata }) => kind === 'ClusterRole' && metadata.name === 'rollout-hooks-metacontroller',
    );
    expect(JSON.stringify(base)).not.toContain(resource);
  });

  it('write-back lets Metacontroller write ImagePolicies once it is bound, and nothing else', () => {
    const objects = readManifests(join(REPOSITORY, 'manifests/components/write-back'));
    const roles = objects.filter(({ apiVersion }) => apiVersion.startsWith('rbac.'));
    expect(roles.map(({ kind, metadata, rules }) => ({ kind, name: metadata.name, rules }))).toEqual([
      {
        kind: 'ClusterRole',
        name: 'rollout-hooks-write-back',
        rules: [
          {
            apiGroups: ['image.toolkit.fluxcd.io'],
            resources: ['imagepolicies'],
            verbs: ['create', 'update', 'patch', 'delete'],
          },
        ],
      },
    ]);
  });
});
