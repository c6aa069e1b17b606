/**
 * What others call: `POST /hook/<digest>` (signed) and `POST /hook/<namespace>/<name>` (with an ID token) open or close a Gate,
 * `POST /flagger/confirm` and `/flagger/rollback` ask one.
 * Statuses and empty bodies as Flux's notification-controller: 413, 404, 503, 400, in this order, and 429. Only a path
 * that cannot belong to a Gate gets its 404 before the body is read.
 */
import express, {
  type ErrorRequestHandler,
  type Express,
  type Request,
  type RequestHandler,
  type Response,
} from 'express';
import { GATES } from '../api/kinds.ts';
import { COUNTERS } from '../api/metrics.ts';
import type { Counters, ReceiverPorts } from '../api/ports.ts';
import type { Gate } from '../api/types.ts';
import { flaggerAnswer, flaggerGate } from '../core/receiver/flagger.ts';
import type { SignedCall } from '../core/receiver/signedCall.ts';
import { isWebhookPath } from './gateLookup.ts';
import { createIdTokenCallHandler, isIdTokenPath } from './idTokenCall.ts';
import { createCallHandler } from './signedCall.ts';
import type { CallOutcome } from './take.ts';

/** docs/reference/limits.md is generated from this table. */
export const RECEIVER_LIMITS = {
  /** Bytes of the body of a signed call, or of one with an ID token. */
  signedCallBytes: 8 * 1024,
  /** Characters of an ID token. */
  idTokenBytes: 8 * 1024,
  /** Bytes of a Flagger webhook's body. */
  flaggerBytes: 64 * 1024,
  /** Requests for inputs in a minute, of one user, and of all tokens together that were not accepted before. */
  inputsPerMinute: 600,
} as const;

const HOOKS = ['/hook/:digest', '/hook/:namespace/:name'];

export function createReceiver(ports: ReceiverPorts): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.use(counted(ports.metrics));
  const handleCall = createCallHandler(ports);
  const handleIdTokenCall = createIdTokenCallHandler(ports);

  app.post(HOOKS, (request, response, next) => {
    if (isWebhookPath(request.path) || isIdTokenPath(request.path)) next();
    else end(response, 404);
  });
  const raw = express.raw({ type: () => true, limit: RECEIVER_LIMITS.signedCallBytes, inflate: false });
  app.post('/hook/:digest', raw, async (request: Request<{ digest: string }>, response) => {
    answer(response, await handleCall(`/hook/${request.params.digest}`, callOf(request)));
  });
  app.post('/hook/:namespace/:name', raw, async (request: Request<{ namespace: string; name: string }>, response) => {
    const call = { body: bodyOf(request), token: bearerOf(request) };
    answer(response, await handleIdTokenCall(request.params, call));
  });

  const json = express.json({ type: () => true, limit: RECEIVER_LIMITS.flaggerBytes, inflate: false });
  app.post(['/flagger/confirm', '/flagger/rollback'], json, async (request, response) => {
    const ref = flaggerGate(request.body);
    if (!ref) {
      response
        .status(400)
        .type('text')
        .send('expected a Flagger webhook with name, namespace and optionally metadata.gate\n');
      return;
    }
    const gate = await ports.cluster.get<Gate>({ ...GATES, ...ref });
    const { opened, message } = flaggerAnswer(ref, gate, ports.now());
    response
      .status(opened ? 200 : 403)
      .type('text')
      .send(`${message}\n`);
  });

  app.all([...HOOKS, '/flagger/confirm', '/flagger/rollback'], (_request, response) => {
    end(response.set('Allow', 'POST'), 405);
  });
  app.use((_request, response) => end(response, 404));
  app.use(failure(ports));
  return app;
}

const { endpoint: ENDPOINTS, code: CODES } = COUNTERS.rollout_hooks_receiver_requests_total.labels;

/** By the status of the answer. Requests to no endpoint of ours are not counted. */
export function counted(metrics: Counters): RequestHandler {
  return (request, response, next) => {
    const endpoint = ENDPOINTS.find((each) => request.path.startsWith(`/${each}/`));
    if (endpoint) {
      response.once('finish', () => {
        const code = CODES.find((each) => each === String(response.statusCode)) ?? '500';
        metrics.count({ name: 'rollout_hooks_receiver_requests_total', labels: { endpoint, code } });
      });
    }
    next();
  };
}

function callOf(request: Request<{ digest: string }>): SignedCall {
  return {
    body: bodyOf(request),
    signature: request.get('x-signature'),
    timestamp: request.get('x-timestamp'),
    nonce: request.get('x-nonce'),
  };
}

function bodyOf({ body }: { body?: unknown }): Uint8Array {
  return Buffer.isBuffer(body) ? body : new Uint8Array();
}

/** undefined also for what is larger than any ID token. */
function bearerOf({ headers }: Pick<Request, 'headers'>): string | undefined {
  const token = /^bearer +([\w.-]+)$/i.exec(headers.authorization ?? '')?.[1];
  return token && token.length <= RECEIVER_LIMITS.idTokenBytes ? token : undefined;
}

function answer(response: Response, { status, retryAfterSeconds }: CallOutcome): void {
  if (retryAfterSeconds) response.set('Retry-After', String(retryAfterSeconds));
  end(response, status);
}

function end(response: Response, status: number): void {
  response.status(status).end();
}

export function failure({ log }: Pick<ReceiverPorts, 'log'>): ErrorRequestHandler {
  return (error: { status?: number }, request, response, next) => {
    if (response.headersSent) return next(error);
    const status = error.status === 413 ? 413 : error.status && error.status < 500 ? 400 : 500;
    if (status === 500) log.error({ path: request.path.split('/')[1], err: error }, 'receiver failed');
    end(response, status);
  };
}
