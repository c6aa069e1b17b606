/** Everything behind the page of one reader: watches, views, and answers to requests, all through one client. */
import type { EpochMs } from '../api/kubernetes.ts';
import type { ClusterView, Hello } from '../client/board/pageMessages.ts';
import type { KubeClient } from '../tools/kube/kubeClient.ts';
import { type AdoptHandlers, createAdoptHandlers } from './adoptHandlers.ts';
import { Feed, Hub } from './feed.ts';
import { createHandlers, type PageHandlers } from './handlers.ts';
import type { ShareObject } from './views.ts';

export interface Page {
  feed: Feed;
  handlers: PageHandlers;
  adopting: AdoptHandlers;
  hello: Hello;
}

export interface PageOptions {
  /** It decides what the reader may see and do. */
  client: KubeClient;
  hello: Hello;
  /** Only this one; undefined: all. */
  namespace?: string | undefined;
  /** Read where the whole cluster may not be. */
  fallback: string;
  now(): EpochMs;
  /** Where other readers read the same. */
  share?: ShareObject;
}

/** One reader's pages, one for each cluster. Several have one stream, and names. */
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

/** The page of a cluster; of several there is none by default. */
export function pageOf(pages: readonly Page[], cluster: string | null): Page | undefined {
  if (cluster === null) return pages.length === 1 ? pages[0] : undefined;
  return pages.find(({ hello }) => hello.context === cluster);
}

export function createPage(
  { client, hello, namespace, fallback, now, share }: PageOptions,
  among: { hub?: Hub; cluster?: string } = {},
): Page {
  const feed = new Feed({ client, namespace, fallback, now, share, ...among });
  const handlers = createHandlers(client, feed.views, now);
  const adopting = createAdoptHandlers({
    client,
    namespace,
    fallback,
    rollouts: () => feed.views.objects.all('Rollout'),
    rightsOf: handlers.rightsOf,
  });
  const named = namespace === undefined ? hello : { ...hello, namespace };
  return { feed, handlers, adopting, hello: { ...named, home: fallback } };
}
