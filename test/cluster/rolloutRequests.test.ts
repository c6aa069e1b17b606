/** What people ask of a Rollout: each request acts once, goes away, and leaves behind who asked. */
import { describe, expect, it } from 'vitest';
import { objectOf } from '../support/objects.ts';
import { ref, rolloutGate, sharedCluster, staysTrue, waitFor } from './support/cluster.ts';
import { type Story, storyOf } from './support/rolloutStory.ts';
import { history } from './support/versions.ts';

const view = sharedCluster();
const { admin, developer, sre, newNamespace } = view;

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
const stays = (story: Story, tag: string) =>
  staysTrue(async () => (await story.head()).version.tag === tag, `${tag} stays`, 1000);

describe('spec.wantedVersion', () => {
  it('deploys any version past the RolloutGates and keeps it, with who asked; without it automation goes on', async () => {
    const story = await gated();
    await story.spec({ wantedVersion: '7.7.7' }, sre);
    const head = await story.headIs('7.7.7', 'Succeeded');
    expect(head).toMatchObject({
      id: 2,
      message: 'Manual deployment',
      requestedBy: 'sre',
      triggeredBy: { kind: 'System', name: 'rollout-controller' },
    });
    await story.publish('8.0.0');
    await admin.mergePatch(ref('rolloutGate', story.ns, 'closed'), { spec: { passing: true } });
    await stays(story, '7.7.7');
    const { warnings } = await story.spec({ wantedVersion: null });
    expect(warnings.join()).toContain('version 8.0.0 is deployed next. To prevent that');
    const next = await story.headIs('8.0.0', 'Succeeded');
    expect(next.message).toBe('Automatic deployment');
    expect(next).not.toHaveProperty('requestedBy');
  });

  it('that is not a legal tag is refused', async () => {
    const story = await deployed();
    await expect(story.spec({ wantedVersion: 'no such/tag' })).rejects.toThrow(/spec.wantedVersion.*should match/s);
    expect((await story.head()).version.tag).toBe('1.0.0');
  });
});

describe('force-deploy', () => {
  it('deploys an available version past the RolloutGates, with message, user and the authenticated user', async () => {
    const story = await gated();
    await story.ask({ 'force-deploy': '1.1.0', 'deploy-message': 'hotfix', 'deploy-user': 'alice@example.com' }, sre);
    expect(await story.headIs('1.1.0', 'Succeeded')).toMatchObject({
      id: 2,
      message: 'hotfix',
      requestedBy: 'sre',
      triggeredBy: { kind: 'User', name: 'alice@example.com' },
    });
    await allGone(story);
    await stays(story, '1.1.0');
  });

  it('of an unknown version warns, waits, and acts when the version comes', async () => {
    const story = await gated();
    const { warnings } = await story.ask({ 'force-deploy': '3.0.0' });
    expect(warnings.join()).toContain('3.0.0 is not in available releases');
    await story.conditionIs('Ready', {
      status: 'False',
      reason: 'RolloutFailed',
      message: 'force deploy version 3.0.0 is not in available releases',
    });
    await story.publish('3.0.0');
    await story.headIs('3.0.0', 'Succeeded');
    await allGone(story);
    await story.conditionIs('Ready', { status: 'True', reason: 'RolloutSucceeded' });
  });
});

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
