/** Serves the page from the sources, as `kubectl rollouts ui` does from its package. */
import { randomBytes } from 'node:crypto';
import { createClient } from '../../connection/kube/kubeClient.ts';
import { selectCluster } from '../../connection/kube/kubeconfig.ts';
import type { Assets } from '../../page/assets.ts';
import { openPage, type PageServer } from '../../page/local.ts';

interface ServeOptions {
  port?: number;
  token?: string;
  namespace?: string;
  /** Contexts of the kubeconfig; the current one by default. */
  contexts?: readonly string[];
}

export async function servePageOn(kubeconfig: string, assets: Assets, options: ServeOptions = {}): Promise<PageServer> {
  const { port = 0, token = randomBytes(24).toString('base64url'), namespace, contexts = [] } = options;
  const flags = contexts.length > 0 ? contexts.map((context) => ({ kubeconfig, context })) : [{ kubeconfig }];
  const clusters = flags.map((each) => {
    const selected = selectCluster(each, process.env);
    const { context, server, user } = selected;
    return {
      client: createClient(selected, { timeoutMs: 30_000, userAgent: 'rollouts-ui' }),
      hello: { context, server, user },
      namespace,
      fallback: selected.namespace,
      now: () => Date.now(),
    };
  });
  const page = await openPage(clusters, { assets, token, port });
  return {
    ...page,
    async close() {
      await page.close();
      for (const { client } of clusters) client.close();
    },
  };
}
