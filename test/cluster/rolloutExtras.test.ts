/** What the documents promise beside deployments, odd statuses, and what `kubectl get` shows: on the real API server. */
import { describe, expect, it } from 'vitest';
import { send } from '../../dev/client/send.ts';
import { objectOf } from '../support/objects.ts';
import { ref, rolloutGate, sharedCluster, waitFor } from './support/cluster.ts';
import { type Story, storyOf } from './support/rolloutStory.ts';

const view = sharedCluster();
const { admin, newNamespace } = view;

async function deployed(spec: Record<string, unknown> = {}, tags = ['1.0.0']): Promise<Story> {
  const story = storyOf(view, await newNamespace());
  await story.publish(tags[0]!);
  await story.create(spec);
  for (const tag of tags) {
    await story.publish(tag);
    await story.headIs(tag, 'Succeeded');
  }
  return story;
}

/** A Rollout whose ImagePolicy has nothing yet, with a status by hand. */
async function seeded(status: Record<string, unknown>, spec: Record<string, unknown> = {}): Promise<Story> {
  const story = storyOf(view, await newNamespace());
  await admin.create(
    objectOf('ImagePolicy', {
      metadata: { name: 'app', namespace: story.ns },
      spec: { imageRepositoryRef: { name: 'app' }, policy: { semver: { range: '>=0.0.0' } } },
    }),
  );
  await story.create(spec);
  await story.conditionIs('Ready', { message: 'No releases available' });
  await admin.patchStatus(story.app, status);
  return story;
}

const entry = (tag: string, more: object = {}) => ({ version: { tag }, timestamp: '2026-01-02T12:00:00Z', ...more });
const isSaid = (story: Story, field: string, value: unknown) =>
  waitFor(
    async () => {
      expect((await story.statusOf())[field]).toEqual(value);
      return true;
    },
    `status.${field} to be ${JSON.stringify(value)}`,
  );

describe('spec.releaseConfigMap', () => {
  it('holds the deployed version, follows it, and goes with the wish for it', async () => {
    const story = await deployed({ releaseConfigMap: { name: 'release' } });
    const data = (tag: string) => ({ tag, version: '', revision: '', digest: '' });
    const holds = (tag: string) =>
      waitFor(async () => {
        expect((await admin.get(ref('configMap', story.ns, 'release'))).data).toEqual(data(tag));
        return true;
      }, `the ConfigMap to hold ${tag}`);
    await holds('1.0.0');
    await story.publish('1.1.0');
    await holds('1.1.0');
    await admin.mergePatch(ref('configMap', story.ns, 'release'), { data: { tag: '6.6.6' } });
    await holds('1.1.0');
    await story.spec({ releaseConfigMap: null });
    await waitFor(async () => !(await admin.find(ref('configMap', story.ns, 'release'))), 'the ConfigMap to go');
  });
});

describe('a status written by hand', () => {
  it('with an entry of a megabyte goes on', async () => {
    const story = await seeded({
      history: [entry('1.0.0', { id: 1, bakeStatus: 'Failed', bakeStatusMessage: 'x'.repeat(900_000) })],
      availableReleases: [{ tag: '1.0.0' }],
    });
    await isSaid(story, 'currentVersion', '1.0.0');
    await story.publish('1.1.0');
    await story.headIs('1.1.0', { id: 2 });
  });
});

describe('kubectl get rollouts', () => {
  async function row(story: Story): Promise<Record<string, unknown>> {
    const { object: table } = await send(
      admin.access,
      'GET',
      `/apis/kuberik.com/v1alpha1/namespaces/${story.ns}/rollouts`,
      { accept: 'application/json;as=Table;g=meta.k8s.io;v=v1' },
    );
    const names: string[] = table.columnDefinitions.map(({ name }: { name: string }) => name);
    return Object.fromEntries(names.map((name, i) => [name, table.rows[0].cells[i]]));
  }

  it('tells the state at a glance', async () => {
    const story = await deployed();
    await admin.create(rolloutGate(story.ns, 'qa', 'app', { passing: false }));
    await story.publish('1.1.0');
    await story.conditionIs('GatesPassing', { status: 'False' });
    await isSaid(story, 'pendingVersion', '1.1.0');
    expect(await row(story)).toMatchObject({
      Name: 'app',
      Version: '1.0.0',
      Message: 'Automatic deployment',
      BakeStatus: 'Succeeded',
      Gates: 'False',
      Available: 2,
      Ready: 'True',
      Status: 'Release deployed successfully. Bake completed successfully',
      Pending: '1.1.0',
    });
  });

  it('shows a number where nothing is available', async () => {
    const story = await seeded({});
    expect(await row(story)).toMatchObject({ Available: 0, Ready: 'False', Status: 'No releases available' });
  });
});
