/**
 * spec.writeBack: the test acts as Flux's image automation, which commits the version that the derived ImagePolicy
 * selects, and applies it.
 */
import { describe, expect, it } from 'vitest';
import { gitSync } from '../../dev/actors/gitSync.ts';
import {
  gate,
  kustomization,
  ociRepository,
  ref,
  rollout,
  sharedCluster,
  staysTrue,
  waitFor,
} from './support/cluster.ts';
import { requestGate } from './support/gates.ts';
import { scenarioOf } from './support/rolloutScenario.ts';
import { imageTag, substitutes } from './support/versions.ts';

const view = sharedCluster();
const { admin, developer, flux, sre, newNamespace } = view;
const WRITE_BACK = { writeBack: { imagePolicy: 'app-deployed' } };

/** The Rollout `app`, a Git repository with its two Flux objects, and the Kustomization `deploy` that applies them. */
async function writingBack(spec: Record<string, unknown> = {}, before?: (ns: string) => Promise<unknown>) {
  const ns = await newNamespace();
  await before?.(ns);
  const scenario = scenarioOf(view, ns);
  const sync = gitSync(flux, { namespace: ns, name: 'deploy' });
  const derived = ref('imagePolicy', ns, 'app-deployed');
  /** Selects among the tags by the pattern, as image-reflector-controller does. */
  const selected = async (tags: string[]) => {
    const { filterTags } = (await admin.find(derived))?.spec ?? {};
    return filterTags && tags.filter((tag) => new RegExp(filterTags.pattern).test(tag));
  };
  const selects = (tag: string) =>
    waitFor(async () => {
      expect(await selected(['1.0.0', '1.1.0', '1x1.0', '11.1.0'])).toEqual([tag]);
      return true;
    }, `the derived ImagePolicy to select ${tag}`);
  /** Commits this version and applies it. */
  const commit = (tag: string) =>
    sync([
      ociRepository(ns, 'app', { rollout: 'app', spec: { ref: { tag } } }),
      kustomization(ns, 'app', {
        variables: { APP_VERSION: 'app' },
        spec: { postBuild: { substitute: { APP_VERSION: tag } } },
      }),
    ]);
  const carries = async (tag: string) => {
    expect(await substitutes(admin, ns, 'app')).toEqual({ APP_VERSION: tag });
    expect(await imageTag(admin, ns, 'app')).toBe(tag);
    return true;
  };
  const run = async () => {
    await scenario.flux.fetch(ns, 'app');
    await scenario.flux.apply(ns, 'app');
  };
  await scenario.publish('1.0.0');
  await scenario.create({ ...WRITE_BACK, deployTimeout: '10m', ...spec });
  await selects('1.0.0');
  await commit('1.0.0');
  await run();
  await scenario.headIs('1.0.0', 'Succeeded');
  return { ns, scenario, derived, selects, commit, carries, run };
}

describe('with spec.writeBack', () => {
  it('a release waits for its Gate, is selected for Git, and is applied when Flux has applied Git’s version', async () => {
    const app = await writingBack({ gates: [{ name: 'freeze' }] }, (ns) =>
      sre.create(gate(ns, 'freeze', { spec: { default: 'opened' } })),
    );
    await requestGate(sre, app.ns, 'freeze', 'close');
    await app.scenario.publish('1.1.0');
    await app.scenario.conditionIs('DeploymentBlocked', { status: 'True' });
    await app.selects('1.0.0');
    await requestGate(sre, app.ns, 'freeze', 'open');
    await app.scenario.headIs('1.1.0', 'Deploying');
    await app.selects('1.1.0');
    await staysTrue(() => app.carries('1.0.0'), 'no field to be set', 1500);

    expect((await app.commit('1.1.0')).configured).toHaveLength(2);
    await app.carries('1.1.0');
    await app.scenario.headIs('1.1.0', 'Deploying');
    await app.run();
    await app.scenario.headIs('1.1.0', 'Succeeded');
  });

  it('the ImagePolicy of the releases is refused as the derived one', async () => {
    const ns = await newNamespace();
    const wrong = rollout(ns, 'app', { spec: { writeBack: { imagePolicy: 'app' } } });
    await expect(developer.create(wrong)).rejects.toMatchObject({
      code: 422,
      message: expect.stringContaining('writeBack.imagePolicy must not be the ImagePolicy of releasesImagePolicy'),
    });
  });
});
