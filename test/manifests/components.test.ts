/** What the components name is what server and local control plane use. */
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { WEBHOOK_CLIENT_NAME } from '../../dev/local/controlPlane/webhookClient.ts';
import { ENVIRONMENT, readConfig } from '../../server/config.ts';
import { kustomizations, objectIn } from './files.ts';

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
