/**
 * Composition root: environment, clock, sockets and the cluster client enter here; for the receiver's thread in
 * receiver/main.ts.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { FLUX_BINDINGS } from './api/kinds.ts';
import type { ApiCaller } from './api/metrics.ts';
import type { ClusterReader, DecisionLog, EventSink, HookCall, Metrics, WebhookCall } from './api/ports.ts';
import type { FluxBinding } from './api/types.ts';
import { readingOf } from './core/health/prometheus/reading.ts';
import { boundLabel } from './core/kube/names.ts';
import { LIMITS } from './core/limits.ts';
import { reportingObjects } from './core/notification/involvedObjects.ts';
import { hookRoutes } from './hooks/index.ts';
import { createAccessReviewer, withRememberedAnswers } from './server/cluster/access.ts';
import { createReader, withSharedReads } from './server/cluster/clusterReader.ts';
import { resourcePath } from './server/cluster/paths.ts';
import { createTransport, loadKubeConfig, type Transport } from './server/cluster/transport.ts';
import { type Config, ConfigError, ENVIRONMENT, readConfig } from './server/config.ts';
import { createDecisionLog, loggedEvents } from './server/decisionLog.ts';
import { createConfirmedEvents } from './server/events/confirmed.ts';
import { watchNameKey } from './server/events/nameKey.ts';
import { createNotifier } from './server/events/notification.ts';
import { createEventSink, everySink, type StoredEvent } from './server/events/sink.ts';
import { createApp } from './server/http/app.ts';
import { requireClientCertificate, requireToken } from './server/http/callers.ts';
import { type Listener, listenHttp, listenHttps, shutDown } from './server/http/listen.ts';
import { startReceiver } from './server/http/receiverThread.ts';
import { SERVER_LIMITS } from './server/http/serverLimits.ts';
import { createLeveledLog, type Logger } from './server/log.ts';
import { createMeasurements } from './server/prometheus/measurements.ts';
import { createRecent } from './server/recent.ts';
import { createMetadataCache } from './server/registry/cache.ts';
import { registrySockets } from './server/registry/sockets.ts';
import { createMetrics } from './server/servedMetrics.ts';
import { webhookRoutes } from './webhooks/index.ts';

const USAGE = `Usage: node main.ts

Serves the Metacontroller hooks over HTTP and the admission webhook over HTTPS.
Everything is set by the environment:
${Object.entries(ENVIRONMENT)
  .map(([name, text]) => `  ${name.padEnd(24)} ${text}`)
  .join('\n')}
`;

async function main(): Promise<void> {
  const config = readConfig(process.env);
  const { logLevel, logLevelFile } = config;
  const log = createLeveledLog({ level: logLevel, file: logLevelFile });
  const decisions = createDecisionLog(log, () => performance.now());
  const metrics = createMetrics();
  const { admission, hooks, health, background } = connect(metrics);
  const dropped: Dropped = (what) => metrics.count({ name: 'rollout_hooks_dropped_total', labels: { what } });
  const events = createEvents({
    config,
    transport: background,
    cluster: readerOf(background),
    log,
    decisions,
    dropped,
  });
  const metadata = createMetadataCache({
    cluster: readerOf(background),
    sockets: registrySockets({ allowLocal: config.settings.allowLocalRegistries === true }),
    clock: () => performance.now(),
    log,
    dropped,
  });
  const measurements = createMeasurements({
    cluster: readerOf(background),
    now: () => Date.now(),
    readingOf,
    // One more than the limit shows that there are more.
    limit: LIMITS.metricSeries + 1,
  });
  const { settings } = config;

  const readers = { hooks: readerOf(hooks), health: readerOf(health) };
  const recent = createRecent(() => performance.now());
  const access = withRememberedAnswers(createAccessReviewer(health), recent);
  const hookCall = (hook: string): HookCall => ({
    now: Date.now(),
    cluster: hook === 'healthcheck' ? readers.health : readers.hooks,
    healthCluster: readers.health,
    access,
    events,
    metadata,
    measurements,
    recent,
    metrics,
    settings,
  });
  const admissionPorts = {
    cluster: readerOf(admission),
    access: createAccessReviewer(admission),
    events: createConfirmedEvents({ events, cluster: readerOf(background), wait, dropped }),
    metrics,
    settings,
  };
  const webhookCall = (): WebhookCall => ({ now: Date.now(), ...admissionPorts });

  let stopping = false;
  const shared = { log, metrics, notReady: () => (stopping ? 'shutting down' : undefined) };
  const { host } = config;
  const limits = { maxConnections: SERVER_LIMITS.connections, maxPerAddress: SERVER_LIMITS.connectionsPerAddress };
  const listeners: Listener[] = [];
  if (config.receiverPort !== undefined) {
    const program = new URL('./receiver/main.ts', import.meta.url);
    const { receiverPort: port, inputsPort, tls } = config;
    const { oidcIssuers = [] } = settings;
    const inputs =
      inputsPort !== undefined && tls ? { port: inputsPort, tls: { cert: tls.cert, key: tls.key } } : undefined;
    const options = { host, port, inputs, oidcIssuers, logLevel, logLevelFile };
    listeners.push(await startReceiver(program, options, log, metrics));
  }
  const refuseCaller = config.hooksToken && requireToken(config.hooksToken, log);
  const hooksApp = createApp({
    ...shared,
    routes: hookRoutes(hookCall, decisions),
    refuseCaller,
    showsMetrics: true,
    asksAgain: true,
  });
  const hooksListener = await listenHttp(hooksApp, { host, port: config.hooksPort, ...limits });
  listeners.push(hooksListener);
  let webhook: Listener | undefined;
  if (config.tls) {
    const refuseOthers = config.tls.clientCa ? requireClientCertificate(config.webhookClients) : undefined;
    const app = createApp({ ...shared, routes: webhookRoutes(webhookCall, decisions), refuseCaller: refuseOthers });
    webhook = await listenHttps(app, config.tls, { host, port: config.webhookPort, ...limits, log });
    listeners.push(webhook);
  }
  if (config.healthPort !== undefined) {
    // Opened last: a client that is answered here finds the other ports open. Connections to those can't make this
    // replica look unready.
    const health = createApp({ ...shared, routes: [] });
    listeners.push(await listenHttp(health, { host, port: config.healthPort, ...limits }));
  }
  log.info({ hooks: hooksListener.port, webhook: webhook?.port ?? 'off: WEBHOOK_TLS_CERT is not set' }, 'serving');

  const stop = async (signal: string) => {
    if (stopping) return;
    stopping = true;
    log.info({ signal }, 'shutting down');
    await shutDown(listeners, config.shutdownDelaySeconds);
    for (const transport of [admission, hooks, health, background]) transport.close();
    log.flush();
    process.exit(0);
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
}

/** Connections to the API server, separate for each part of the server, so that none can use up another's. */
function connect(metrics: Metrics) {
  const config = loadKubeConfig();
  const connected = (caller: ApiCaller, maxSockets: number) =>
    createTransport(config, { maxSockets }, () =>
      metrics.count({ name: 'rollout_hooks_api_requests_total', labels: { caller } }),
    );
  return {
    admission: connected('admission', 64),
    hooks: connected('hooks', 64),
    health: connected('health', 16),
    background: connected('background', 16),
  };
}

