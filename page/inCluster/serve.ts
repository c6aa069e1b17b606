/** Serves the page in a cluster: connects clusters, cookies, sign-in, readers and sockets. */
import type { IncomingMessage } from 'node:http';
import { createClient } from '../../connection/kube/kubeClient.ts';
import { requireClientCertificate } from '../../server/http/callers.ts';
import { type Listener, listenHttp, listenHttps, shutDown } from '../../server/http/listen.ts';
import { SERVER_LIMITS } from '../../server/http/serverLimits.ts';
import type { Logger } from '../../server/log.ts';
import type { Assets } from '../assets.ts';
import type { PageRefusal } from '../guard.ts';
import { createPageApp, type Reader, SIGN_OUT, type SignInMethod } from './app.ts';
import { type ShownCluster, watchClusters } from './clusters.ts';
import type { PageConfig, ProxyConfig } from './config.ts';
import { createCookieJar, watchKeys } from './cookies.ts';
import { identityOfProxy } from './identity.ts';
import { createReaderPages } from './readerPages.ts';
import { createSharedObjects } from './sharedObjects.ts';
import { createSignIn } from './signIn.ts';

const SIGN_IN_SECONDS = 600;
const ANSWER_TIMEOUT_MS = 30_000;

interface ServeOptions {
  config: PageConfig;
  /** The kubeconfig of the page's own cluster. */
  kubeConfig: ShownCluster['config'];
  assets: Assets;
  log: Logger;
  now?: () => number;
}

export async function serveInCluster({ config, kubeConfig, assets, log, now = Date.now }: ServeOptions) {
  const { origin, clusterName, clustersFolder, namespaces, host, port, tls, signIn } = config;
  const readerPages = createReaderPages({
    namespaces,
    signOut: signIn.by === 'issuer' ? SIGN_OUT : undefined,
    now,
    // Only the identity reaches an API server, no headers of the browser.
    connect: ({ user, groups }) =>
      clusters.current().map((cluster) => ({
        ...cluster,
        client: createClient(cluster, {
          timeoutMs: ANSWER_TIMEOUT_MS,
          userAgent: 'rollout-hooks-ui',
          as: user,
          asGroup: groups,
        }),
      })),
  });
  // Browsers then open their streams again, with the new sessions and clusters.
  const onChange = readerPages.closeAll;
  const own = { name: clusterName, config: kubeConfig, share: createSharedObjects() };
  const clusters = watchClusters({ own, folder: clustersFolder, onChange, log });
  let stopping = false;
  const notReady = () => (stopping ? 'shutting down' : undefined);
  const { method, stop } = signInMethodOf(config, { log, now, onChange });
  const app = createPageApp({ origin, assets, method, readerPages, log, now, notReady });
  const listening = { host, port, maxConnections: SERVER_LIMITS.connections };
  const listener: Listener = tls
    ? await listenHttps(app, tls, { ...listening, log })
    : await listenHttp(app, listening);
  return {
    port: listener.port,
    async close(): Promise<void> {
      stopping = true;
      stop();
      clusters.stop();
      const ended = shutDown([listener], config.shutdownDelaySeconds);
      // Streams don't end by themselves.
      setTimeout(() => readerPages.close(), config.shutdownDelaySeconds * 1000);
      await ended;
    },
  };
}

interface SignInOptions {
  log: Logger;
  now(): number;
  /** Called when the keys of sessions have changed. */
  onChange(): void;
}

function signInMethodOf({ signIn, sessionSeconds, origin }: PageConfig, { log, now, onChange }: SignInOptions) {
  if (signIn.by === 'proxy') {
    const method: SignInMethod = { by: 'proxy', readerOf: proxyReader(signIn.proxy, sessionSeconds, now) };
    return { method, stop: () => {} };
  }
  const { current, stop } = watchKeys(signIn.keys, log, onChange);
  const jar = createCookieJar({
    keys: current,
    seconds: { session: sessionSeconds, signIn: SIGN_IN_SECONDS },
    now,
  });
  const method: SignInMethod = { by: 'issuer', signIn: createSignIn(signIn.issuer, origin), jar };
  return { method, stop };
}

function proxyReader({ clients, userHeader, groupsHeader }: ProxyConfig, seconds: number, now: () => number) {
  const refuse = requireClientCertificate(clients, { what: 'page', setting: 'UI_PROXY_CLIENT' });
  return (request: IncomingMessage): Reader | PageRefusal => {
    const refusal = refuse(request);
    if (refusal) return { status: refusal.status, message: refusal.error };
    const textOf = (name: string) => [request.headers[name] ?? []].flat().join(',');
    const found = identityOfProxy(textOf(userHeader), textOf(groupsHeader));
    if ('problem' in found) return { status: 403, message: found.problem };
    return { identity: found.identity, until: now() + seconds * 1000 };
  };
}
