/** The page in the cluster, for two users with different rights and separate browsers. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readKubeconfig } from '../../../dev/client/kubeconfig.ts';
import { send } from '../../../dev/client/send.ts';
import { servePageInCluster, type TeamPage } from '../../../dev/page/serveInCluster.ts';
import { temporaryFolder } from '../../support/temporaryFolder.ts';
import { DESKTOP, expectAccessible, expectGoodOnPhone, expectReachableByKeys, newContext } from '../support/browser.ts';
import { ref, sharedCluster, waitFor } from '../support/cluster.ts';
import { type RolloutScenario, storyAtQa } from '../support/rolloutScenario.ts';

const view = sharedCluster();

describe('two users of the page in the cluster', () => {
  const dir = temporaryFolder('team-');
  let scenario: RolloutScenario;
  let at: string;
  let served: TeamPage;
  let sre: Page;
  let developer: Page;

  beforeAll(async () => {
    scenario = await storyAtQa(view);
    at = `/rollout/${scenario.ns}/app`;
    served = await servePageInCluster(view.admin.access, dir);
    [sre, developer] = await Promise.all([newTab(), newTab()]);
  });
  afterAll(async () => {
    await Promise.all([sre, developer].map((tab) => tab.context().close()));
    await served.close();
  });

  /** Each context has its own cookies. */
  async function newTab(): Promise<Page> {
    const context = await newContext({ viewport: DESKTOP, reducedMotion: 'reduce' });
    return context.newPage();
  }

  async function signIn(tab: Page, as: string): Promise<void> {
    await tab.getByRole('link', { name: 'Sign in' }).click();
    await tab.getByRole('link', { name: as, exact: true }).click();
  }

  /** With a button to sign in or out, which other screens lack. */
  async function isGood(tab: Page, title: string): Promise<void> {
    const heading = tab.getByRole('heading', { name: title });
    await heading.waitFor();
    await expectAccessible(tab);
    await expectReachableByKeys(tab);
    await expectGoodOnPhone(tab, heading);
    await tab.emulateMedia({ colorScheme: 'light' });
    await tab.setViewportSize(DESKTOP);
  }

  it('sign in and return to the address that they opened', async () => {
    await Promise.all([sre.goto(served.origin + at), developer.goto(served.origin + at)]);
    await isGood(sre, 'You are not signed in');
    await signIn(sre, 'sre');
    await signIn(developer, 'developer');
    for (const [tab, name] of [
      [sre, 'sre'],
      [developer, 'developer'],
    ] as const) {
      await tab.getByRole('heading', { name: '1.1.0 waits, 1.0.0 runs' }).waitFor();
      await tab.getByText(`as ${name}`).waitFor();
      expect(new URL(tab.url()).pathname).toBe(at);
    }
    await isGood(sre, '1.1.0 waits, 1.0.0 runs');
  });

  it('are asked to sign in again after a sign-in that is refused', async () => {
    const tab = await newTab();
    await tab.goto(`${served.origin}/signed-in?code=1&state=2`);
    await isGood(tab, 'You are not signed in');
    await tab.context().close();
  });

  it('cannot read the session in a script, and find nothing in the address or the storage', async () => {
    const seen = await sre.evaluate(() => {
      const { document, localStorage, location } = globalThis as any;
      return document.cookie + JSON.stringify({ ...localStorage }) + location.href;
    });
    expect(seen).not.toMatch(/rollouts-session|eyJ|token/);
    const cookies = await sre.context().cookies(served.origin);
    const session = cookies.find(({ name }) => name.endsWith('rollouts-session'));
    expect(session).toMatchObject({ httpOnly: true, secure: true, sameSite: 'Strict', path: '/' });
    expect(cookies.some(({ name }) => name.endsWith('sign-in'))).toBe(false);
  });

  it('have their own rights: the developer is refused by the page and by the API server', async () => {
    expect(await developer.getByRole('button', { name: 'Approve 1.1.0' }).count()).toBe(0);
    await developer.getByText('Actions that you lack rights for (2)').click();
    await developer.getByText(`You need patch on rolloutgates ${scenario.ns}/qa`).first().waitFor();
    const answer = await developer.evaluate(async (namespace) => {
      const object = { kind: 'RolloutGate', namespace, name: 'qa' };
      const headers = { 'x-rollouts-page': '1', 'content-type': 'application/json' };
      const body = JSON.stringify({ action: { type: 'approve', object, version: '1.1.0' } });
      return (await fetch('/api/act', { method: 'POST', headers, body })).json();
    }, scenario.ns);
    expect(answer).toMatchObject({
      ok: false,
      code: 403,
      message: expect.stringContaining('User "developer" cannot patch resource "rolloutgates"'),
    });
  });

  it('see each other’s work: the SRE approves, and the developer sees it at once', async () => {
    await sre.getByRole('button', { name: 'Approve 1.1.0' }).click();
    await sre.getByLabel('Reason').fill('tested');
    await sre.getByRole('dialog').getByRole('button', { name: 'Approve', exact: true }).click();
    await sre.getByRole('dialog').getByText('The API server has accepted it.').waitFor();
    await sre.getByRole('button', { name: 'Done', exact: true }).click();
    await developer.getByRole('heading', { name: '1.1.0 is being deployed, 1.0.0 runs' }).waitFor();
    const { metadata } = await view.admin.get(ref('rolloutGate', scenario.ns, 'qa'));
    expect(JSON.stringify(metadata.managedFields)).toContain('rollouts');
    await developer.getByRole('button', { name: 'Pin 1.1.0' }).first().click();
    await developer.getByLabel('Reason').fill('stays');
    await developer.getByRole('dialog').getByRole('button', { name: /^Pin/ }).click();
    await waitFor(
      async () => (await view.admin.get(ref('rollout', scenario.ns, 'app'))).spec.wantedVersion === '1.1.0',
      'the pinned version',
    );
    await sre
      .getByText(/pinned/i)
      .first()
      .waitFor();
  });

  it('appear in the audit log under their names, and the server has no rights of its own', async () => {
    const own = readKubeconfig(join(dir, 'ui/kubeconfig'));
    const gates = `/apis/gating.toolkit.fluxcd.io/v1alpha1/namespaces/${scenario.ns}/gates`;
    await expect(send(own, 'GET', gates)).rejects.toMatchObject({ code: 403 });
    const written = await waitFor(
      async () =>
        readFileSync(join(view.dir, 'audit.log'), 'utf8')
          .split('\n')
          .filter((line) => line.includes(`/namespaces/${scenario.ns}/`) && line.includes('rollout-hooks-ui'))
          .map((line) => JSON.parse(line))
          .filter(({ verb, stage }) => verb === 'patch' && stage === 'ResponseComplete'),
      'the writes of the page in the audit log',
    );
    const whom = written.map(({ impersonatedUser: { username }, objectRef: { resource }, responseStatus: { code } }) =>
      [username, resource, code].join(' '),
    );
    expect([...new Set(whom)].sort()).toEqual([
      'developer rolloutgates 403',
      'developer rollouts 200',
      'sre rolloutgates 200',
    ]);
  });

  it('sign out, and must sign in again', async () => {
    await sre.getByRole('button', { name: 'Sign out' }).click();
    await sre.getByRole('heading', { name: 'You are not signed in' }).waitFor();
    expect((await sre.context().cookies(served.origin)).map(({ name }) => name)).not.toContain('rollouts-session');
    await sre.reload();
    await sre.getByRole('heading', { name: 'You are not signed in' }).waitFor();
    await developer.getByText('as developer').waitFor();
  });
});
