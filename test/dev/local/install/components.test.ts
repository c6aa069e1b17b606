import { join } from 'node:path';
import { expect, it } from 'vitest';
import { componentObjects, withComponent } from '../../../../dev/local/install/components.ts';
import { readManifests } from '../../../../dev/local/install/manifests.ts';

const controllers = readManifests(join(import.meta.dirname, '../../../../manifests/controllers'));
const children = (objects: typeof controllers) =>
  Object.fromEntries(
    objects.flatMap(({ metadata, spec }) =>
      spec.childResources?.length ? [[metadata.name, spec.childResources]] : [],
    ),
  );

it('release-config-map gives Rollouts a child, and nothing else another one', () => {
  const before = children(controllers);
  expect(before).not.toHaveProperty('rollouts');
  expect(children(withComponent('release-config-map', controllers))).toEqual({
    ...before,
    rollouts: [{ apiVersion: 'v1', resource: 'configmaps', updateStrategy: { method: 'InPlace' } }],
  });
});

it('release-copies gives Rollouts Jobs, which are never updated', () => {
  const { rollouts } = children(withComponent('release-copies', controllers));
  expect(rollouts).toEqual([{ apiVersion: 'batch/v1', resource: 'jobs', updateStrategy: { method: 'OnDelete' } }]);
});

it.each([
  ['release-config-map', 'configmaps'],
  ['release-copies', 'jobs'],
])('%s lets Metacontroller read %s everywhere, and write them where somebody binds it', (component, resource) => {
  const objects = componentObjects(component);
  const verbs = Object.fromEntries(
    objects.filter(({ kind }) => kind === 'ClusterRole').map(({ metadata, rules }) => [metadata.name, rules[0].verbs]),
  );
  const bound = objects.filter(({ kind }) => kind === 'ClusterRoleBinding').map(({ roleRef }) => roleRef.name);
  expect(bound.flatMap((name) => verbs[name])).toEqual(['get', 'list', 'watch']);
  expect(verbs[`rollout-hooks-${component}`]).toEqual(['create', 'update', 'patch', 'delete']);
  const rbac = readManifests(join(import.meta.dirname, '../../../../manifests/rbac'));
  const base = rbac.find(
    ({ kind, metadata }) => kind === 'ClusterRole' && metadata.name === 'rollout-hooks-metacontroller',
  );
  expect(JSON.stringify(base)).not.toContain(resource);
});
