/** What people ask of a Rollout: each request acts once, goes away, and leaves behind who asked. */
import { describe, expect, it } from 'vitest';
import { objectOf } from '../support/objects.ts';
import { ref, rolloutGate, sharedCluster, staysTrue, waitFor } from './support/cluster.ts';
import { SELECTS_HEALTH, type Story, storyOf } from './support/rolloutStory.ts';
import { history, imageTag, tagArrives } from './support/versions.ts';

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
    expect(warnings.join()).toContain('version 8.0.0 is deployed next; if it is bad');
    const next = await story.headIs('8.0.0', 'Succeeded');
    expect(next.message).toBe('Automatic deployment');
    expect(next).not.toHaveProperty('requestedBy');
  });

  it('goes back to an older version, and stays there', async () => {
    const story = await deployed();
    await story.publish('1.1.0');
    await story.headIs('1.1.0', 'Succeeded');
    await story.spec({ wantedVersion: '1.0.0' });
    await story.headIs('1.0.0', 'Succeeded');
    await stays(story, '1.0.0');
    expect(await history(admin, story.ns, 'app')).toEqual([
      [3, '1.0.0'],
      [2, '1.1.0'],
      [1, '1.0.0'],
    ]);
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

  it('says itself how it came about when no message is given', async () => {
    const story = await gated();
    await story.ask({ 'force-deploy': '1.2.0' });
    expect(await story.headIs('1.2.0', 'Succeeded')).toMatchObject({
      message: 'Manual deployment, with force deploy',
      requestedBy: 'developer',
    });
  });

  it('of the version already deployed is used up, and automation goes on (Q8)', async () => {
    const story = await gated();
    await story.ask({ 'force-deploy': '1.0.0' });
    await allGone(story);
    expect(await history(admin, story.ns, 'app')).toHaveLength(1);
    await admin.remove(ref('rolloutGate', story.ns, 'closed'));
    const head = await story.headIs('1.2.0', 'Succeeded');
    expect(head.message).toBe('Automatic deployment');
  });

  it('of an older version is no pin, and the answer says which version follows it', async () => {
    const story = await deployed();
    await story.publish('1.1.0');
    await story.headIs('1.1.0', 'Succeeded');
    const { warnings } = await story.ask({ 'force-deploy': '1.0.0' });
    expect(warnings.join()).toContain('version 1.1.0 follows 1.0.0 once nothing holds it');
    await waitFor(async () => {
      expect(await history(admin, story.ns, 'app')).toEqual([
        [4, '1.1.0'],
        [3, '1.0.0'],
        [2, '1.1.0'],
        [1, '1.0.0'],
      ]);
      return true;
    }, '1.1.0 to follow');
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

  it('loses to wantedVersion and acts after it', async () => {
    const story = await gated({ wantedVersion: '1.0.0' });
    await story.ask({ 'force-deploy': '1.1.0' });
    await stays(story, '1.0.0');
    expect(await story.asked()).toEqual(['force-deploy']);
    await story.spec({ wantedVersion: null });
    await story.headIs('1.1.0', 'Succeeded');
    await allGone(story);
  });

  it('may be asked for again: the second request is another one', async () => {
    const story = await gated();
    for (const tag of ['1.1.0', '1.0.0', '1.1.0']) {
      await story.ask({ 'force-deploy': tag });
      await story.headIs(tag, 'Succeeded');
      await allGone(story);
    }
    expect((await history(admin, story.ns, 'app')).map(([, tag]) => tag)).toEqual(['1.1.0', '1.0.0', '1.1.0', '1.0.0']);
  });

  it('cancels what bakes', async () => {
    const story = storyOf(view, await newNamespace());
    await story.watch();
    await story.publish('1.0.0');
    await story.create({ bakeTime: '1s', ...SELECTS_HEALTH });
    await story.headIs('1.0.0', 'Deploying');
    await story.publish('1.1.0');
    await waitFor(async () => (await story.statusOf()).pendingVersion === '1.1.0', 'the candidate');
    await story.ask({ 'force-deploy': '1.1.0', 'deploy-message': 'cannot wait' });
    expect(await story.headIs('1.1.0', 'Deploying')).toMatchObject({ message: 'cannot wait' });
    expect((await story.statusOf()).history[1]).toMatchObject({
      bakeStatus: 'Cancelled',
      message: 'Deployment cancelled due to new deployment of version 1.1.0',
    });
  });
});

describe('bypass-gates', () => {
  it('lets one version past the RolloutGates, not the ones after it', async () => {
    const story = await gated();
    await story.ask({ 'bypass-gates': '1.1.0' });
    const head = await story.headIs('1.1.0', 'Succeeded');
    expect(head.message).toBe('Automatic deployment, with gate bypass');
    await story.conditionIs('Ready', {
      message: 'Release deployed successfully with gate bypass. Bake completed successfully',
    });
    await allGone(story);
    await stays(story, '1.1.0');
    await story.conditionIs('GatesPassing', { status: 'False', reason: 'SomeGatesBlocking' });
  });

  it('shows the bypass while there is nothing newer', async () => {
    const story = await gated();
    await story.ask({ 'bypass-gates': '1.2.0' });
    await story.headIs('1.2.0', 'Succeeded');
    const message = 'Gates bypassed for version 1.2.0';
    await story.conditionIs('GatesPassing', { status: 'True', reason: 'GatesBypassed', message });
    expect((await story.statusOf()).gates).toEqual([
      { name: 'closed', passing: false, bypassGates: true, message: 'Gate bypassed for version 1.2.0' },
    ]);
  });

  it('of a version that is no candidate warns and has no effect', async () => {
    const story = await gated();
    const { warnings } = await story.ask({ 'bypass-gates': '9.9.9' });
    expect(warnings.join()).toContain('9.9.9 is not a release candidate');
    await stays(story, '1.0.0');
    await story.ask({ 'bypass-gates': null });
    await story.spec({ wantedVersion: '1.1.0' });
    expect((await story.headIs('1.1.0', 'Succeeded')).message).toBe('Manual deployment');
  });
});

describe('what was asked for one deployment is never that of a later one (Q25)', () => {
  it('message and user of a cleared pin', async () => {
    const story = await gated({ wantedVersion: '1.0.0' });
    await developer.mergePatch(story.app, {
      metadata: {
        annotations: {
          'rollout.kuberik.com/deploy-message': 'Cleared version pin',
          'rollout.kuberik.com/deploy-user': 'alice@example.com',
        },
      },
      spec: { wantedVersion: null },
    });
    await allGone(story);
    await story.spec({ wantedVersion: '1.1.0' }, sre);
    expect(await story.headIs('1.1.0', 'Succeeded')).toMatchObject({
      message: 'Manual deployment',
      requestedBy: 'sre',
      triggeredBy: { kind: 'System', name: 'rollout-controller' },
    });
  });

  it('bypass and unblock that a manual deployment overtook', async () => {
    const story = await gated();
    await story.ask({ 'bypass-gates': '9.9.9', 'deploy-message': 'armed' });
    await story.spec({ wantedVersion: '1.1.0' });
    await story.headIs('1.1.0', 'Succeeded');
    await allGone(story);
    await story.spec({ wantedVersion: null });
    await story.publish('9.9.9');
    await stays(story, '1.1.0');
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

describe('a bound object', () => {
  it('follows what is asked for by hand', async () => {
    const story = await gated();
    await story.bind();
    await tagArrives(admin, story.ns, 'app', '1.0.0');
    await story.ask({ 'force-deploy': '1.2.0' });
    await tagArrives(admin, story.ns, 'app', '1.2.0');
    await story.ask({ 'force-deploy': '1.1.0' });
    await tagArrives(admin, story.ns, 'app', '1.1.0');
    expect(await imageTag(admin, story.ns, 'app')).toBe('1.1.0');
  });
});
