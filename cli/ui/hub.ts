/** The page's open streams (server-sent events): each gets everything once, and then what changes. */
import type { ServerResponse } from 'node:http';
import { setImmediate as turn } from 'node:timers/promises';
import type { StreamEvents } from '../../client/board/messages.ts';

/** A page that does not read what it is sent is let go, and gets everything anew when it comes back. */
const MOST_WAITING_BYTES = 16 * 1024 * 1024;
const CHUNK = 500;

export class Hub {
  readonly #open = new Map<ServerResponse, { pending: string[] } | 'live'>();

  get size(): number {
    return this.#open.size;
  }

  /** `now`: what there is; changes that come while it is sent are sent after it. */
  async join(
    response: ServerResponse,
    hello: StreamEvents['hello'],
    now: () => Omit<StreamEvents, 'hello' | 'reset' | 'complete'>,
  ) {
    response.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    });
    const state = { pending: [] as string[] };
    this.#open.set(response, state);
    response.on('close', () => this.#open.delete(response));
    const { rows, kinds, ...plans } = now();
    response.write(frame('hello', hello) + frame('reset', {}) + frame('kinds', kinds));
    for (const [name, plan] of Object.entries(plans)) response.write(frame(name as keyof StreamEvents, plan));
    for (let from = 0; from < rows.set.length; from += CHUNK) {
      response.write(frame('rows', { set: rows.set.slice(from, from + CHUNK), gone: [] }));
      await turn();
      if (response.destroyed) return;
    }
    response.write(frame('complete', { rows: rows.set.length }));
    for (const text of state.pending) response.write(text);
    if (this.#open.has(response)) this.#open.set(response, 'live');
  }

  send<Name extends keyof StreamEvents>(event: Name, data: StreamEvents[Name]): void {
    this.#write(frame(event, data));
  }

  /** Some proxies and browsers close what is silent; and a page sees by it that the server is there. */
  beat(): void {
    this.#write(': beat\n\n');
  }

  close(): void {
    for (const response of this.#open.keys()) response.end();
    this.#open.clear();
  }

  #write(text: string): void {
    for (const [response, state] of this.#open) {
      if (state !== 'live') state.pending.push(text);
      else if (response.writableLength > MOST_WAITING_BYTES) response.destroy();
      else response.write(text);
    }
  }
}

function frame<Name extends keyof StreamEvents>(event: Name, data: StreamEvents[Name]): string {
  return `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}
