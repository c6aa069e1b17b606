/**
 * Runs the receiver in a separate thread, so that its callers can't use up the CPU time and sockets of hooks and
 * webhook.
 */

import { setTimeout as wait } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { Count } from '../../api/metrics.ts';
import type { Counters } from '../../api/ports.ts';
import { errorText } from '../../core/text/errorText.ts';
import type { TlsFiles } from '../config.ts';
import type { LogLevel } from '../log.ts';
import type { Listener } from './listen.ts';

const RESTART_MS = 1000;
const MEMORY_MB = 256;
const COUNTS_BATCH_MS = 1000;

/** The `workerData` of the thread. */
export interface ReceiverOptions {
  host: string;
  port: number;
  /** The port of the inputs, and its certificate; off without it. */
  inputs?: { port: number; tls: TlsFiles } | undefined;
  oidcIssuers: readonly string[];
  logLevel: LogLevel;
  /** The file with the log level, which the thread watches itself. */
  logLevelFile?: string | undefined;
}

/** A message from the process to the thread. */
export type ReceiverOrder = 'drain' | 'close';

/** A message from the thread to the process: its port once it listens, and its counts. */
export type ReceiverMessage = { port: number } | { counts: Count[] };

/** The thread's metrics, sent in batches, so that a flood of calls costs the main thread nothing. */
export function batchedMetrics(post: (message: ReceiverMessage) => void): Counters {
  const waiting = new Map<string, Count & { times: number }>();
  const flush = () => {
    post({ counts: [...waiting.values()] });
    waiting.clear();
  };
  return {
    count(what) {
      if (waiting.size === 0) setTimeout(flush, COUNTS_BATCH_MS).unref();
      const series = JSON.stringify([what.name, what.labels]);
      const times = (waiting.get(series)?.times ?? 0) + (what.times ?? 1);
      waiting.set(series, { ...what, times });
    },
  };
}

/** Starts `program`, and restarts it when it dies. Rejects when the first start fails. */
export async function startReceiver(
  program: URL,
  options: ReceiverOptions,
  log: { error(fields: object, message: string): void },
  metrics: Counters,
): Promise<Listener> {
  let stopping = false;
  let thread = startThread(program, options, metrics);
  const port = await thread.port;

  async function keepAlive(): Promise<void> {
    while (true) {
      const why = await thread.ended;
      if (stopping) return;
      log.error({ why }, 'the receiver has exited, restarting it');
      await wait(RESTART_MS);
      thread = startThread(program, { ...options, port }, metrics);
      thread.port.catch(() => undefined);
    }
  }
  void keepAlive();

  return {
    port,
    drain: () => thread.post('drain'),
    async close() {
      stopping = true;
      thread.post('close');
      await thread.ended;
    },
  };
}

interface Thread {
  port: Promise<number>;
  /** Resolves with the reason when the thread ends, even if it was ordered to end. */
  ended: Promise<string>;
  post(order: ReceiverOrder): void;
}

function startThread(program: URL, options: ReceiverOptions, metrics: Counters): Thread {
  const worker = new Worker(program, {
    workerData: options,
    resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB },
  });
  const port = Promise.withResolvers<number>();
  const ended = Promise.withResolvers<string>();
  worker.on('message', (message: ReceiverMessage) => {
    if ('port' in message) port.resolve(message.port);
    else for (const count of message.counts) metrics.count(count);
  });
  worker.once('error', (error) => {
    port.reject(error);
    ended.resolve(errorText(error));
  });
  worker.once('exit', (code) => {
    port.reject(new Error(`the receiver exited with code ${code} before it listened`));
    ended.resolve(`code ${code}`);
  });
  return { port: port.promise, ended: ended.promise, post: (order) => worker.postMessage(order) };
}
