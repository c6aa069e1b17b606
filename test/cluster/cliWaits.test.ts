/** `--wait` of what holds and lets go, and `continue`, against the real API server: what came of it, and an exit code for it. */
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { fakeFlux } from '../../dev/actors/fakeFlux.ts';
import { USERS } from '../../dev/local/controlPlane/users.ts';
import { type Called, call, type RelatedObjects } from '../support/command.ts';
import { gate, ref, sharedCluster, waitFor } from './support/cluster.ts';
import { gated, isHeld, saysSoon } from './support/gates.ts';
import { expectGolden } from './support/golden.ts';
import { type Story, storyOf } from './support/rolloutStory.ts';

const view = sharedCluster();
const { admin, developer, sre, newNamespace } = view;

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

  it('ends once all of it goes on', async () => {
    await golden('wait-thaw', story.ns, await as('sre', story.ns, words('thaw incident --wait --yes')));
    expect((await admin.get(ref('kustomization', story.ns, 'app'))).spec.suspend).not.toBe(true);
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
    await fakeFlux(view).apply(ns, 'web');
    await golden('wait-bypass', ns, await waiting);
  });
});
