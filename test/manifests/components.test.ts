/** What the components name is what server and local control plane use. */
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { WATCHED } from '../../audit/auditStream.ts';
import { WEBHOOK_CLIENT_NAME } from '../../dev/local/controlPlane/webhookClient.ts';
import { ENVIRONMENT, readConfig } from '../../server/config.ts';
import { kustomizations, objectIn, objectsIn } from './files.ts';

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

it.each(patched)('%s sets what the server knows, in files that are mounted', (component) => {
  const { containers, volumes } = patchOf(component);
  const [{ env, volumeMounts }] = containers;
  for (const { name, value } of env) {
    expect(ENVIRONMENT, name).toHaveProperty(name);
    if (!value.startsWith('/')) continue;
    const mount = volumeMounts.find(({ mountPath }: { mountPath: string }) => value.startsWith(`${mountPath}/`));
    expect(volumes.map(({ name: volume }: { name: string }) => volume)).toContain(mount?.name);
  }
});

it('the API server is let in under the name that the local one has', () => {
  const { env } = patchOf('authenticated-webhook').containers[0];
  expect(env).toContainEqual({ name: 'WEBHOOK_CLIENT_NAMES', value: WEBHOOK_CLIENT_NAME });
});

it('notifications sets an address that the server takes', () => {
  const { patches } = objectIn('components/notifications/kustomization.yaml');
  const [{ value }] = parse(patches[0].patch);
  expect(readConfig({ [value.name]: value.value })).toMatchObject({ eventsAddress: value.value });
});

it('kuberik-compat sets what the Go controller did: a failed version holds, and health is watched without consent', () => {
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

describe('audit', () => {
  const [role, binding] = ['ClusterRole', 'ClusterRoleBinding'].map(
    (kind) => objectsIn('components/audit/rbac.yaml').find((object) => object.kind === kind)!,
  );
  const { serviceAccountName, containers, volumes } = objectIn('components/audit/deployment.yaml').spec.template.spec;

  it('may watch what it watches, write nothing, and shares its rights with nobody', () => {
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

  it('gets its Secret where its arguments say', () => {
    const mount = containers[0].volumeMounts[0];
    expect(containers[0].args).toContain(`--sink=${mount.mountPath}`);
    expect(volumes.map(({ name }: { name: string }) => name)).toEqual([mount.name]);
  });
});
