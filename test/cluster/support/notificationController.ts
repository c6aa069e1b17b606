/** A fake notification-controller, which records posted events in order and can stop answering. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { waitFor } from './waitFor.ts';

export interface Notification {
  involvedObject: { apiVersion: string; kind: string; namespace: string; name: string };
  severity: string;
  reason: string;
  message: string;
  metadata: Record<string, string>;
}

export interface PlayedController {
  address: string;
  /** Notifications of the object, as `severity message`. */
  notificationsOf(kind: string, namespace: string, name: string): string[];
  /** Waits until the object has these notifications, among others. */
  untilNotified(kind: string, namespace: string, name: string, ...expected: (string | RegExp)[]): Promise<void>;
  events: Notification[];
  /** From now on no request is answered. */
  hang(): void;
  /** Requests that wait for an answer. */
  hanging(): number;
  stop(): void;
}

export async function playNotificationController(): Promise<PlayedController> {
  const events: Notification[] = [];
  let hangs = false;
  let hanging = 0;
  const server: Server = createServer(async (request, response) => {
    if (hangs) {
      hanging += 1;
      return;
    }
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    events.push(JSON.parse(Buffer.concat(chunks).toString()));
    response.writeHead(202).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const notificationsOf = (kind: string, namespace: string, name: string) =>
    events
      .filter(({ involvedObject: o }) => o.kind === kind && o.namespace === namespace && o.name === name)
      .map(({ severity, message }) => `${severity} ${message}`);
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    events,
    notificationsOf,
    untilNotified: async (kind, namespace, name, ...expected) => {
      const isIn = (texts: string[], one: string | RegExp) =>
        texts.some((text) => (typeof one === 'string' ? text === one : one.test(text)));
      await waitFor(() => {
        const texts = notificationsOf(kind, namespace, name);
        const missing = expected.filter((one) => !isIn(texts, one));
        if (missing.length > 0) throw new Error(`missing: ${missing.join(' | ')}\ngot: ${texts.join('\n')}`);
        return true;
      }, `${kind} ${namespace}/${name} to have these notifications`);
    },
    hang: () => {
      hangs = true;
    },
    hanging: () => hanging,
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
