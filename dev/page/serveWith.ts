/** The page on a cluster, from the sources: what `kubectl rollouts ui` does from its package. */
import { randomBytes } from 'node:crypto';
import { createClient } from '../../cli/kube/kubeClient.ts';
import { selectCluster } from '../../cli/kube/kubeconfig.ts';
import { openPage, type PageServer } from '../../page/laptop.ts';
import type { Assets } from '../../page/server.ts';

interface ServeOptions {
  port?: number;
  token?: string;
  namespace?: string;
}

export async function servePageOn(kubeconfig: string, assets: Assets, options: ServeOptions = {}): Promise<PageServer> {
  const { port = 0, token = randomBytes(24).toString('base64url'), namespace } = options;
  const selected = selectCluster({ kubeconfig }, process.env);
  const client = createClient(selected, { timeoutMs: 30_000, userAgent: 'rollouts-ui' });
  const { context, server, user } = selected;
  const page = await openPage({
    client,
    assets,
    hello: { context, server, user, program: 'kubectl rollouts' },
    namespace,
    fallback: selected.namespace,
    token,
    port,
    now: () => Date.now(),
  });
  return {
    ...page,
    async close() {
      await page.close();
      client.close();
    },
  };
}
