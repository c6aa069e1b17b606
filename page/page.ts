/** Everything behind the page of one reader: watches, views, and answers to requests, all through one client. */
import type { EpochMs } from '../api/kubernetes.ts';
import type { KubeClient } from '../cli/kube/kubeClient.ts';
import type { Hello } from '../client/board/pageMessages.ts';
import { type AdoptHandlers, createAdoptHandlers } from './adoptHandlers.ts';
import { Feed } from './feed.ts';
import { createHandlers, type PageHandlers } from './handlers.ts';

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
}

export function createPage({ client, hello, namespace, fallback, now }: PageOptions): Page {
  const feed = new Feed({ client, namespace, fallback, now });
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
