/** The receiver in a thread of its own: whatever its callers do, hooks and admission keep their processor time and sockets. */
import { setTimeout as wait } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { Listener } from './listen.ts';

const RESTART_MS = 1000;
const MEMORY_MB = 256;

/** Handed to the thread as `workerData`. */
export interface ReceiverOptions {
  host: string;
  port: number;
  logLevel: string;
}

/** What the thread is told. It answers the first question by itself, with its port: `{ port: 9292 }`. */
export type ReceiverOrder = 'drain' | 'close';

/** Starts `program` and starts it again when it dies. Rejects when its first start fails. */
export async function startReceiver(
  program: URL,
  options: ReceiverOptions,
  log: { error(fields: object, message: string): void },
): Promise<Listener> {
  let stopping = false;
  let thread = startThread(program, options);
  const port = await thread.port;

  async function keepAlive(): Promise<void> {
    while (true) {
      const why = await thread.ended;
      if (stopping) return;
      log.error({ why }, 'the receiver has ended, starting it again');
      await wait(RESTART_MS);
      thread = startThread(program, { ...options, port });
      thread.port.catch(() => undefined);
    }
  }
  void keepAlive();

  return {
    port,
    drain: () => thread.tell('drain'),
    async close() {
      stopping = true;
      thread.tell('close');
      await thread.ended;
    },
  };
}

interface Thread {
  port: Promise<number>;
  /** Why. Resolves also when the thread ended as it should. */
  ended: Promise<string>;
  tell(order: ReceiverOrder): void;
}

function startThread(program: URL, options: ReceiverOptions): Thread {
  const worker = new Worker(program, {
    workerData: options,
    resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB },
  });
  const port = Promise.withResolvers<number>();
  const ended = Promise.withResolvers<string>();
  worker.once('message', (message: { port: number }) => port.resolve(message.port));
  worker.once('error', (error) => {
    port.reject(error);
    ended.resolve(error instanceof Error ? error.message : String(error));
  });
  worker.once('exit', (code) => {
    port.reject(new Error(`the receiver ended with code ${code} before it listened`));
    ended.resolve(`code ${code}`);
  });
  return { port: port.promise, ended: ended.promise, tell: (order) => worker.postMessage(order) };
}
