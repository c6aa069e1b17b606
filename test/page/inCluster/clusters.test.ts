/**
 * Several clusters on the page in a cluster, from mounted kubeconfigs: each is read as the reader, and none waits for a
 * silent one.
 */
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { startIssuer } from '../../../dev/page/localIssuer.ts';
import { apiServer } from '../../cli/apiServer.ts';
import { atEnd } from '../../support/atEnd.ts';
import { temporaryFolder } from '../../support/temporaryFolder.ts';
import { FROM_PAGE, notingApiServer, ORIGIN, openPage, signedIn } from './pageSetup.ts';

const ACCOUNTS = { alice: { email: 'alice@example.com', email_verified: true, groups: ['shop'] } };
const ALICE = { user: 'alice@example.com', groups: 'shop' };
const action = { type: 'pin', object: { kind: 'Rollout', namespace: 'shop', name: 'web' }, version: '1.0.0' };

const issuer = await startIssuer(ACCOUNTS, `${ORIGIN}/signed-in`);
atEnd(issuer.close);

/** A page whose own cluster is `home`. `files`: kubeconfigs by the name of their cluster. */
async function opened(files: Record<string, string>) {
  const folder = temporaryFolder('clusters-');
  // As in a mounted Secret.
  mkdirSync(join(folder, '..data'));
  for (const [name, kubeconfig] of Object.entries(files)) copyFileSync(kubeconfig, join(folder, name));
  const setup = await openPage({ UI_OIDC_ISSUER: issuer.url, UI_CLUSTER_NAME: 'home', UI_CLUSTERS: folder });
  const cookie = await signedIn(setup, 'alice');
  const stream = (until: (text: string) => boolean) =>
    setup.ask('/api/stream', { headers: { ...FROM_PAGE, cookie }, until });
  const act = (query: string) =>
    setup.ask(`/api/act${query}`, {
      method: 'POST',
      headers: { ...FROM_PAGE, cookie, 'content-type': 'application/json' },
      body: JSON.stringify({ action }),
    });
  return { folder, setup, stream, act };
}

const dataOf = (stream: string, event: string) =>
  [...stream.matchAll(new RegExp(`^event: ${event}\\ndata: (.*)$`, 'gm'))].map(([, text]) => JSON.parse(text!));
const namesIn = (text: string) => dataOf(text, 'hello')[0].clusters.map(({ name }: { name: string }) => name);
const shows =
  (...names: string[]) =>
  (text: string) =>
    names.every((name) => text.includes(`"id":"shop/${name}"`));

it('are one stream, read with the credentials of each kubeconfig as the reader; a silent one is loading', async () => {
  const silent = await apiServer(() => {});
  const west = await notingApiServer('web', 'of the west');
  const { setup, stream } = await opened({ west: west.kubeconfig, silent: silent.kubeconfig });
  const { text } = await stream(shows('app', 'web'));
  expect(namesIn(text)).toEqual(['home', 'silent', 'west']);
  expect(dataOf(text, 'hello')[0].clusters[1]).toMatchObject({ server: '', user: ALICE.user });
  const rows = dataOf(text, 'rows').flatMap(({ cluster, set }) => set.map(({ id }: { id: string }) => [cluster, id]));
  expect(Object.fromEntries(rows)).toEqual({ home: 'shop/app', west: 'shop/web' });
  const ofSilent = dataOf(text, 'kinds')
    .flat()
    .filter(({ cluster }) => cluster === 'silent');
  expect(new Set(ofSilent.map(({ state }) => state))).toEqual(new Set(['loading']));
  const whom = ({ user, groups, authorization, others }: (typeof west.asked)[number]) =>
    JSON.stringify({ user, groups, authorization, others });
  expect(new Set(west.asked.map(whom))).toEqual(
    new Set([JSON.stringify({ ...ALICE, authorization: 'Bearer of the west', others: [] })]),
  );
  expect(new Set(setup.asked.map(whom))).toEqual(
    new Set([JSON.stringify({ ...ALICE, authorization: 'Bearer secret', others: [] })]),
  );
});

it('are written to one by one: the named one, as the reader', async () => {
  const west = await notingApiServer('web');
  const { setup, act } = await opened({ west: west.kubeconfig });
  const ofWrite = ({ path }: { path: string }) => path.includes('fieldManager');
  for (const query of ['', '?cluster=', '?cluster=north', '?cluster=../west']) {
    const { status, text } = await act(query);
    const message = 'Name one of the clusters that this page shows: home, west.';
    expect([status, JSON.parse(text)], query).toEqual([404, { message }]);
  }
  expect([...setup.asked, ...west.asked].filter(ofWrite)).toEqual([]);
  expect(await act('?cluster=west')).toMatchObject({ status: 200 });
  expect(west.asked.filter(ofWrite)).toMatchObject([ALICE]);
  expect(setup.asked.filter(ofWrite)).toEqual([]);
});

it('are those of the current kubeconfigs: streams start again when they change', async () => {
  const west = await notingApiServer('web');
  const { folder, stream } = await opened({});
  const before = stream(() => false);
  await stream(shows('app'));
  copyFileSync(west.kubeconfig, join(folder, 'west'));
  expect((await before).text).not.toContain('"clusters"');
  const both = await stream(shows('app', 'web'));
  expect(namesIn(both.text)).toEqual(['home', 'west']);
  const again = stream(() => false);
  rmSync(join(folder, 'west'));
  await again;
  expect((await stream(shows('app'))).text).not.toContain('west');
});

const NOWHERE = {
  'current-context': 'a',
  contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }],
  clusters: [{ name: 'a', cluster: { server: 'nowhere' } }],
  users: [{ name: 'a', user: {} }],
};

it.each([
  ['is none', 'west', 'not: [a kubeconfig', /west is not a kubeconfig/],
  ['has no current context', 'west', '{"contexts":[]}', /west has no current context/],
  ['has no URL', 'west', JSON.stringify(NOWHERE), /west has a server that is not a URL: nowhere/],
  ['has the name of the own cluster', 'home', '{}', /home has the name of the page's own cluster/],
])('keep the page from starting where a kubeconfig %s', async (_, name, text, problem) => {
  const folder = temporaryFolder('kubeconfigs-');
  writeFileSync(join(folder, name), text);
  await expect(opened({ [name]: join(folder, name) })).rejects.toThrow(problem);
});

it('keep the page from starting if their folder is missing', async () => {
  const opening = openPage({ UI_OIDC_ISSUER: issuer.url, UI_CLUSTERS: '/missing' });
  await expect(opening).rejects.toThrow('UI_CLUSTERS=/missing does not exist: mount a folder, or unset it');
});
