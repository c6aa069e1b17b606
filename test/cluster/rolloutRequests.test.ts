/** What people ask of a Rollout: each request acts once, goes away, and leaves behind who asked. */
import { describe, expect, it } from 'vitest';
import { objectOf } from '../support/objects.ts';
import { rolloutGate, sharedCluster, waitFor } from './support/cluster.ts';
import { type Story, storyOf } from './support/rolloutStory.ts';
import { history } from './support/versions.ts';

const view = sharedCluster();
const { admin, developer, newNamespace } = view;

/** At 1.0.0, with nothing that bakes; `more` are published before the gate `closed` opens. */
async function deployed(spec: Record<string, unknown> = {}): Promise<Story> {
  const story = storyOf(view, await newNamespace());
  await story.publish('1.0.0');
  await story.create(spec);
  await story.headIs('1.0.0', 'Succeeded');
  return story;
}

/** At 1.0.0, with 1.1.0 and 1.2.0 held by a RolloutGate. */
async function gated(spec: Record<string, unknown> = {}): Promise<Story> {
  const story = await deployed(spec);
  await admin.create(rolloutGate(story.ns, 'closed', 'app', { passing: false }));
  for (const tag of ['1.1.0', '1.2.0']) {
    await story.publish(tag);
    await waitFor(async () => (await story.statusOf()).releaseCandidates?.[0]?.tag === tag, `the candidate ${tag}`);
  }
  return story;
}

const allGone = (story: Story) => waitFor(async () => (await story.asked()).length === 0, 'the annotations to go');

describe("nobody's text in the request ids counts", () => {
  it('requested-by and the request ids are what the API server knows', async () => {
    const story = await gated();
    await story.ask({ 'force-deploy': '1.1.0', 'requested-by': 'root', request: 'force-deploy=spoofed' });
    expect(await story.headIs('1.1.0', 'Succeeded')).toMatchObject({ requestedBy: 'developer' });
    await allGone(story);
  });

  it('an annotation that is applied from Git with its manifest acts once, as often as it is applied', async () => {
    const story = await gated();
    const manifest = objectOf('Rollout', {
      metadata: { name: 'app', namespace: story.ns, annotations: { 'rollout.kuberik.com/deploy-message': 'from Git' } },
      spec: { releasesImagePolicy: { name: 'app' }, wantedVersion: '1.1.0' },
    });
    await developer.apply(manifest, { manager: 'kustomize-controller', force: true });
    expect(await story.headIs('1.1.0', 'Succeeded')).toMatchObject({ message: 'from Git' });
    await allGone(story);
    await developer.apply(manifest, { manager: 'kustomize-controller', force: true });
    await allGone(story);
    expect(await history(admin, story.ns, 'app')).toHaveLength(2);
  });
});
