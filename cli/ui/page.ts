/** The page with everything behind it: files, watches, views, requests and the server. */

import { spawn } from 'node:child_process';
import type { EpochMs } from '../../api/kubernetes.ts';
import type { Hello } from '../../client/board/pageMessages.ts';
import type { KubeClient } from '../kube/kubeClient.ts';
import { createAdoptHandlers } from './adoptHandlers.ts';
import { Feed } from './feed.ts';
import { createHandlers } from './handlers.ts';
import { type Assets, type PageServer, servePage } from './server.ts';

interface PageOptions {
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
  const handlers = createHandlers(client, feed.views, rest.now);
  const adopting = createAdoptHandlers({
    client,
    namespace: rest.namespace,
    fallback: rest.fallback,
    rollouts: () => feed.views.objects.all('Rollout'),
    rightsOf: handlers.rightsOf,
  });
  const named = rest.namespace === undefined ? hello : { ...hello, namespace: rest.namespace };
  const server = await servePage({
    feed,
    handlers,
    adopting,
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

/** Where there is none to open, the address is on the screen. */
export function openBrowser(address: string): void {
  const [command, args] =
    process.platform === 'darwin'
      ? ['open', [address]]
      : process.platform === 'win32'
        ? ['rundll32', ['url.dll,FileProtocolHandler', address]]
        : ['xdg-open', [address]];
  const child = spawn(command as string, args as string[], { stdio: 'ignore', detached: true });
  child.on('error', () => {});
  child.unref();
}