const readerOf = (transport: Transport): ClusterReader => withSharedReads(createReader(transport));

type Dropped = (what: 'events' | 'notifications' | 'metadata') => void;

interface EventParts {
  config: Config;
  transport: Transport;
  cluster: ClusterReader;
  log: Logger;
  decisions: DecisionLog;
  dropped: Dropped;
}

/** Kubernetes Events, the same in the log, and messages to Flux's notification-controller where one is configured. */
function createEvents({ config, transport, cluster, log, decisions, dropped }: EventParts): EventSink {
  const shared = { dropped, log, wait: (ms: number) => wait(ms) };
  const notifier =
    config.eventsAddress &&
    createNotifier({
      ...shared,
      address: config.eventsAddress,
      instance: config.instance,
      now: () => Date.now(),
      reportingObjects: async ({ namespace, name }) =>
        reportingObjects(
          await cluster.list<FluxBinding>({ ...FLUX_BINDINGS, namespace, labelSelector: boundLabel(name) }),
        ),
    });
  const events = createEventSink({
    ...shared,
    create: (event) => {
      const path = resourcePath({ apiVersion: 'v1', resource: 'events', namespace: event.metadata.namespace! });
      return transport.send({ method: 'POST', path, body: event });
    },
    find: (event) => cluster.get<StoredEvent>({ apiVersion: 'v1', resource: 'events', ...event }),
    nameKey: watchNameKey(config, log),
    ...(notifier && { notifier }),
  });
  return everySink(loggedEvents(decisions), events);
}

if (process.argv.includes('--help')) {
  process.stdout.write(USAGE);
} else {
  main().catch((error: Error & { code?: string }) => {
    const hint = error.code === 'EADDRINUSE' ? ': the port is in use, set HOOKS_PORT, WEBHOOK_PORT or HEALTH_PORT' : '';
    process.stderr.write(`${error instanceof ConfigError ? 'bad configuration: ' : ''}${error.message}${hint}\n`);
    process.exit(1);
  });
}
