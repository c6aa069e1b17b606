/**
 * Composition root of the audit command, which sends audit events: command line, clock, files and sockets enter here.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { createAuditMetrics } from '../server/audit/auditMetrics.ts';
import { createAuditSink } from '../server/audit/auditSink.ts';
import { createOutbox } from '../server/audit/outbox.ts';
import { type Collections, createCollections } from '../server/cluster/collections.ts';
import { connectApi } from '../server/cluster/connection.ts';
import { follow } from '../server/cluster/follow.ts';
import { loadKubeConfig } from '../server/cluster/transport.ts';
import { createApp } from '../server/http/app.ts';
import { listenHttp } from '../server/http/listen.ts';
import { createLog, isLogLevel, LOG_LEVELS, type Logger } from '../server/log.ts';
import { AuditStream, WATCHED } from './auditStream.ts';

const USAGE = `Usage: node audit/main.ts --sink DIR [options]

Sends deployments, approvals, bypasses, freezes, requests and changes of rules as CloudEvents 1.0 to an HTTP sink.

  --sink DIR          a mounted Secret: url, and if the sink requires them, token (bearer), ca.crt, tls.crt and tls.key
  --source URI        the source of the events, which names the cluster (/rollout-hooks)
  --port NUMBER       for /metrics, /healthz and /readyz (8080)
  --log-level LEVEL   ${LOG_LEVELS.join(', ')} (info)
`;

const OPTIONS = {
  help: { type: 'boolean' },
  sink: { type: 'string' },
  source: { type: 'string', default: '/rollout-hooks' },
  port: { type: 'string', default: '8080' },
  'log-level': { type: 'string', default: 'info' },
} as const;

const QUEUE_LIMITS = { events: 10_000, bytes: 16 * 1024 * 1024 };
/** Enough connections for probes and a Prometheus. */
const MAX_CONNECTIONS = 100;
/** Long enough for a list of large objects from a busy API server. */
const TIMEOUT_MS = 30_000;
/** The time to the next attempt to read a kind that can't be read or isn't installed. */
const UNREADABLE_RETRY_MS = 60_000;

type Watched = (typeof WATCHED)[number];

async function main(): Promise<void> {
  const { values: options } = parseArgs({ options: OPTIONS });
  if (options.help) return void process.stdout.write(USAGE);
  const { sink: folder, source, port, 'log-level': level } = options;
  if (!folder) throw new Error('--sink is missing');
  if (!/^[^\s<>"{}|\\^`]+$/.test(source)) throw new Error('--source is not a URI reference');
  if (!/^\d{1,5}$/.test(port)) throw new Error('--port is not a port');
  if (!isLogLevel(level)) throw new Error(`--log-level is not one of ${LOG_LEVELS.join(', ')}`);

  const log = createLog(level);
  const sink = createAuditSink(folder, log);
  const metrics = createAuditMetrics(() => outbox.waiting());
  const outbox = createOutbox({ limits: QUEUE_LIMITS, post: sink.post, wait, count: metrics.event, log });
  const stream = new AuditStream({ source, now: Date.now, send: outbox.add, missed: metrics.gap });
  const connection = connectApi(loadKubeConfig(), {
    timeoutMs: TIMEOUT_MS,
    headers: { 'user-agent': 'rollout-hooks' },
  });
  const collections = createCollections(connection);
  const app = createApp({
    routes: [],
    log,
    metrics: { request: () => () => {}, text: metrics.text, contentType: metrics.contentType },
    notReady: () => undefined,
    showsMetrics: true,
  });
  const listener = await listenHttp(app, { host: '::', port: Number(port), maxConnections: MAX_CONNECTIONS });
  log.info({ port: listener.port }, 'serving');

  // Events in the queue are lost here, and sent after the next start from the records on the objects.
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      log.info({ signal, waiting: outbox.waiting() }, 'shutting down');
      log.flush();
      process.exit(0);
    });
  }
  await Promise.all(WATCHED.map((watched) => watch(watched, collections, stream, log)));
}

async function watch(
  { kind, ...from }: Watched,
  collections: Collections,
  stream: AuditStream,
  log: Logger,
): Promise<never> {
  const { signal } = new AbortController();
  for (let problem: string | undefined; ; await wait(UNREADABLE_RETRY_MS)) {
    try {
      for await (const change of follow(collections, from, signal)) {
        if (change.type === 'lost') log.warn({ kind, why: change.error.message }, 'the watch was lost, trying again');
        else await stream.take(kind, change);
        problem = undefined;
      }
    } catch (error) {
      const { message } = error as Error;
      if (message !== problem) log.warn({ kind, why: message }, 'not watched, trying again every minute');
      problem = message;
    }
  }
}

main().catch((error: Error) => {
  process.stderr.write(`${error.message}; see --help\n`);
  process.exit(1);
});
