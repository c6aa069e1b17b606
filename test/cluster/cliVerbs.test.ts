/** The commands that ask for something, against the real API server: what they print is compared with the files in golden/. */
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { USERS } from '../../dev/local/controlPlane/users.ts';
import { type Called, call, type RelatedObjects } from '../support/command.ts';
import { ref, rolloutGate, sharedCluster, waitFor } from './support/cluster.ts';
import { expectGolden } from './support/golden.ts';
import { type Story, storyOf } from './support/rolloutStory.ts';

const view = sharedCluster();
const { admin, sre, newNamespace } = view;

let story: Story;

type Line = readonly string[];

const as = (user: 'admin' | 'developer' | 'sre', line: Line, around: RelatedObjects = {}): Promise<Called> =>
  call([...line, '-n', story.ns], { ...around, env: { KUBECONFIG: join(view.dir, USERS[user].file), ...around.env } });

const golden = async (name: string, called: Called, code = 0) => {
  const text = `${called.out}${called.err && `--- stderr\n${called.err}`}--- exit code ${called.code}\n`;
  await expectGolden(name, text.replace(/\b\d+h\d+m\d+s ahead/, 'SPAN ahead'), story.ns);
  expect(called.code).toBe(code);
};

const words = (line: string) => line.split(' ');
const annotationsOf = async (kind: 'rollout' | 'gate' | 'rolloutGate', name: string) =>
  (await admin.get(ref(kind, story.ns, name))).metadata.annotations ?? {};

beforeAll(async () => {
  story = storyOf(view, await newNamespace());
  await story.create();
  for (const tag of ['1.0.0', '1.1.0']) {
    await story.publish(tag);
    await story.headIs(tag, 'Succeeded');
  }
});

describe('a Rollout', () => {
  it('rollback --dry-run=server changes nothing', async () => {
    await golden('rollback-dry-run', await as('developer', words('rollback app --dry-run=server -v')));
    expect((await admin.get(story.app)).spec.wantedVersion).toBeUndefined();
  });

  it('pin and wait', async () => {
    const called = await as('developer', [...words('pin app 1.0.0 --wait --timeout 30s --reason'), 'leaks memory']);
    expect(called).toMatchObject({ code: 0, out: expect.stringContaining(`${story.ns}/app: `) });
    expect(await story.head()).toMatchObject({
      version: { tag: '1.0.0' },
      reason: 'leaks memory',
      requestedBy: 'developer',
    });
  });

  it('pin, once more', async () => golden('pin-again', await as('developer', words('pin app 1.0.0'))));
  it('deploy beside the pin', async () => golden('deploy-pinned', await as('developer', words('deploy app 1.1.0')), 1));

  it('unpin says what comes next, and asks', async () => {
    const unpin = words('unpin app');
    await waitFor(async () => (await story.statusOf()).gatedReleaseCandidates?.[0]?.tag === '1.1.0', 'the candidate');
    await golden('unpin-asks', await as('developer', unpin), 2);
    expect((await admin.get(story.app)).spec.wantedVersion).toBe('1.0.0');
    const called = await as('developer', unpin, { columns: 100, answers: 'n\n' });
    expect([called.code, called.err]).toEqual([1, expect.stringContaining('Nothing was changed.')]);
    await golden('unpin', await as('developer', unpin, { columns: 100, answers: 'y\n' }));
    await story.headIs('1.1.0', 'Succeeded');
  });

  it('retry of what has not failed', async () => golden('retry-nothing', await as('developer', words('retry app')), 1));
  it('deploy of what is no release', async () =>
    golden('deploy-unknown', await as('developer', words('deploy app 9.9.9')), 2));
  it('deploy of what is no tag', async () =>
    golden('deploy-no-tag', await as('developer', ['deploy', 'app', '1.0 0']), 1));
  it('-o name', async () => golden('pin-name', await as('developer', words('pin app 1.1.0 -o name'))));
  it('rollback stays there', async () => {
    await as('developer', words('unpin app'));
    await golden('rollback-asks', await as('developer', words('rollback app')), 2);
    await as('developer', words('rollback app --yes'));
    await story.headIs('1.0.0', 'Succeeded');
    expect((await admin.get(story.app)).spec.wantedVersion).toBe('1.0.0');
  });

  it('rollback once more does not go forward', async () => {
    await golden('rollback-again', await as('developer', words('rollback app --yes')), 1);
    expect((await admin.get(story.app)).spec.wantedVersion).toBe('1.0.0');
  });
});

