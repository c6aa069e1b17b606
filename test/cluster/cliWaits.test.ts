/** `--wait` of what holds and lets go, and `continue`, against the real API server: what came of it, and an exit code for it. */
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Rollout } from '../../api/types.ts';
import { fluxStandIn } from '../../dev/actors/fluxStandIn.ts';
import { USERS } from '../../dev/local/controlPlane/users.ts';
import { type Called, call, type RelatedObjects } from '../support/command.ts';
import { gate, ref, rollout, rolloutGate, sharedCluster, waitFor } from './support/cluster.ts';
import { gated, isHeld, saysSoon } from './support/gates.ts';
import { expectGolden } from './support/golden.ts';
import { type Story, storyOf } from './support/rolloutStory.ts';

const view = sharedCluster();
const { admin, developer, sre, newNamespace, publish } = view;

type User = 'developer' | 'sre';
const as = (user: User, ns: string, line: readonly string[], around: RelatedObjects = {}): Promise<Called> =>
  call([...line, '-n', ns], { ...around, env: { KUBECONFIG: join(view.dir, USERS[user].file), ...around.env } });

/** In which order objects got there is nobody's: the lines of standard error are sorted. */
const golden = async (name: string, ns: string, called: Called, code = 0) => {
  const notes = called.err.trimEnd().split('\n').sort().join('\n');
  const text = `${called.out}${notes && `--- stderr\n${notes}\n`}--- exit code ${called.code}\n`;
  await expectGolden(name, text.replace(/\b\d+h\d+m\d+s ahead/, 'SPAN ahead'), ns);
  expect(called.code).toBe(code);
};

/** On standard error is what was seen on the way: more or less of it. */
const justOut = async (...asked: Parameters<typeof as>): Promise<Called> => ({ ...(await as(...asked)), err: '' });

const words = (line: string) => line.split(' ');

describe('a freeze', () => {
  let story: Story;

  beforeAll(async () => {
    story = storyOf(view, await newNamespace());
    await story.bind();
    await story.create();
    await story.publish('1.0.0');
    await story.arrive('1.0.0');
    await story.headIs('1.0.0', 'Succeeded');
  });

  it('waits until all of it holds', async () => {
    await golden(
      'wait-freeze',
      story.ns,
      await as('sre', story.ns, words('freeze incident --yes --wait --reason INC-7')),
    );
    expect((await admin.get(ref('kustomization', story.ns, 'app'))).spec.suspend).toBe(true);
  });

  it('that nobody may see through is not waited for', async () =>
    golden('wait-planned', story.ns, await as('sre', story.ns, words('open incident --at 2037-01-04 --wait --yes'))));

  it('ends once all of it goes on', async () => {
    await golden('wait-thaw', story.ns, await as('sre', story.ns, words('thaw incident --wait --yes')));
    expect((await admin.get(ref('kustomization', story.ns, 'app'))).spec.suspend).not.toBe(true);
  });

  it('beside another one: what that holds is told', async () => {
    await as('sre', story.ns, words('close incident --wait'));
    await as('sre', story.ns, words('freeze other --kinds Kustomization --yes --wait'));
    await golden('wait-still-held', story.ns, await as('sre', story.ns, words('open incident --yes --wait')));
    await as('sre', story.ns, words('thaw other --wait --yes'));
  });
});

describe('one object behind a closed Gate', () => {
  it('is let past, and has been reconciled when the waiting ends', async () => {
    const ns = await newNamespace();
    await sre.create(gate(ns, 'incident', { spec: { default: 'closed' } }));
    const web = gated('Kustomization', ns, 'web', 'incident');
    await developer.create(web);
    await isHeld(admin, web);
    // With it comes the observed generation that the timeout names.
    await saysSoon(
      admin,
      web,
      'Approved',
      `False GateClosed: Reconciliation is waiting approval, gate '${ns}/incident' is closed.`,
    );
    const bypass = words('bypass kustomization/web --yes --wait --reason INC-7');
    await golden('wait-bypass-timeout', ns, await justOut('sre', ns, [...bypass, '--timeout', '1s']), 4);
    await admin.mergePatch(web as never, { spec: { suspend: true } });
    const waiting = justOut('sre', ns, bypass);
    await waitFor(async () => (await admin.get(web as never)).spec.suspend === false, 'the resumption');
    await fluxStandIn(view).apply(ns, 'web');
    await golden('wait-bypass', ns, await waiting);
  });
});

