/** Serves the page on a user's machine: on loopback, for one token, with the rights of a kubeconfig. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { listenHttp } from '../server/http/listen.ts';
import { SERVER_LIMITS } from '../server/http/serverLimits.ts';
import type { Assets } from './assets.ts';
import { refuseCaller, refuseHost, SECURITY_HEADERS } from './guard.ts';
import { closePages, createPages, type Page, type PageOptions } from './page.ts';
import { answerApi, answerAsset, answerJson, refuse, urlOf } from './server.ts';

export interface PageServer {
  /** The address with the token: `http://127.0.0.1:40123/#token=…`. */
  address: string;
  origin: string;
  close(): Promise<void>;
}

interface ServeOptions {
  assets: Assets;
  token: string;
  /** The port; 0: any free one. */
  port: number;
}

/** Starts the page's server. `clusters`: at least one. */
export async function openPage(clusters: readonly PageOptions[], options: ServeOptions): Promise<PageServer> {
  const pages = createPages(clusters);
  const server = await servePage(pages, options);
  for (const { feed } of pages) feed.start();
  return {
    ...server,
    async close() {
      closePages(pages);
      await server.close();
    },
  };
}

export async function servePage(
  pages: readonly Page[],
  { assets, token, port: wanted }: ServeOptions,
): Promise<PageServer> {
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const target = urlOf(request, response);
    if (!target) return;
    if (!target.pathname.startsWith('/api/')) return answerAsset(request, response, target.pathname, assets);
    const refusal = refuseCaller(request.headers, token);
    if (refusal) return refuse(response, refusal);
    await answerApi(request, response, target, pages);
  };
  const app = (request: IncomingMessage, response: ServerResponse) => {
    for (const [name, value] of Object.entries(SECURITY_HEADERS)) response.setHeader(name, value);
    const refusal = refuseHost(request.headers, [`127.0.0.1:${port}`, `localhost:${port}`]);
    if (refusal) return refuse(response, refusal);
    answer(request, response).catch((error: Error) => {
      if (response.headersSent) response.destroy();
      else answerJson(response, 500, { message: error.message });
    });
  };
  const listening = { host: '127.0.0.1', port: wanted, maxConnections: SERVER_LIMITS.connections };
  const listener = await listenHttp(app, listening);
  const { port } = listener;
  const origin = `http://127.0.0.1:${port}`;
  return { origin, address: `${origin}/#token=${token}`, close: listener.closeNow };
}
