/**
 * Readers of one cluster share equal objects in memory, but nothing that only one of them was sent. Each reads what
 * their rights allow, also after a change of these.
 */
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createClient } from '../../../connection/kube/kubeClient.ts';
import { selectCluster } from '../../../connection/kube/kubeconfig.ts';
import { watchClusters } from '../../../page/inCluster/clusters.ts';
import { createReaderPages } from '../../../page/inCluster/readerPages.ts';
import { createSharedObjects } from '../../../page/inCluster/sharedObjects.ts';
import type { Page } from '../../../page/page.ts';
import { createLog } from '../../../server/log.ts';
import { apiServer, json, list, rollout, status } from '../../cli/apiServer.ts';
import { eventually } from '../../support/eventually.ts';
import { temporaryFolder } from '../../support/temporaryFolder.ts';

/** Has the Rollout shop/app, whose version depends on the user; undefined: the user may not read it. */
async function serverWith(versionOf: (user: string) => string | undefined) {
  const { kubeconfig } = await apiServer(({ headers }, response, { pathname, searchParams }) => {
    const resourceVersion = versionOf(headers['impersonate-user'] as string);
    if (resourceVersion === undefined) return status(response, 403, 'Forbidden', 'you may not');
    if (searchParams.has('watch')) return response.writeHead(200).flushHeaders();
    if (pathname.endsWith('/selfsubjectaccessreviews')) return json(response, { status: { allowed: true } });
    const app = rollout('app');
    const of = { ...app, metadata: { ...app.metadata, resourceVersion } };
    json(response, list(pathname.endsWith('/rollouts') ? [of] : []));
  });
  return kubeconfig;
}

it('the same version of an object is kept once for a cluster, shared by its readers', async () => {
  const folder = temporaryFolder('clusters-');
  const versions: Record<string, string | undefined> = { alice: '1', bob: '1', carol: '2', mallory: undefined };
  const kubeconfig = await serverWith((user) => versions[user]);
  // With the same uid and resourceVersion as in the first.
  copyFileSync(await serverWith((user) => versions[user]), join(folder, 'other'));
  const own = { name: 'own', config: selectCluster({ kubeconfig }, {}).config, share: createSharedObjects() };
  const clusters = watchClusters({ own, folder, onChange: () => {}, log: createLog('silent') });
  const pages = createReaderPages({
    namespaces: ['shop'],
    signOut: undefined,
    now: Date.now,
    connect: ({ user }) =>
      clusters.current().map((each) => ({
        ...each,
        client: createClient(each, { timeoutMs: 60_000, userAgent: 'test', as: user }),
      })),
  });
  onTestFinished(() => {
    clusters.stop();
    pages.close();
  });
  const found = async (user: string) => {
    const opened = pages.pagesOf({ user, groups: [] })!;
    const states = () => opened.map(({ feed }) => feed.kinds().find(({ kind }) => kind === 'Rollout')?.state);
    await eventually(() => expect(states()).not.toContain('loading'));
    return opened.map(({ feed }) => feed.views.objects.get('Rollout', 'shop/app'));
  };
  const [alice, inOther] = await found('alice');
  const [bob, inOtherToo] = await found('bob');
  const [carol] = await found('carol');
  expect(alice).toMatchObject({ metadata: { name: 'app', resourceVersion: '1' } });
  expect(bob).toBe(alice);
  expect(inOtherToo).toBe(inOther);
  expect(inOther).not.toBe(alice);
  expect(carol).toMatchObject({ metadata: { resourceVersion: '2' } });
  expect((await found('bob'))[0]).toBe(alice);
  expect(await found('mallory')).toEqual([undefined, undefined]);
});

describe('the rights to read', () => {
  /** The page of a reader who may read the whole cluster, or only the namespaces; undefined: not known. */
  async function openedBy(first: boolean | undefined) {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    onTestFinished(() => void vi.useRealTimers());
    let allowed = first;
    let now = 0;
    const { kubeconfig } = await apiServer((_, response, { pathname, searchParams }) => {
      if (searchParams.has('watch')) return response.writeHead(200).flushHeaders();
      if (!pathname.endsWith('/selfsubjectaccessreviews')) return json(response, list([]));
      if (allowed === undefined) return status(response, 500, 'InternalError', 'later');
      json(response, { status: { allowed } });
    });
    const selected = selectCluster({ kubeconfig }, {});
    const pages = createReaderPages({
      namespaces: ['shop', 'search'],
      signOut: undefined,
      now: () => now,
      connect: ({ user: as }) => [
        {
          name: 'own',
          share: createSharedObjects(),
          client: createClient(selected, { timeoutMs: 60_000, userAgent: 'test', as }),
        },
      ],
    });
    onTestFinished(() => pages.close());
    const shown = () => {
      const [{ feed }] = pages.pagesOf({ user: 'alice', groups: [] }) as [Page];
      return feed.kinds().find(({ kind }) => kind === 'Rollout');
    };
    const becomes = async (next: boolean | undefined) => {
      allowed = next;
      now += 5 * 60_000;
      vi.advanceTimersByTime(30_000);
    };
    return { shown, becomes };
  }
  const ALL = { kind: 'Rollout', state: 'live' };
  const SOME = { ...ALL, namespace: 'search, shop' };

  it.each([
    ['that a reader gets', false, SOME, true, ALL],
    ['that a reader loses', true, ALL, false, SOME],
    ['that are known later', undefined, ALL, false, SOME],
    ['that are no longer known, in what the reader could read', false, SOME, undefined, SOME],
  ])('%s count after five minutes', async (_, first, before, next, after) => {
    const { shown, becomes } = await openedBy(first);
    await eventually(() => expect(shown()).toEqual(before));
    await becomes(next);
    await eventually(() => expect(shown()).toEqual(after));
  });
});
