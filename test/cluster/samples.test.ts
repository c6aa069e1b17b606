/** The samples of the Go controller's README and of Flux's documentation are accepted with strict field validation, and do what their text says. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { fakeFlux } from '../../dev/actors/fakeFlux.ts';
import { type AnyObject, rollout, sharedCluster } from './support/cluster.ts';
import { createStrictly } from './support/examples.ts';
import { tagArrives, variablesArrive } from './support/versions.ts';

const { admin, flux, newNamespace, publish } = sharedCluster();

function samples(file: string, namespace: string): AnyObject[] {
  const text = readFileSync(join(import.meta.dirname, '../scenario/samples', file), 'utf8');
  return parseAllDocuments(text).map((document) => {
    const object = document.toJS() as AnyObject;
    return { ...object, metadata: { ...object.metadata, namespace } };
  });
}

describe('the samples', () => {
  it.each(['as-written.yaml', 'flux.yaml'])('%s apply without an unknown field', async (file) => {
    const ns = await newNamespace();
    for (const object of samples(file, ns)) {
      const { object: stored } = await createStrictly(admin, object);
      expect(stored.spec).toMatchObject(object.spec);
    }
  });

  it('work together as the README says', async () => {
    const ns = await newNamespace();
    for (const object of samples('flux.yaml', ns)) await createStrictly(admin, object);
    for (const name of ['my-app-rollout', 'frontend-rollout', 'backend-rollout', 'api-rollout']) {
      const policy = name === 'my-app-rollout' ? 'my-app-policy' : name;
      await admin.create(rollout(ns, name, { spec: { releasesImagePolicy: { name: policy } } }));
      await publish(ns, policy, `1.0.${name.length}`);
    }
    await tagArrives(admin, ns, 'my-app-repo', '1.0.14');
    await fakeFlux({ flux }).fetch(ns, 'my-app-repo');
    await variablesArrive(admin, ns, 'my-app-kustomization', { IMAGE_TAG: '1.0.14' });
    await variablesArrive(admin, ns, 'my-app-kustomization-older', { IMAGE_TAG: '1.0.14' });
    await variablesArrive(admin, ns, 'my-app', {
      frontend_version: '1.0.16',
      backend_version: '1.0.15',
      api_version: '1.0.11',
    });
  });
});
