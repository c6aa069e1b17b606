/** The server side of one reader's page: watches, views, and answers to requests, all with the reader's client. */
import type { EpochMs } from '../api/kubernetes.ts';
import type { ClusterView, Hello } from '../client/board/pageMessages.ts';
import type { KubeClient } from '../connection/kube/kubeClient.ts';
import { type AdoptHandlers, createAdoptHandlers } from './adoptHandlers.ts';
import { Feed } from './feed.ts';
import { createHandlers, type PageHandlers } from './handlers.ts';
import { Hub } from './hub.ts';
import type { ShareObject } from './views.ts';

export interface Page {
  feed: Feed;
  handlers: PageHandlers;
  adopting: AdoptHandlers;
  hello: Hello;
}

export interface PageOptions {
  /** The client with the reader's identity: the API server decides about every read and write. */
  client: KubeClient;
  hello: Hello;
  /** The only namespace to read; undefined: all. */
  namespace?: string | undefined;
  /** The namespace to read if the reader can't read the whole cluster. */
  fallback: string;
  now(): EpochMs;
  /** Shares objects in memory with other readers. */
  share?: ShareObject;
}

/** The pages of one reader, one for each cluster. Several clusters have names and one common hub. */
export function createPages(clusters: readonly PageOptions[]): Page[] {
  if (clusters.length === 1) return clusters.map((each) => createPage(each));
  const known = clusters.map(({ hello, fallback }): ClusterView => {
    const { context: name, server, user } = hello;
    return { name, server, ...(user && { user }), home: fallback };
  });
  const hub = new Hub();
  return clusters.map(({ hello, ...rest }) =>
    createPage({ ...rest, hello: { ...hello, clusters: known } }, { hub, cluster: hello.context }),
  );
}

/** Ends the watches and the streams of one reader. */
export function closePages(pages: readonly Page[]): void {
  for (const { feed } of pages) feed.stop();
  pages[0]?.feed.hub.close();
}

/** The page of a cluster; `cluster` may be null if there is only one. */
export function pageOf(pages: readonly Page[], cluster: string | null): Page | undefined {
  if (cluster === null) return pages.length === 1 ? pages[0] : undefined;
  return pages.find(({ hello }) => hello.context === cluster);
}

function createPage(
  { client, hello, namespace, fallback, now, share }: PageOptions,
  shared: { hub?: Hub; cluster?: string } = {},
): Page {
  const feed = new Feed({ client, namespace, fallback, now, share, ...shared });
  const handlers = createHandlers(client, feed.views, now);
  const adopting = createAdoptHandlers({
    client,
    namespace,
    fallback,
    rollouts: () => feed.views.objects.all('Rollout'),
    rightsOf: handlers.rightsOf,
  });
  return {
    feed,
    handlers,
    adopting,
    hello: { ...hello, ...(namespace !== undefined && { namespace }), home: fallback },
  };
}
