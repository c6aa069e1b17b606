/** The manifests of one version are never applied with the variable of another. */
import { beforeAll, describe, expect, it } from 'vitest';
import { fakeFlux } from '../../dev/actors/fakeFlux.ts';
import { conditionAt, echo } from '../../dev/actors/fluxStatus.ts';
import {
  type AnyObject,
  kustomization,
  ociRepository,
  ref,
  rollout,
  sharedCluster,
  waitFor,
} from './support/cluster.ts';
import { tagArrives, variablesArrive } from './support/versions.ts';

const { admin, developer, flux, newNamespace, publish } = sharedCluster();
const fake = fakeFlux({ flux });

interface App {
  ns: string;
  get(): Promise<AnyObject>;
  source(): Promise<AnyObject>;
}

/** 1.0.0 is deployed and applied. */
async function running(): Promise<App> {
  const ns = await newNamespace();
  await developer.create(rollout(ns, 'app'));
  await developer.create(ociRepository(ns, 'app', { rollout: 'app' }));
  await developer.create(kustomization(ns, 'app', { variables: { VERSION: 'app' } }));
  await publish(ns, 'app', '1.0.0');
  await tagArrives(admin, ns, 'app', '1.0.0');
  await fake.fetch(ns, 'app');
  await variablesArrive(admin, ns, 'app', { VERSION: '1.0.0' });
  await waitFor(() => fake.apply(ns, 'app'), 'the first apply');
  return {
    ns,
    get: () => admin.get(ref('kustomization', ns, 'app')),
    source: () => admin.get(ref('ociRepository', ns, 'app')),
  };
}

/** 2.0.0 is deployed and its tag is written; nothing is fetched. */
async function onItsWay(): Promise<App> {
  const app = await running();
  await publish(app.ns, 'app', '2.0.0');
  await tagArrives(admin, app.ns, 'app', '2.0.0');
  await waitFor(async () => (await app.get()).spec.suspend === true, 'the suspension');
  return app;
}

describe('the API server', () => {
  let app: App;
  beforeAll(async () => {
    app = await onItsWay();
  });
  const revision = (tag: string) => `${tag}@sha256:${'0'.repeat(64)}`;
  const write = (status: object) => flux.patchStatus(ref('kustomization', app.ns, 'app'), status);
  /** kustomize-controller begins an attempt with a condition, and then writes the revision. */
  const begin = (tag: string, seen: object) => {
    const message = `Building manifests for revision ${revision(tag)}`;
    return write({ ...seen, conditions: [conditionAt(Date, 'Reconciling', 1, 'True', 'Progressing', message)] });
  };
  const attempt = (tag: string, seen: object) => write({ ...seen, lastAttemptedRevision: revision(tag) });

  it.each([
    {
      title: 'an artifact that is not that of the variables',
      tag: '2.0.0',
      why: /with the variables of 1\.0\.0; they change/,
    },
    { title: 'one of a tag that only begins so', tag: '1.0.0-rc.1', why: /with the variables of 1\.0\.0; they change/ },
  ])('refuses an attempt at $title', async ({ tag, why }) => {
    await expect(attempt(tag, echo(await app.get()))).rejects.toThrow(why);
  });

  it('refuses the beginning of such an attempt', async () => {
    await expect(begin('2.0.0', echo(await app.get()))).rejects.toThrow(/only its own artifact is applied/);
  });

  it('refuses the right status of a controller that has not seen the newest suspension, whatever its conditions', async () => {
    const unhandled = /before kustomize-controller has handled rollout-hooks\/\d+/;
    await expect(begin('1.0.0', {})).rejects.toThrow(unhandled);
    await expect(attempt('1.0.0', {})).rejects.toThrow(unhandled);
  });

  it('allows any other status of that object', async () => {
    const { generation } = (await app.get()).metadata;
    await begin('1.0.0', echo(await app.get()));
    await attempt('1.0.0', {});
    await flux.patchStatus(ref('kustomization', app.ns, 'app'), { observedGeneration: generation });
  });
});
