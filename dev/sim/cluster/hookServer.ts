/** A replica of the hook server: the routes of main.ts, with the same ports over the simulated API server. */
import type { AdmissionRequest, AdmissionResponse, AdmissionReview } from '../../../api/admission.ts';
import type { EventSink, HookCall, Route, Settings, WebhookCall } from '../../../api/ports.ts';
import { hookRoutes } from '../../../hooks/index.ts';
import { createAccessReviewer, withCachedAnswers } from '../../../server/cluster/access.ts';
import { ApiError } from '../../../server/cluster/apiError.ts';
import { createReader } from '../../../server/cluster/clusterReader.ts';
import type { Request } from '../../../server/cluster/connection.ts';
import { createSharedReads } from '../../../server/cluster/sharedReads.ts';
import type { Transport } from '../../../server/cluster/transport.ts';
import { createConfirmedEvents } from '../../../server/events/confirmed.ts';
import { webhookRoutes } from '../../../webhooks/index.ts';
import type { Access } from '../../client/kubeconfig.ts';
import { send } from '../../client/send.ts';
import type { HookRequest } from '../../engine/cluster/engine.ts';
import type { Clock } from '../../engine/runtime/clock.ts';
import { fakeMetrics } from '../../fakes/ports.ts';
import { reviewing } from '../../fakes/requests.ts';
import { settled } from '../apiServer/values.ts';

interface HookServerOptions {
  clock: Clock;
  access: Access;
  settings: Settings;
  /** Called for an error that isn't the request's fault. */
  crashed(path: string, error: Error): void;
}

export interface HookServer {
  hook(path: string, body: HookRequest): Promise<{ code: number; retryAfter: string; text: string }>;
  admit(path: string, request: AdmissionRequest): Promise<AdmissionResponse>;
}

/** Retry-After, as in server/http/app.ts. */
const RETRY_AFTER_SECONDS = 3;
/** Timeout of a request, as in server/cluster/transport.ts. */
const TIMEOUT_MS = 4000;

export function hookServer({ clock, access, settings, crashed }: HookServerOptions): HookServer {
  const transport = transportOver(access, clock);
  // Virtual time has no turns of the event loop.
  const shared = () =>
    createSharedReads(
      () => clock.now(),
      async () => {},
    );
  const cluster = createReader(transport, shared());
  const sharedReads = shared();
  const events: EventSink = { record: () => {} };
  const wait = (ms: number) => new Promise<void>((resolve) => clock.after(ms, resolve));
  const reviewer = createAccessReviewer(transport);
  const { metrics } = fakeMetrics();
  const hookPorts: Omit<HookCall, 'now'> = {
    cluster,
    healthCluster: cluster,
    access: withCachedAnswers(reviewer, sharedReads),
    events,
    metadata: { lookup: () => ({}), isAwaited: () => false },
    measurements: { measure: async () => undefined },
    sharedReads,
    metrics,
    settings,
  };
  const admissionPorts: Omit<WebhookCall, 'now'> = {
    cluster,
    access: reviewer,
    events: createConfirmedEvents({ events, metrics, cluster, wait, dropped: () => {} }),
    metrics,
    settings,
    sharedReads,
  };
  const routes = new Map<string, Route>(
    [
      ...hookRoutes(() => ({ ...hookPorts, now: clock.now() })),
      ...webhookRoutes(() => ({ ...admissionPorts, now: clock.now() })),
    ].map((route) => [route.path, route]),
  );

  return {
    async hook(path, body) {
      try {
        const answer = await routes.get(path)!.answer(asJson(body));
        return { code: 200, retryAfter: '', text: JSON.stringify(answer) };
      } catch (error) {
        const { status, message, retryAfterSeconds } = error as Error & { status?: number; retryAfterSeconds?: number };
        const text = JSON.stringify({ error: message });
        if (status === 429) return { code: 429, retryAfter: String(Math.ceil(retryAfterSeconds ?? 1)), text };
        if (status === undefined && !(error instanceof ApiError)) crashed(path, error as Error);
        if (status !== undefined && status < 500) return { code: status, retryAfter: '', text };
        return { code: 429, retryAfter: String(RETRY_AFTER_SECONDS), text };
      }
    },
    async admit(path, request) {
      try {
        const answer = (await routes.get(path)!.answer(settled(reviewing(request)))) as AdmissionReview;
        return answer.response!;
      } catch (error) {
        const { status } = error as { status?: number };
        if (status === undefined && !(error instanceof ApiError)) crashed(path, error as Error);
        throw error;
      }
    },
  };
}

/** The request as JSON: groups of objects become maps by name. */
const asJson = (request: HookRequest) =>
  Object.fromEntries(
    Object.entries(request).map(([name, value]) => [
      name,
      value instanceof Map
        ? Object.fromEntries([...value].map(([kind, objects]) => [kind, Object.fromEntries(objects)]))
        : value,
    ]),
  );

function transportOver(access: Access, clock: Clock): Transport {
  return {
    send<T>({ method = 'GET', path, ...options }: Request) {
      const noAnswer = (why: string) => new ApiError(0, 'NoAnswer', `${method} ${path.split('?')[0]}: ${why}`);
      return new Promise<T>((resolve, reject) => {
        const cancel = clock.after(TIMEOUT_MS, () => reject(noAnswer('no answer from the API server in time')));
        send<T>(access, method, path, { ...options, headers: { 'user-agent': 'rollout-hooks' } })
          .then(({ object }) => resolve(object))
          .catch((error) => reject(error instanceof ApiError ? error : noAnswer(error.message)))
          .finally(cancel);
      });
    },
    close: () => {},
  };
}