describe('a version at its gates', () => {
  beforeAll(async () => {
    await as('developer', words('pin app 1.1.0'));
    await story.headIs('1.1.0', 'Succeeded');
    await as('developer', words('unpin app --yes'));
    await sre.create(rolloutGate(story.ns, 'qa', 'app', { passing: true, allowedVersions: [] }));
    await sre.create(rolloutGate(story.ns, 'ops', 'app', { passing: false }));
    await story.publish('1.2.0');
    await story.conditionIs('WaitingForRolloutGates', { status: 'True' });
  });

  it('approve, where two are in the way', async () =>
    golden('approve-two', await as('sre', words('approve app 1.2.0')), 1));
  it('approve, by somebody who may not', async () =>
    golden('approve-denied', await as('developer', words('approve rolloutgate/qa 1.2.0')), 1));

  it('approve at each of them', async () => {
    await golden('approve', await as('sre', [...words('approve rolloutgate/qa 1.2.0 --reason'), 'tested, QA-88']));
    expect(await annotationsOf('rolloutGate', 'qa')).toMatchObject({
      'rollout.kuberik.com/listed': expect.stringMatching(/"version":"1.2.0","by":"sre".*"reason":"tested, QA-88"/),
    });
    await golden('approve-last', await as('sre', words('approve app 1.2.0')));
    await story.headIs('1.2.0', 'Succeeded');
    await golden('approve-nothing', await as('sre', words('approve app 1.2.0')));
  });

  it('approve of what is no release says so', async () => {
    const { err } = await as('sre', words('approve app 1.2.l --dry-run=server'));
    expect(err).toContain('1.2.l is not a release that this Rollout knows (it has 1.2.0, 1.1.0, 1.0.0).');
  });

  it('reject', async () => {
    await golden('reject', await as('sre', words('reject app 1.3.0 --gate qa')));
    await golden('reject-two', await as('sre', words('reject app 1.3.0')), 1);
  });
});

describe('a freeze', () => {
  it('says what it would hold, and asks', async () => {
    await story.bind();
    await golden('freeze-asks', await as('sre', [...words('freeze incident --for 24h --reason'), 'INC-42']), 2);
    expect(await admin.find(ref('gate', story.ns, 'incident'))).toBeUndefined();
  });

  it('on a terminal of 40 columns', async () =>
    golden(
      'freeze-asks-40',
      await as('sre', words('freeze incident --namespace-selector kubernetes.io/metadata.name=none'), {
        columns: 40,
        answers: 'n\n',
      }),
      1,
    ));

  it('closes, with an end, and says so', async () => {
    await golden('freeze', await as('sre', [...words('freeze incident --for 24h --yes --reason'), 'INC-42']));
    const { status } = await waitFor(async () => {
      const found = await admin.get(ref('gate', story.ns, 'incident'));
      return found.status?.planned && found;
    }, 'the planned opening');
    expect(status).toMatchObject({ closedBy: 'sre', reason: 'INC-42', planned: { action: 'open', by: 'sre' } });
  });

  it('a version that is asked for waits, and --wait says for what', async () => {
    await story.publish('1.4.0');
    const called = await as('developer', words('deploy app 1.4.0 --wait --timeout 2s --yes'));
    expect([called.code, called.out]).toEqual([4, expect.stringContaining('1.4.0 baked: timed out;')]);
    expect(called.err).toContain(`Warning: version 1.4.0 waits: gate ${story.ns}/incident is closed`);
  });

  it('Ctrl-C in a --wait leaves the request', async () => {
    const interrupted = new AbortController();
    const waiting = as('developer', words('deploy app 1.4.0 --wait --yes --reason again'), {
      signal: interrupted.signal,
      onOutput: (all) => all.includes('Asked') && setTimeout(() => interrupted.abort(), 300),
    });
    const { code, err } = await waiting;
    expect([code, err]).toEqual([130, expect.stringContaining('The request is still in effect')]);
    expect(await annotationsOf('rollout', 'app')).toMatchObject({ 'rollout.kuberik.com/force-deploy': '1.4.0' });
  });

  it('bypass, without a reason', async () => golden('bypass-no-reason', await as('sre', words('bypass app 1.4.0')), 2));
  it('open of what is not there', async () => golden('open-nothing', await as('sre', words('open nothing')), 1));

  it('thaw without a name', async () => {
    const called = await as('sre', [...words('thaw --yes --reason'), 'INC-42 is over']);
    expect([called.code, called.out]).toEqual([0, `Opened Gate ${story.ns}/incident.\n`]);
    await golden('thaw-nothing', await as('sre', words('thaw')), 1);
  });
});
