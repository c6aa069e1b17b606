/** Waits for objects to reach a state by watching them: polling lists would cost the API server more than the work measured. */
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { createInterface } from 'node:readline';
import type { AnyObject } from '../client/send.ts';
import type { Access } from '../local/users.ts';

export interface Arrivals {
  /** Resolves when `count` different objects satisfy `arrived`; rejects after `timeoutMs`. */
  all(count: number, arrived: (object: AnyObject) => boolean, timeoutMs: number): Promise<void>;
  close(): void;
}

/** Watches a collection from now on, with what is there already. */
export async function watchArrivals(access: Access, path: string): Promise<Arrivals> {
  const objects = new Map<string, AnyObject>();
  let changed = () => {};
  const call = request(
    new URL(
      `${path}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`,
      access.url,
    ),
    {
      ca: access.ca,
      headers: { authorization: `Bearer ${access.token}`, accept: 'application/json' },
      agent: false,
    },
  );
  call.end();
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    call.once('response', resolve);
    call.once('error', reject);
  });
  call.on('error', () => {});
  const lines = createInterface({ input: response });
  // Closing the watch aborts the response.
  lines.on('error', () => {});
  lines.on('line', (line) => {
    const { type, object } = JSON.parse(line) as { type: string; object: AnyObject };
    if (type !== 'ADDED' && type !== 'MODIFIED') return;
    objects.set(object.metadata.name ?? '', object);
    changed();
  });
  return {
    all: (count, arrived, timeoutMs) =>
      new Promise((resolve, reject) => {
        const missing = () => count - [...objects.values()].filter(arrived).length;
        const timer = setTimeout(
          () => reject(new Error(`${missing()} of ${count} have not arrived in ${timeoutMs} ms`)),
          timeoutMs,
        );
        let waiting = missing();
        changed = () => {
          // Counting all of them for each event would be quadratic: count only when enough events came.
          waiting--;
          if (waiting > 0) return;
          waiting = missing();
          if (waiting > 0) return;
          clearTimeout(timer);
          changed = () => {};
          resolve();
        };
        if (waiting <= 0) changed();
      }),
    close: () => call.destroy(),
  };
}
