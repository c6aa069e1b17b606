/** The page with everything behind it: watches, views, requests and the server. */
import type { EpochMs } from '../../api/kubernetes.ts';
import type { Hello } from '../../client/board/pageMessages.ts';
import type { KubeClient } from '../kube/client.ts';
import type { Assets } from './assets.ts';
import { createDesk } from './desk.ts';
import { Feed } from './feed.ts';
import { type PageServer, servePage } from './server.ts';
import { createTakeOver } from './takeOver.ts';

export interface PageOptions {
  client: KubeClient;
  assets: Assets;
  hello: Hello;
  /** Only this one; undefined: all. */
  namespace?: string | undefined;
  /** Read where the whole cluster may not be. */
  fallback: string;
  token: string;
  /** 0: one that is free. */
  port: number;
  now(): EpochMs;
}

export async function openPage({ client, assets, hello, token, port, ...rest }: PageOptions): Promise<PageServer> {
  const feed = new Feed({ client, ...rest });
  const desk = createDesk(client, feed.views, rest.now);
  const takeOver = createTakeOver({
    client,
    namespace: rest.namespace,
    fallback: rest.fallback,
    rollouts: () => feed.views.objects.all('Rollout'),
    rightsOf: desk.rightsOf,
  });
  const named = rest.namespace === undefined ? hello : { ...hello, namespace: rest.namespace };
  const server = await servePage({
    feed,
    desk,
    takeOver,
    assets,
    hello: { ...named, home: rest.fallback },
    token,
    port,
  });
  feed.start();
  return {
    ...server,
    async close() {
      feed.stop();
      await server.close();
    },
  };
}
