/** The open streams of a page, one hub for all clusters of a reader. */
import type { ServerResponse } from 'node:http';
import { setImmediate as turn } from 'node:timers/promises';
import type { StreamEvents } from '../client/board/pageMessages.ts';
import { formatFrame } from '../client/board/streamFrames.ts';

/** Keeps streams alive: some proxies close idle connections, and a page detects a dead server by silence. */
const HEARTBEAT_MS = 15_000;

/** The views of a cluster. */
export type Snapshot = Omit<StreamEvents, 'hello' | 'reset' | 'complete'>;

/** The most unsent bytes of a stream. A page that does not read its stream is disconnected, and reconnects. */
const MAX_UNSENT_BYTES = 16 * 1024 * 1024;
/** The time within which a page must read a message of the views. Otherwise it is disconnected. */
const DRAIN_MS = 30_000;
const ROWS_IN_MESSAGE = 500;

/** The open streams of a page (server-sent events): each gets all views once, and then the changes. */
export class Hub {
  /** The feed of each cluster. */
  readonly feeds: { snapshot(): Snapshot }[] = [];
  /** The open streams. `pending`: messages that wait until all views have been sent, and their length. */
  readonly #open = new Map<ServerResponse, { pending: string[]; length: number } | 'live'>();
  /** Runs while a stream is open. */
  #heartbeat: NodeJS.Timeout | undefined;

  get size(): number {
    return this.#open.size;
  }

  /** Opens a stream: sends all views, and after them the changes that came meanwhile. */
  async join(response: ServerResponse, hello: StreamEvents['hello']) {
    // The browser is gone already: no event would end the stream, which would count until the server ends.
    if (response.destroyed) return;
    response.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    });
    const state = { pending: [] as string[], length: 0 };
    this.#open.set(response, state);
    this.#heartbeat ??= setInterval(() => this.#write(': beat\n\n'), HEARTBEAT_MS);
    response.on('close', () => this.#leave(response));
    for (const part of parts(this.feeds, hello)) {
      if (!response.write(part)) await drained(response);
      else await turn();
      if (!this.#open.has(response) || response.writableEnded) return;
    }
    for (const text of state.pending) response.write(text);
    this.#open.set(response, 'live');
  }

  send<Name extends keyof StreamEvents>(event: Name, data: StreamEvents[Name]): void {
    this.#write(formatFrame(event, data));
  }

  close(): void {
    for (const response of this.#open.keys()) {
      response.end();
      this.#leave(response);
    }
  }

  #leave(response: ServerResponse): void {
    this.#open.delete(response);
    if (this.#open.size > 0) return;
    clearInterval(this.#heartbeat);
    this.#heartbeat = undefined;
  }

  #write(text: string): void {
    for (const [response, state] of this.#open) {
      // A stream that has ended stays open until it is read, and a write to it would end the process.
      if (response.writableEnded) continue;
      const unsent = response.writableLength + (state === 'live' ? 0 : state.length);
      if (unsent > MAX_UNSENT_BYTES) response.destroy();
      else if (state === 'live') response.write(text);
      else {
        state.pending.push(text);
        state.length += text.length;
      }
    }
  }
}

/** The messages of all views. */
function* parts(feeds: Hub['feeds'], hello: StreamEvents['hello']): Generator<string> {
  const snapshots = feeds.map((feed) => feed.snapshot());
  yield formatFrame('hello', hello) + formatFrame('reset', {});
  let sent = 0;
  for (const { rows, ...plans } of snapshots) {
    yield Object.entries(plans)
      .map(([name, plan]) => formatFrame(name as keyof StreamEvents, plan))
      .join('');
    for (let from = 0; from < rows.set.length; from += ROWS_IN_MESSAGE) {
      yield formatFrame('rows', { ...rows, set: rows.set.slice(from, from + ROWS_IN_MESSAGE) });
    }
    sent += rows.set.length;
  }
  yield formatFrame('complete', { rows: sent });
}

/** Resolves when the client has read what was written, or is disconnected because it didn't. */
function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const late = setTimeout(() => response.destroy(), DRAIN_MS);
    const done = () => {
      clearTimeout(late);
      response.off('drain', done).off('close', done);
      resolve();
    };
    response.on('drain', done).on('close', done);
  });
}
