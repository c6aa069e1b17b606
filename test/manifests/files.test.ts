import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { filesBelow, kustomizations, MANIFESTS, objectIn, objectsBelow, objectsIn, textOf } from './files.ts';

const all = kustomizations();
const top = all.find(({ folder }) => folder === '.')!;

describe('kustomizations', () => {
  it.each(all.map((entry) => [entry.folder, entry] as const))('%s names every file in its folder', (folder, entry) => {
    const beside = filesBelow(folder)
      .filter((file) => dirname(file) === folder && /\.ya?ml$/.test(file))
      .map((file) => basename(file))
      .filter((name) => name !== 'kustomization.yaml');
    expect([...entry.resources, ...entry.patches]).toEqual(expect.arrayContaining(beside));
  });

  it.each(all.map((entry) => [entry.folder, entry] as const))('%s names nothing that is not there', (folder, entry) => {
    for (const path of [...entry.resources, ...entry.patches, ...entry.components]) {
      expect(existsSync(join(MANIFESTS, folder, path)), path).toBe(true);
    }
  });

  it('of the overlays use the same namespaces as the plain installation', () => {
    const overlays = all.filter(({ folder }) => folder.startsWith('overlays/'));
    expect(overlays.length).toBeGreaterThan(0);
    for (const { folder, resources } of overlays) {
      const namespaces = resources.filter((path) => path !== '../../metacontroller/bundled');
      expect(namespaces, folder).toEqual(top.resources.map((path) => `../../${path}`));
    }
  });
});

it('of the kinds has no kustomization file next to them, which kubectl apply -f manifests/crds would send', () => {
  expect(filesBelow('crds').filter((file) => file.endsWith('.yaml') && !/_\w+\.yaml$/.test(file))).toEqual([]);
});

describe('the installation', () => {
  it('names no registry, which the installation sets', () => {
    const deployment = objectIn('app/deployment.yaml');
    expect(deployment.spec.template.spec.containers[0].image).toMatch(/^rollout-hooks:\d+\.\d+\.\d+$/);
  });

  it.each(['app', 'metacontroller/bundled'])('%s is evicted late: its priority class has a quota', (folder) => {
    const { priorityClassName } = objectIn(`${folder}/deployment.yaml`).spec.template.spec;
    expect(priorityClassName).toBe('system-cluster-critical');
    const [scope] = objectIn(`${folder}/resource-quota.yaml`).spec.scopeSelector.matchExpressions;
    expect(scope).toEqual({ scopeName: 'PriorityClass', operator: 'In', values: [priorityClassName] });
  });

  it('does not restart a replica that is only not ready', () => {
    const { containers } = objectIn('app/deployment.yaml').spec.template.spec;
    const { startupProbe, livenessProbe, readinessProbe } = containers[0];
    const paths = [startupProbe, livenessProbe, readinessProbe].map(({ httpGet }) => httpGet.path);
    expect(paths).toEqual(['/healthz', '/healthz', '/readyz']);
  });

  it('has one name of Metacontroller, in the server, the condition and the binding', () => {
    const deployment = objectIn('app/deployment.yaml');
    const { env } = deployment.spec.template.spec.containers[0];
    const user = env.find(({ name }: { name: string }) => name === 'METACONTROLLER_USER').value;
    for (const file of ['mutating', 'validating']) expect(textOf(`webhooks/${file}.yaml`)).toContain(`!= '${user}'`);
    const [, , namespace, name] = user.split(':');
    const binding = objectsIn('rbac/metacontroller.yaml').find(({ kind }) => kind === 'ClusterRoleBinding');
    expect(binding?.subjects).toEqual([{ kind: 'ServiceAccount', namespace, name }]);
  });

  it('gives the hook server no secrets without a binding', () => {
    const optional = ['rollout-hooks-secret-reader', 'rollout-hooks-gate-receiver'];
    const rules = objectsBelow('rbac')
      .filter(({ kind, metadata }) => kind === 'ClusterRole' && metadata.name.startsWith('rollout-hooks'))
      .filter(({ metadata }) => !optional.includes(metadata.name))
      .filter(({ metadata }) => metadata.name !== 'rollout-hooks-metacontroller')
      .flatMap((role) => role.rules);
    for (const { resources } of rules) expect(resources).not.toEqual(expect.arrayContaining(['secrets', '*']));
    const bound = objectsBelow('rbac').flatMap(({ roleRef }) => roleRef?.name ?? []);
    for (const name of optional) expect(bound).not.toContain(name);
  });

  it('gives the hook server only the rights named here: no role of the cluster, no logs', () => {
    const mine = objectsBelow('rbac').filter(({ subjects }) =>
      subjects?.some(({ name }: { name: string }) => name === 'rollout-hooks'),
    );
    const roles = mine.map(({ roleRef }) => roleRef.name as string);
    expect(roles.sort()).toEqual(['rollout-hooks', 'rollout-hooks-health', 'rollout-hooks-health-more']);
    expect(textOf('rbac/hook-server.yaml') + textOf('rbac/hook-server-health.yaml')).not.toMatch(/pods\/log\b.*\]/);
  });

  it('lets the receiver of the example read one Secret', () => {
    const secrets = objectsIn('examples/gate-receiver.yaml')
      .flatMap(({ rules = [] }) => rules)
      .filter(({ resources }) => resources.includes('secrets'));
    expect(secrets.map(({ resourceNames }) => resourceNames)).toEqual([['release-pipeline']]);
  });

  it("provides the roles that the Go controller's users are bound to", () => {
    const names = objectsIn('rbac/compat-roles.yaml').map(({ metadata }) => metadata.name);
    expect(names.sort()).toEqual([
      'rollout-controller-healthcheck-editor-role',
      'rollout-controller-healthcheck-viewer-role',
      'rollout-controller-manager-role',
      'rollout-controller-rollout-admin-role',
      'rollout-controller-rollout-editor-role',
      'rollout-controller-rollout-viewer-role',
      'rollout-controller-rolloutgate-editor-role',
      'rollout-controller-rolloutgate-viewer-role',
    ]);
  });
});