describe('a RolloutGate', () => {
  let story: Story;

  beforeAll(async () => {
    story = storyOf(view, await newNamespace());
    await story.create();
    await story.publish('1.0.0');
    await story.headIs('1.0.0', 'Succeeded');
    await sre.create(rolloutGate(story.ns, 'qa', 'app', { passing: true }));
  });

  it('closes, and its Rollout goes by it', async () =>
    golden('wait-close-rolloutgate', story.ns, await justOut('sre', story.ns, words('close rolloutgate/qa --wait'))));

  it('rejects what waits', async () => {
    await story.publish('1.1.0');
    await story.conditionIs('WaitingForRolloutGates', { status: 'True' });
    await golden('wait-reject', story.ns, await justOut('sre', story.ns, words('reject app 1.1.0 --wait')));
    expect((await story.statusOf()).rejectedReleases).toMatchObject([{ tag: '1.1.0', gate: 'qa' }]);
  });

  it('is approved by its own name, and that is waited for as well', async () => {
    await story.publish('1.2.0');
    await waitFor(async () => (await story.statusOf()).pendingVersion === '1.2.0', '1.2.0 to wait');
    const approved = await as('sre', story.ns, words('approve rolloutgate/qa 1.2.0 --wait --yes'));
    expect([approved.code, await story.head()]).toMatchObject([
      0,
      { version: { tag: '1.2.0' }, bakeStatus: 'Succeeded' },
    ]);
  });

  it('that is for no Rollout holds nothing', async () => {
    await sre.create(rolloutGate(story.ns, 'stray', 'nobody', { passing: true }));
    await golden('wait-stray', story.ns, await as('sre', story.ns, words('close rolloutgate/stray --wait')));
  });
});

describe('a Gate that lets one version through', () => {
  const held = async (names: readonly string[]) => {
    const ns = await newNamespace();
    await sre.create(gate(ns, 'year-end', { spec: { default: 'opened' } }));
    await publish(ns, 'app', '1.0.0');
    const spec = { releasesImagePolicy: { name: 'app' }, gates: [{ name: 'year-end' }] };
    for (const name of names) await developer.create(rollout(ns, name, { spec }));
    const all = (ok: (status: Rollout['status']) => boolean) => async () =>
      (await admin.list('kuberik.com/v1alpha1', 'Rollout', ns)).every(({ status }) => ok(status));
    await waitFor(
      all((status) => status?.currentVersion === '1.0.0'),
      '1.0.0',
    );
    await as('sre', ns, words('close year-end --wait --yes'));
    await publish(ns, 'app', '1.1.0');
    await waitFor(
      all((status) => status?.pendingVersion === '1.1.0'),
      '1.1.0 to wait',
    );
    const counted = async () => (await sre.get(ref('gate', ns, 'year-end'))).status?.held === names.length;
    await waitFor(counted, 'the Gate to name them', 120_000);
    return ns;
  };

  it('has to be told which, where it waits in several', async () => {
    const ns = await held(['eu', 'us']);
    const approve = async (version: string) => {
      const { code, err } = await as('sre', ns, words(`approve gate/year-end ${version} --wait --yes`));
      return [code, err.trimEnd().split('\n').at(-1)];
    };
    expect(await approve('1.1.0')).toEqual([
      0,
      `Not waiting: 1.1.0 is waiting in more than one Rollout (${ns}/eu, ${ns}/us): name one of them.`,
    ]);
    expect(await approve('9.0.0')).toEqual([0, 'Not waiting: this gate holds no Rollout with 9.0.0.']);
  });
});
