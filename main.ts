/**
 * Composition root: environment, clock, sockets and the cluster client enter here. The receiver's thread has its own,
 * receiver/main.ts.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { FLUX_BINDINGS } from './api/kinds.ts';
import type { EpochMs } from './api/kubernetes.ts';
import type { ApiCaller } from './api/metrics.ts';
import type { ClusterReader, DecisionLog, EventSink, HookCall, Metrics, WebhookCall } from './api/ports.ts';
import type { FluxBinding } from './api/types.ts';
import { boundLabel } from './core/binding/bindingSpec.ts';
import { reportingObjects } from './core/binding/involvedObjects.ts';
import { readingOf } from './core/health/prometheus/reading.ts';
import { LIMITS } from './core/limits.ts';
import { hookRoutes } from './hooks/index.ts';
import { createAccessReviewer, withCachedAnswers } from './server/cluster/access.ts';
import { createClockCheck } from './server/cluster/clockCheck.ts';
import { createReader } from './server/cluster/clusterReader.ts';
import { resourcePath } from './server/cluster/paths.ts';
import { createSharedReads } from './server/cluster/sharedReads.ts';
import { createTransport, loadKubeConfig, type Transport } from './server/cluster/transport.ts';
import { type Config, ENVIRONMENT, readConfig } from './server/config.ts';
import { createDecisionLog, loggedEvents } from './server/decisionLog.ts';
import { ConfigError } from './server/environment.ts';
import { createConfirmedEvents } from './server/events/confirmed.ts';
import { createEventSink, everySink, type StoredEvent } from './server/events/eventSink.ts';
import { watchNameKey } from './server/events/nameKey.ts';
import { createNotifier } from './server/events/notification.ts';
import { createApp } from './server/http/app.ts';
import { requireClientCertificate, requireToken } from './server/http/callers.ts';
import { type Listener, listenHttp, listenHttps, shutDown } from './server/http/listen.ts';
import { startReceiver } from './server/http/receiverThread.ts';
import { SERVER_LIMITS } from './server/http/serverLimits.ts';
import { createLog, type Logger } from './server/log.ts';
import { createMeasurements } from './server/prometheus/measurements.ts';
import { createMetadataCache } from './server/registry/cache.ts';
import { registrySockets } from './server/registry/sockets.ts';
import { createMetrics, type ServedMetrics } from './server/servedMetrics.ts';
import { FAILS_OPEN, OF_METACONTROLLER, webhookRoutes } from './webhooks/index.ts';

const USAGE = `Usage: node main.ts

Serves the Metacontroller hooks over HTTP and the admission webhook over HTTPS.
Everything is set by the environment:
${Object.entries(ENVIRONMENT)
  .map(([name, text]) => `  ${name.padEnd(24)} ${text}`)
  .join('\n')}
`;

async function main(): Promise<void> {
  const config = readConfig(process.env);
  const log = createLog(config.logLevel, config.logLevelFile);
  const decisions = createDecisionLog(log, () => performance.now());
  const metrics = createMetrics();
  const transports = connect(metrics);
  const parts = { config, log, decisions, metrics, transports };

  const clock = createClockCheck({
    transport: transports.background,
    now: () => Date.now(),
    monotonic: () => performance.now(),
    log,
    metrics,
  });
  const calls = createCalls(parts, () => clock.time());
  await clock.check();
  clock.repeat();

  let isStopping = false;
  const listeners = await listenAll(parts, calls, () => (isStopping ? 'shutting down' : clock.problem()));
  const stop = async (signal: string) => {
    if (isStopping) return;
    isStopping = true;
    log.info({ signal }, 'shutting down');
    await shutDown(listeners, config.shutdownDelaySeconds);
    for (const transport of Object.values(transports)) transport.close();
    log.flush();
    process.exit(0);
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
}

interface Parts {
  config: Config;
  log: Logger;
  decisions: DecisionLog;
  metrics: ServedMetrics;
  transports: ReturnType<typeof connect>;
}

interface Calls {
  hookCall(hook: string): HookCall;
  webhookCall(webhook: string): WebhookCall;
}

/**
 * The ports of one hook call, and of one admission request, at the present time.
 * @param time throws if the clock is wrong, and so fails the call or request
 */
