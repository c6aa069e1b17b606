/** What the commands print for programs, what a server dry run says, and how a --wait ends: compared with the files in golden/outputs. */
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { USERS } from '../../dev/local/controlPlane/users.ts';
import { type Called, call } from '../support/command.ts';
import { gate, ref, rolloutGate, sharedCluster, waitFor } from './support/cluster.ts';
import { expectGolden } from './support/golden.ts';
import { type Story, storyOf } from './support/rolloutStory.ts';

const view = sharedCluster();
const { admin, sre, newNamespace } = view;
let story: Story;

/** A Wednesday, for what looks ahead. */
const WEDNESDAY = Date.parse('2037-11-25T10:00:00Z');

const as = (user: 'sre' | 'developer', line: string, now = () => Date.now()): Promise<Called> =>
  call(`${line} -n ${story.ns}`, { now, env: { KUBECONFIG: join(view.dir, USERS[user].file) } });

async function golden(name: string, { out, err, code }: Called, expected = 0) {
  const text = `${out}${err && `--- stderr\n${err}`}--- exit code ${code}\n`;
  // Of an object as it is stored, and what counts on as others write.
  const stable = text.replace(/("?(?:resourceVersion|revision|generation)"?: )"?\d+"?/g, '$1N');
  await expectGolden(`outputs/${name}`, stable, story.ns);
  expect(code).toBe(expected);
}

beforeAll(async () => {
  story = storyOf(view, await newNamespace());
  await story.create();
  await story.publish('1.0.0');
  await story.headIs('1.0.0', 'Succeeded');
  await sre.create(rolloutGate(story.ns, 'qa', 'app', { passing: true, allowedVersions: ['1.0.0'] }));
  await sre.create(gate(story.ns, 'sealed', { spec: { default: 'closed' } }));
  await story.publish('1.1.0');
  await story.conditionIs('WaitingForRolloutGates', { status: 'True' });
  await waitFor(async () => (await admin.get(ref('gate', story.ns, 'sealed'))).status?.held === 0, 'what it holds');
});

describe('for programs', () => {
  it.each<[string, string]>([
    ['get-json', 'get app -o json'],
    ['why-json', 'why app -o json'],
    ['why-gate-yaml', 'why gate/sealed -o yaml'],
    ['history-json', 'history app -o json'],
  ])('%s', async (name, line) => golden(name, await as('developer', line)));

  it('calendar-yaml', async () =>
    golden('calendar-yaml', await as('developer', 'calendar --weeks 1 -o yaml', () => WEDNESDAY)));

  it.each(['bash', 'zsh', 'fish'])('completion of %s', async (shell) => {
    await expectGolden(`outputs/completion-${shell}`, (await call(`completion ${shell}`)).out, story.ns);
  });
});

describe('a server dry run', () => {
  it.each<[string, string]>([
    ['dry-deploy', 'deploy app 1.1.0'],
    ['dry-approve', 'approve app 1.1.0'],
    ['dry-freeze', 'freeze incident --kinds Rollout'],
  ])('%s', async (name, line) => {
    await golden(name, await as('sre', `${line} --dry-run=server`));
    expect((await story.head()).version.tag).toBe('1.0.0');
  });

  it('has the object as the API server would store it', async () => {
    const { out, code } = await as('sre', 'close rolloutgate/qa --dry-run=server -o json');
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ kind: 'RolloutGate', metadata: { name: 'qa' }, spec: { passing: false } });
    expect((await admin.get(ref('rolloutGate', story.ns, 'qa'))).spec.passing).toBe(true);
  });

  it('of what nobody may', async () => golden('dry-denied', await as('developer', 'open sealed --dry-run=server'), 1));
});

describe('--wait ends', () => {
  /** On standard error is what was seen on the way: more or less of it. */
  const outOf = async (called: Promise<Called>): Promise<Called> => ({ ...(await called), err: '' });

  it('with 4 where it does not come in time', async () => {
    await story.spec({ bakeTime: '1h' });
    await golden('wait-timeout', await outOf(as('sre', 'approve app 1.1.0 --wait --timeout 3s')), 4);
  });

  it('with 3 where the deployment fails', async () => {
    await story.headIs('1.1.0', 'InProgress');
    await story.publish('1.2.0');
    const waiting = outOf(as('sre', 'deploy app 1.2.0 --wait --yes'));
    await story.headIs('1.2.0', 'InProgress');
    await waitFor(async () => {
      const { history, conditions } = await story.statusOf();
      const [head, ...older] = history;
      const others = conditions.filter(({ type }: { type: string }) => !['Ready', 'Progressing'].includes(type));
      const lastTransitionTime = new Date().toISOString();
      const ready = {
        type: 'Ready',
        status: 'False',
        reason: 'BakeTimeFailed',
        message: 'A hand ended it.',
        lastTransitionTime,
      };
      await admin.patchStatus(story.app, {
        history: [{ ...head, bakeStatus: 'Failed' }, ...older],
        conditions: [...others, ready],
      });
      return true;
    }, 'its bake to be ended');
    await golden('wait-failed', await waiting, 3);
  });

  it('with 0 once it has baked', async () => {
    await story.spec({ bakeTime: '1s' });
    await golden('wait-baked', await outOf(as('sre', 'retry app --wait')));
  });
});
