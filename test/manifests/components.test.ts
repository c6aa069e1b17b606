/** Names in the components are those of server and local control plane. */
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { WATCHED } from '../../audit/auditStream.ts';
import { WEBHOOK_CLIENT_NAME } from '../../dev/local/controlPlane/webhookClient.ts';
import { PAGE_ENVIRONMENT, readPageConfig } from '../../page/inCluster/config.ts';
import { ENVIRONMENT, readConfig } from '../../server/config.ts';
import { kustomizations, objectIn, objectsBelow, objectsIn } from './files.ts';

/** The Deployment's patch of a component. */
function patchOf(component: string) {
  const { patches } = objectIn(`components/${component}/kustomization.yaml`);
  const patch = patches.find(({ target }: { target: { kind: string } }) => target.kind === 'Deployment');
  return parse(patch.patch).spec.template.spec;
}

const patched = kustomizations()
  .map(({ folder }) => folder)
  .filter((folder) => folder.startsWith('components/authenticated-'))
  .map((folder) => folder.replace('components/', ''));

it.each(patched)('%s sets variables of the server, to mounted files', (component) => {
  const { containers, volumes } = patchOf(component);
  const [{ env, volumeMounts }] = containers;
  for (const { name, value } of env) {
    expect(ENVIRONMENT, name).toHaveProperty(name);
    if (!value.startsWith('/')) continue;
    const mount = volumeMounts.find(({ mountPath }: { mountPath: string }) => value.startsWith(`${mountPath}/`));
    expect(volumes.map(({ name: volume }: { name: string }) => volume)).toContain(mount?.name);
  }
});

it('the API server may connect under the name of the local one', () => {
  const { env } = patchOf('authenticated-webhook').containers[0];
  expect(env).toContainEqual({ name: 'WEBHOOK_CLIENT_NAMES', value: WEBHOOK_CLIENT_NAME });
});

it('notifications sets an address that the server takes', () => {
  const { patches } = objectIn('components/notifications/kustomization.yaml');
  const [{ value }] = parse(patches[0].patch);
  expect(readConfig({ [value.name]: value.value })).toMatchObject({ eventsAddress: value.value });
});

it('kuberik-compat sets the Go controller’s behaviour: a failed version holds, and health is watched without consent', () => {
  const set: { name: string; value: string }[] = patchOf('kuberik-compat').containers[0].env;
  const { settings } = readConfig(Object.fromEntries(set.map(({ name, value }) => [name, value])));
  expect(settings).toMatchObject({ onFailure: 'Hold', watchWithoutConsent: true });
  expect(readConfig({}).settings).toMatchObject({ onFailure: 'Continue', watchWithoutConsent: false });
});

describe('resource-set-inputs', () => {
  const { patches } = objectIn('components/resource-set-inputs/kustomization.yaml');
  const [{ value: setting }, { value: port }] = parse(patches[0].patch);
  const [[{ value: served }], [{ value: ingress }]] = [parse(patches[1].patch), parse(patches[2].patch)];

  it('opens the port that the server listens on', () => {
    const { env } = objectIn('app/deployment.yaml').spec.template.spec.containers[0];
    const set = [...env, setting].map(({ name, value }: { name: string; value: string }) => [name, value]);
    expect(readConfig(Object.fromEntries(set))).toMatchObject({ inputsPort: port.containerPort });
    expect([served.targetPort, ...ingress.ports]).toEqual([port.name, { port: port.name }]);
  });

  it('is called by the example under the name in the certificate', () => {
    const provider = objectsIn('examples/resource-set-inputs.yaml').find(({ kind }) => kind.endsWith('InputProvider'));
    const certificate = objectsIn('components/cert-manager/certificate.yaml').find(({ spec }) => spec.dnsNames);
    const { protocol, hostname, port: called } = new URL(provider!.spec.url);
    expect([protocol, hostname, called]).toEqual(['https:', certificate!.spec.dnsNames[0], String(served.port)]);
  });
});

