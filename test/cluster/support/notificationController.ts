/** A fake notification-controller, which records posted events in order and can stop answering. */
import { json } from 'node:stream/consumers';
import { waitFor } from '../../../dev/local/process/waitFor.ts';
import { startLocalServer } from '../../support/localServer.ts';

interface Notification {
  involvedObject: { apiVersion: string; kind: string; namespace: string; name: string };
  severity: string;
  reason: string;
  message: string;
  metadata: Record<string, string>;
}

export async function playNotificationController() {
  const events: Notification[] = [];
  let hangs = false;
  let hanging = 0;
  const server = await startLocalServer(async (request, response) => {
    if (hangs) {
      hanging += 1;
      return;
    }
    events.push((await json(request)) as Notification);
    response.writeHead(202).end();
  });
  /** Notifications of the object, as `severity message`. */
  const notificationsOf = (kind: string, namespace: string, name: string) =>
    events
      .filter(({ involvedObject: o }) => o.kind === kind && o.namespace === namespace && o.name === name)
      .map(({ severity, message }) => `${severity} ${message}`);
  return {
    address: `http://${server.host}/`,
    events,
    notificationsOf,
    /** Waits until the object has these notifications, among others. */
    untilNotified: async (kind: string, namespace: string, name: string, ...expected: (string | RegExp)[]) => {
      const isIn = (texts: string[], one: string | RegExp) =>
        texts.some((text) => (typeof one === 'string' ? text === one : one.test(text)));
      await waitFor(() => {
        const texts = notificationsOf(kind, namespace, name);
        const missing = expected.filter((one) => !isIn(texts, one));
        if (missing.length > 0) throw new Error(`missing: ${missing.join(' | ')}\ngot: ${texts.join('\n')}`);
        return true;
      }, `${kind} ${namespace}/${name} to have these notifications`);
    },
    /** From now on no request is answered. */
    hang: () => {
      hangs = true;
    },
    /** Requests that wait for an answer. */
    hanging: () => hanging,
  };
}
