/** The API server accepts every combination of manifests/, strictly and without warnings. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { applyObject } from '../../dev/client/resources.ts';
import { CERT_MANAGER, PROMETHEUS_OPERATOR, provideCrds } from '../../dev/local/binaries/crdModules.ts';
import { MANAGER } from '../../dev/local/install/applyAll.ts';
import { installKinds } from '../../dev/local/install/kinds.ts';
import { kustomizeBuild } from '../../dev/local/install/kustomize.ts';
import { parseManifests } from '../../dev/local/install/manifests.ts';
import { REPOSITORY } from '../../dev/repository.ts';
import { sharedCluster } from './support/cluster.ts';

const { admin } = sharedCluster();
const below = (folder: string) =>
  readdirSync(join(REPOSITORY, 'manifests', folder)).map((name) => `manifests/${folder}/${name}`);

const overlays = ['manifests', ...below('overlays')];
const components = below('components');
const COMBINATIONS: [resources: string, components: string[]][] = [
  ...overlays.map((overlay): [string, string[]] => [overlay, []]),
  ['manifests', components],
  ...overlays
    .filter((overlay) => overlay.endsWith('/with-metacontroller'))
    .map((overlay): [string, string[]] => [overlay, components]),
];

beforeAll(async () => {
  await installKinds(admin.access, [], await provideCrds(() => {}, [CERT_MANAGER, PROMETHEUS_OPERATOR]));
});

/** Answers that several cases share. */
const asked = new Map<string, Promise<string[]>>();

it.each(COMBINATIONS)('%s with %j', async (overlay, added) => {
  const objects = parseManifests(await kustomizeBuild({ resources: [overlay], components: added }));
  const answers = objects.map(async (object) => {
    const text = JSON.stringify(object);
    const options = { manager: MANAGER, force: true, strict: true, dryRun: true };
    if (!asked.has(text))
      asked.set(
        text,
        applyObject(admin.access, object, options).then(({ warnings }) => warnings),
      );
    return (await asked.get(text)!).map((warning) => `${object.kind} ${object.metadata.name}: ${warning}`);
  });
  expect(objects.length).toBeGreaterThan(50);
  expect((await Promise.all(answers)).flat()).toEqual([]);
});
