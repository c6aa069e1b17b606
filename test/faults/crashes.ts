/** No deployment is lost or repeated, whatever process is killed. The simulation kills processes at every write. */
import { expect, it } from 'vitest';
import { kustomization, rollout, waitFor } from '../cluster/support/cluster.ts';
import { history, substitutes, variablesArrive } from '../cluster/support/versions.ts';
import { objectOf } from '../support/objects.ts';
import { cluster, kill, startHooks, view } from './cluster.ts';

async function newApp(): Promise<string> {
  const ns = await view.newNamespace();
  await view.developer.create(
    rollout(ns, 'app', { spec: { releasesImagePolicy: { name: 'app' }, versionHistoryLimit: 100 } }),
  );
  await view.developer.create(kustomization(ns, 'app', { variables: { APP_VERSION: 'app' } }));
  return ns;
}

/** Expects ids n..1 without a gap, and each tag once. */
async function expectOneDeploymentEach(ns: string, tags: string[]): Promise<void> {
  const newestFirst = tags.map((tag, i) => [i + 1, tag]).reverse();
  expect(await history(view.admin, ns, 'app')).toEqual(newestFirst);
}

export function crashes(): void {
  it('a tag that is published while the hook server is down is deployed once, after it returns', async () => {
    const ns = await newApp();
    await view.publish(ns, 'app', '1.0.0');
    await variablesArrive(view.admin, ns, 'app', { APP_VERSION: '1.0.0' });
    await kill('hooks');
    await view.publish(ns, 'app', '1.1.0');
    expect(await substitutes(view.admin, ns, 'app')).toEqual({ APP_VERSION: '1.0.0' });
    await expect(
      view.developer.mergePatch(objectOf('Kustomization', { metadata: { name: 'app', namespace: ns } }), {
        spec: { postBuild: { substitute: { APP_VERSION: '6.6.6' } } },
      }),
      'an object with a managed field takes no edit while the webhook is down',
    ).rejects.toMatchObject({ code: 500 });
    await startHooks();
    await variablesArrive(view.admin, ns, 'app', { APP_VERSION: '1.1.0' });
    await expectOneDeploymentEach(ns, ['1.0.0', '1.1.0']);
  });

  it.each([
    {
      scenario: 'a stream of releases survives deaths of the driver, each version deployed once',
      laterMs: 40,
      die: async () => {
        await kill('driver');
        await cluster.startDriver();
      },
      // The next version is published before the Kustomization has this one.
      hasCome: (ns: string, tag: string) =>
        waitFor(async () => (await history(view.admin, ns, 'app'))[0]?.[1] === tag, `the deployment of ${tag}`, 60_000),
    },
    {
      scenario: 'a stream of releases survives deaths of the hook server in its midst',
      laterMs: 16,
      die: async () => {
        await kill('hooks');
        await startHooks();
      },
      hasCome: (ns: string, tag: string) => variablesArrive(view.admin, ns, 'app', { APP_VERSION: tag }),
    },
  ])('$scenario', async ({ laterMs, die, hasCome }) => {
    const ns = await newApp();
    const tags = Array.from({ length: 4 }, (_, round) => `1.${round}.0`);
    for (const [round, tag] of tags.entries()) {
      await view.publish(ns, 'app', tag);
      // At another time of the release in each round: from its start until after the Kustomization has it.
      const deadline = performance.now() + round * laterMs;
      await waitFor(() => performance.now() >= deadline, 'the moment to strike');
      await die();
      await hasCome(ns, tag);
    }
    await variablesArrive(view.admin, ns, 'app', { APP_VERSION: tags.at(-1)! });
    await expectOneDeploymentEach(ns, tags);
  });
}
