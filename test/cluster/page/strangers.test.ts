/** Requests that the page's server refuses, and users who may read only some objects. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { requestToken } from '../../../dev/local/controlPlane/serviceAccount.ts';
import { kubeconfigOf } from '../../../dev/local/controlPlane/users.ts';
import { startLocalServer } from '../../support/localServer.ts';
import { temporaryFolder } from '../../support/temporaryFolder.ts';
import { expectAccessible, type Visitor, visitorOf, visitorWith } from '../support/browser.ts';
import { rollout, sharedCluster } from '../support/cluster.ts';
import { grant } from '../support/grant.ts';

const view = sharedCluster();

describe('a stranger', () => {
  let ns: string;
  let visitor: Visitor;

  beforeAll(async () => {
    ns = await view.newNamespace();
    visitor = await visitorOf(view.dir, 'developer', ns);
  });
  afterAll(() => visitor.close());

  it('of another origin get no data and no effect, even with the key', async () => {
    const elsewhere = await startLocalServer((_, response) => {
      response.writeHead(200, { 'content-type': 'text/html' });
      response.end('<title>elsewhere</title>');
    });
    const own = `http://${elsewhere.host}`;
    const tab = await visitor.tab('/');
    await tab.goto(own);
    const token = visitor.server.address.split('token=')[1]!;
    const outcomes = await tab.evaluate(
      async ([origin, key]) => {
        const tried = async (path: string, init: object) => {
          try {
            return `answered ${(await fetch(`${origin}${path}`, init)).status}`;
          } catch {
            return 'refused by the browser';
          }
        };
        const headers = { authorization: `Bearer ${key}` };
        const { document } = globalThis as any;
        const frame = document.createElement('iframe');
        frame.src = origin;
        document.body.append(frame);
        await new Promise((resolve) => frame.addEventListener('load', resolve));
        return [
          await tried('/api/stream', { headers }),
          await tried('/api/act', { method: 'POST', body: '{}' }),
          frame.contentDocument === null ? 'a frame that shows nothing of it' : 'framed',
        ];
      },
      [visitor.server.origin, token] as const,
    );
    expect(outcomes).toEqual(['refused by the browser', 'refused by the browser', 'a frame that shows nothing of it']);
  });
});

describe('a user with half of the rights', () => {
  let ns: string;
  const dir = temporaryFolder('page-');
  const visitors: Visitor[] = [];

  beforeAll(async () => {
    ns = await view.newNamespace();
    await view.developer.create(rollout(ns, 'app'));
  });
  afterEach(async () => {
    for (const visitor of visitors.splice(0)) await visitor.close();
  });

  /** A ServiceAccount that may read these resources in its namespace. */
  async function visitorWhoReads(name: string, resources: { group: string; names: string[] }[]): Promise<Visitor> {
    await view.admin.create({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace: ns } });
    const verbs = ['get', 'list', 'watch'];
    const rules = resources.map(({ group, names }) => ({ apiGroups: [group], resources: names, verbs }));
    await grant(view.admin, ns, name, [`${ns}/${name}`], rules);
    const file = join(dir, `${name}.kubeconfig`);
    const token = await requestToken(view.admin, { namespace: ns, name });
    const { url, ca } = view.admin.access;
    writeFileSync(file, kubeconfigOf('developer', { url, ca, token }));
    const visitor = await visitorWith(file, ns);
    visitors.push(visitor);
    return visitor;
  }

  it('sees the Rollouts, and a note about hidden objects', async () => {
    const visitor = await visitorWhoReads('half', [{ group: 'kuberik.com', names: ['rollouts'] }]);
    const tab = await visitor.tab('/');
    await tab.getByRole('link', { name: 'app', exact: true }).waitFor();
    await tab
      .getByText(/Not shown, because you aren't allowed to read them.*Gates, RolloutGates, FluxBindings, HealthChecks/)
      .waitFor();
    await expectAccessible(tab);
    await tab.goto(`${visitor.server.origin}/gates`);
    await tab.getByText("You aren't allowed to read Gates").waitFor();
  });

  it('without any sees whom to ask', async () => {
    const visitor = await visitorWhoReads('none', []);
    const tab = await visitor.tab('/');
    await tab.getByText("You aren't allowed to read Rollouts").waitFor();
    await tab.getByText(/cannot list resource "rollouts"/).waitFor();
    await expectAccessible(tab);
  });
});