function createCalls({ config, log, decisions, metrics, transports }: Parts, time: () => EpochMs): Calls {
  const { settings } = config;
  const { admission, failsOpen, metacontroller, hooks, health, background } = transports;
  const dropped: Dropped = (what) => metrics.count({ name: 'rollout_hooks_dropped_total', labels: { what } });
  const events = createEvents({
    config,
    transport: background,
    cluster: createReader(background),
    log,
    decisions,
    dropped,
  });
  const metadata = createMetadataCache({
    cluster: createReader(background),
    sockets: registrySockets({ allowLocal: settings.allowLocalRegistries === true }),
    clock: () => performance.now(),
    log,
    dropped,
  });
  const measurements = createMeasurements({
    cluster: createReader(background),
    now: () => Date.now(),
    readingOf,
    // One more than the limit, to detect that there are more.
    limit: LIMITS.metricSeries + 1,
  });
  const readers = { hooks: createReader(hooks), health: createReader(health) };
  const sharedReads = createSharedReads(() => performance.now());
  const access = withCachedAnswers(createAccessReviewer(health), sharedReads);
  const hookPorts = {
    healthCluster: readers.health,
    access,
    events,
    metadata,
    measurements,
    sharedReads,
    metrics,
    settings,
  };
  const portsOver = (transport: Transport) => ({
    cluster: createReader(transport),
    access: createAccessReviewer(transport),
  });
  const common = portsOver(admission);
  const apart = new Map([
    [FAILS_OPEN, portsOver(failsOpen)],
    [OF_METACONTROLLER, portsOver(metacontroller)],
  ]);
  const admissionPorts = {
    events: createConfirmedEvents({ events, metrics, cluster: createReader(background), wait, dropped }),
    metrics,
    settings,
    sharedReads,
  };
  return {
    hookCall: (hook) => ({
      now: time(),
      cluster: hook === 'healthcheck' ? readers.health : readers.hooks,
      ...hookPorts,
    }),
    webhookCall: (webhook) => ({
      // An error would admit a write that fails open. By a wrong clock most closed Gates still hold its object.
      now: webhook === FAILS_OPEN ? Date.now() : time(),
      ...(apart.get(webhook) ?? common),
      ...admissionPorts,
    }),
  };
}

/** Opens the ports of receiver, hooks, admission webhook and probes. */
async function listenAll(
  { config, log, decisions, metrics }: Parts,
  { hookCall, webhookCall }: Calls,
  notReady: () => string | undefined,
): Promise<Listener[]> {
  const { host, tls } = config;
  const shared = { log, metrics, notReady };
  const limits = { maxConnections: SERVER_LIMITS.connections, maxPerAddress: SERVER_LIMITS.connectionsPerAddress };
  const listeners: Listener[] = [];
  if (config.receiverPort !== undefined) {
    const program = new URL('./receiver/main.ts', import.meta.url);
    const { receiverPort: port, inputsPort, logLevel, logLevelFile } = config;
    const { oidcIssuers = [] } = config.settings;
    const inputs =
      inputsPort !== undefined && tls ? { port: inputsPort, tls: { cert: tls.cert, key: tls.key } } : undefined;
    const options = { host, port, inputs, oidcIssuers, logLevel, logLevelFile };
    listeners.push(await startReceiver(program, options, log, metrics));
  }
  const hooksApp = createApp({
    ...shared,
    routes: hookRoutes(hookCall, decisions),
    refuseCaller: config.hooksToken && requireToken(config.hooksToken, log),
    showsMetrics: true,
    answers429: true,
  });
  const hooks = await listenHttp(hooksApp, { host, port: config.hooksPort, ...limits });
  listeners.push(hooks);
  let webhook: Listener | undefined;
  if (tls) {
    const refuseCaller = tls.clientCa ? requireClientCertificate(config.webhookClients) : undefined;
    const app = createApp({ ...shared, routes: webhookRoutes(webhookCall, decisions), refuseCaller });
    webhook = await listenHttps(app, tls, {
      host,
      port: config.webhookPort,
      ...limits,
      log,
      expires: metrics.certificateExpires,
    });
    listeners.push(webhook);
  }
  if (config.healthPort !== undefined) {
    // Opened last, so that a client that gets an answer here finds the other ports open. It is a port of its own, so
    // that connections to the others can't make this replica look unready.
    const health = createApp({ ...shared, routes: [] });
    listeners.push(await listenHttp(health, { host, port: config.healthPort, ...limits }));
  }
  log.info({ hooks: hooks.port, webhook: webhook?.port ?? 'off: WEBHOOK_TLS_CERT is not set' }, 'serving');
  return listeners;
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
    failsOpen: connected('admission', 64),
    metacontroller: connected('admission', 64),
    hooks: connected('hooks', 64),
    health: connected('health', 16),
    background: connected('background', 16),
  };
}

type Dropped = (what: 'events' | 'notifications' | 'metadata') => void;

interface EventParts {
  config: Config;
  transport: Transport;
  cluster: ClusterReader;
  log: Logger;
  decisions: DecisionLog;
  dropped: Dropped;
}

/**
 * The sink of Events: Kubernetes Events, lines in the log, and messages to Flux's notification-controller if one is
 * configured.
 */
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
