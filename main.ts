/** Composition root: environment, clock, sockets and the cluster client enter here and nowhere else. */
import { setTimeout as wait } from 'node:timers/promises';
import type { ClusterReader, EventSink, HookCall, WebhookCall } from './api/ports.ts';
import type { FluxBinding } from './api/types.ts';
import { gateDecisions } from './core/gate/decisions.ts';
import { boundLabel } from './core/kube/labels.ts';
import { hookRoutes } from './hooks/index.ts';
import { createAccessReviewer } from './server/cluster/access.ts';
import { resourcePath } from './server/cluster/paths.ts';
import { createReader } from './server/cluster/reader.ts';
import { withSharedReads } from './server/cluster/sharedReads.ts';
import { createTransport, loadKubeConfig, type Transport } from './server/cluster/transport.ts';
import { type Config, ConfigError, ENVIRONMENT, readConfig } from './server/config.ts';
import { createEventSink } from './server/events.ts';
import { createApp } from './server/http.ts';
import { type Listener, listenHttp, listenHttps } from './server/listen.ts';
import { createLog, type Logger } from './server/log.ts';
import { createMetrics, type Metrics } from './server/metrics.ts';
import { createNotifier, everySink } from './server/notification.ts';
import { receiverRoutes } from './server/receiver.ts';
import { createGateWriter } from './server/receiverWriter.ts';
import { createMetadataCache } from './server/registry/cache.ts';
import { webhookRoutes } from './webhooks/index.ts';

const usage = `Usage: node main.ts

Serves the Metacontroller hooks over HTTP and the admission webhook over HTTPS.
Everything is set by the environment:
${Object.entries(ENVIRONMENT)
  .map(([name, text]) => `  ${name.padEnd(24)} ${text}`)
  .join('\n')}
`;

async function main(): Promise<void> {
  const config = readConfig(process.env);
  const log = createLog(config.logLevel);
  const metrics = createMetrics();
  const transport = createTransport(loadKubeConfig());
  const cluster = withSharedReads(createReader(transport));
  const access = createAccessReviewer(transport);
  const events = createEvents({ config, transport, cluster, log, metrics });
  const metadata = createMetadataCache({ cluster, clock: () => performance.now(), log, dropped: metrics.dropped });
  const { settings } = config;

  const hookCall = (): HookCall => ({ now: Date.now(), cluster, events, metadata, settings });
  const webhookCall = (): WebhookCall => ({ now: Date.now(), cluster, access, events, settings });

  let stopping = false;
  const shared = { log, metrics, notReady: () => (stopping ? 'shutting down' : undefined) };
  const listeners: Listener[] = [
    await listenHttp(createApp({ ...shared, routes: hookRoutes(hookCall) }), config.host, config.hooksPort),
  ];
  if (config.tls) {
    const app = createApp({ ...shared, routes: webhookRoutes(webhookCall) });
    listeners.push(await listenHttps(app, config.host, config.webhookPort, config.tls));
  }
  if (config.receiverPort !== undefined) {
    const writer = createGateWriter(transport);
    const receiver = receiverRoutes({ cluster, writer, decisions: gateDecisions, now: Date.now, log });
    const app = createApp({ ...shared, routes: [], routers: [receiver] });
    listeners.push(await listenHttp(app, config.host, config.receiverPort));
  }
  log.info({ hooks: listeners[0]?.port, webhook: listeners[1]?.port ?? 'off: WEBHOOK_TLS_CERT is not set' }, 'serving');

  const stop = async (signal: string) => {
    if (stopping) return;
    stopping = true;
    log.info({ signal }, 'shutting down');
    await new Promise((resolve) => setTimeout(resolve, config.shutdownDelaySeconds * 1000));
    await Promise.all(listeners.map((listener) => listener.close()));
    transport.close();
    log.flush();
    process.exit(0);
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
}

interface EventParts {
  config: Config;
  transport: Transport;
  cluster: ClusterReader;
  log: Logger;
  metrics: Metrics;
}

/** Kubernetes Events, and the same news for Flux's notification-controller where one is configured. */
function createEvents({ config, transport, cluster, log, metrics }: EventParts): EventSink {
  const events = createEventSink({
    create: (event) => {
      const path = resourcePath({ apiVersion: 'v1', resource: 'events', namespace: event.metadata.namespace! });
      return transport.send({ method: 'POST', path, body: event });
    },
    dropped: metrics.dropped,
    log,
    wait: (ms) => wait(ms),
  });
  if (!config.eventsAddress) return events;
  const notifier = createNotifier({
    address: config.eventsAddress,
    instance: config.instance,
    boundObjects: async ({ namespace, name }) => {
      const bindings = await cluster.list<FluxBinding>({
        apiVersion: 'kuberik.com/v1alpha1',
        resource: 'fluxbindings',
        namespace,
        labelSelector: boundLabel(name),
      });
      return bindings.flatMap(({ spec }) => (spec ? [{ ...spec.target, namespace }] : []));
    },
    dropped: metrics.dropped,
    log,
  });
  return everySink(events, notifier);
}

if (process.argv.includes('--help')) {
  process.stdout.write(usage);
} else {
  main().catch((error: Error & { code?: string }) => {
    const hint = error.code === 'EADDRINUSE' ? ': the port is taken, set HOOKS_PORT or WEBHOOK_PORT' : '';
    process.stderr.write(`${error instanceof ConfigError ? 'bad configuration: ' : ''}${error.message}${hint}\n`);
    process.exit(1);
  });
}