describe('ui', () => {
  const folder = 'components/ui';
  const { spec: pod } = objectIn(`${folder}/deployment.yaml`).spec.template;
  const [container] = pod.containers;
  const env: Record<string, string> = Object.fromEntries(
    container.env.map(({ name, value }: { name: string; value: string }) => [name, value]),
  );

  it('may impersonate, and nothing else, by a ServiceAccount of its own', () => {
    const [account, role, binding] = objectsIn(`${folder}/rbac.yaml`);
    expect(role!.rules).toEqual([{ apiGroups: [''], resources: ['groups', 'users'], verbs: ['impersonate'] }]);
    expect(binding!.subjects).toEqual([{ kind: 'ServiceAccount', ...account!.metadata }]);
    expect(pod.serviceAccountName).toBe(account!.metadata.name);
    const bound = objectsBelow('.').filter(({ subjects }) =>
      subjects?.some(({ name }: { name: string }) => name === account!.metadata.name),
    );
    expect(bound.map(({ metadata }) => metadata.name)).toEqual(['rollout-hooks-ui']);
  });

  it('runs as restricted as the hook server, with the same image', () => {
    const server = objectIn('app/deployment.yaml').spec.template.spec;
    expect(pod.securityContext).toEqual(server.securityContext);
    expect(container.securityContext).toEqual(server.containers[0].securityContext);
    expect(container.image).toBe(server.containers[0].image);
    expect(existsSync(container.command.at(-1))).toBe(true);
  });

  it('sets variables of the program, to mounted files, and starts with the ConfigMap’s content', () => {
    const mounts: string[] = container.volumeMounts.map(({ mountPath }: { mountPath: string }) => mountPath);
    for (const [name, value] of Object.entries(env)) {
      expect(PAGE_ENVIRONMENT, name).toHaveProperty(name);
      if (value.startsWith('/'))
        expect(
          mounts.some((each) => [value, dirname(value)].includes(each)),
          name,
        ).toBe(true);
    }
    const own = { UI_ORIGIN: 'https://a.example', UI_OIDC_ISSUER: 'https://b.example', UI_OIDC_CLIENT_ID: 'c' };
    expect(readPageConfig({ ...env, ...own }).port).toBe(container.ports[0].containerPort);
    expect(objectIn(`${folder}/service.yaml`).spec.ports[0].targetPort).toBe(container.ports[0].name);
  });
});

describe('audit', () => {
  const [role, binding] = ['ClusterRole', 'ClusterRoleBinding'].map(
    (kind) => objectsIn('components/audit/rbac.yaml').find((object) => object.kind === kind)!,
  );
  const { serviceAccountName, containers, volumes } = objectIn('components/audit/deployment.yaml').spec.template.spec;

  it('may watch its objects, write nothing, and shares its rights with no other', () => {
    const rules: { apiGroups: string[]; resources: string[]; verbs: string[] }[] = role!.rules;
    expect(rules.map(({ verbs }) => verbs)).toEqual(rules.map(() => ['get', 'list', 'watch']));
    const granted = rules.flatMap(({ apiGroups, resources }) => resources.map((each) => `${apiGroups[0]}/${each}`));
    const group = (apiVersion: string) => (apiVersion.includes('/') ? apiVersion.split('/')[0] : '');
    expect(granted.sort()).toEqual(
      WATCHED.map(({ apiVersion, resource }) => `${group(apiVersion)}/${resource}`).sort(),
    );
    expect(binding!.subjects).toEqual([
      { kind: 'ServiceAccount', name: serviceAccountName, namespace: 'rollout-hooks' },
    ]);
    expect(serviceAccountName).not.toBe(objectIn('app/deployment.yaml').spec.template.spec.serviceAccountName);
  });

  it('runs the image of the server, which no Service, budget or policy of the server selects', () => {
    const server = objectIn('app/deployment.yaml').spec;
    expect(containers[0].image).toBe(server.template.spec.containers[0].image);
    const { metadata } = objectIn('components/audit/deployment.yaml').spec.template;
    expect(metadata.labels).not.toMatchObject(server.selector.matchLabels);
  });

  it('gets its Secret at the path in its arguments', () => {
    const mount = containers[0].volumeMounts[0];
    expect(containers[0].args).toContain(`--sink=${mount.mountPath}`);
    expect(volumes.map(({ name }: { name: string }) => name)).toEqual([mount.name]);
  });
});
