/** Express applications from routes: bounded bodies, plain errors, health and metrics. */

import type { IncomingMessage } from 'node:http';
import express, { type ErrorRequestHandler, type Express, type Request, type Response } from 'express';
import type { Route, UnreadBody } from '../../api/ports.ts';
import { createLineLimit } from '../lineLimit.ts';
import type { Logger } from '../log.ts';
import type { ServedMetrics } from '../servedMetrics.ts';
import { createYield } from '../yield.ts';
import { type Body, BodyError, memoryError, memoryOf, parseBody, readBody, readButBusy, SMALL_BYTES } from './body.ts';
import { createFairShare } from './fairShare.ts';
import { createRequestLimit } from './requestLimit.ts';
import { SERVER_LIMITS } from './serverLimits.ts';
import { subjectIn, subjectInBeginning } from './subject.ts';

export interface RefusedCaller {
  status: 401 | 403;
  error: string;
}

interface AppOptions {
  routes: Route[];
  log: Logger;
  metrics: Pick<ServedMetrics, 'request' | 'text' | 'contentType'>;
  /** Why the process is not ready; undefined if it is. */
  notReady(): string | undefined;
  /** Why the caller is refused; undefined if it is not. Runs before the body is read. */
  refuseCaller?: ((request: IncomingMessage) => RefusedCaller | undefined) | undefined;
  /** Serves `/metrics` too. */
  showsMetrics?: boolean;
  /**
   * Answers 429 with Retry-After to a request that is too large or fails here. After any other error Metacontroller
   * doubles its wait, up to a quarter of an hour, even if the cause is gone.
   */
  answers429?: boolean;
  /** Milliseconds within which a body must be complete. */
  completeMs?: number;
  /** Milliseconds after a request's arrival at which a route that fails open answers `answerUnread`. */
  answerMs?: number;
  /** Milliseconds of a monotonic clock. */
  clock?: () => number;
}

export function createApp({
  routes,
  log,
  metrics,
  notReady,
  refuseCaller,
  showsMetrics,
  answers429 = false,
  completeMs = SERVER_LIMITS.bodySeconds * 1000,
  answerMs = SERVER_LIMITS.answerSeconds * 1000,
  clock = () => performance.now(),
}: AppOptions): Express {
  const app = express();
  const refusals = createRefusalLog(log, clock);
  app.disable('x-powered-by');
  app.disable('etag');
  app.use((_request, response, next) => {
    // Clients use a connection that they have kept, even if the replica is no endpoint of the Service any more.
    if (notReady()) response.set('Connection', 'close');
    next();
  });
  app.get('/healthz', (_request, response) => void response.type('text').send('ok\n'));
  app.get('/readyz', (_request, response) => {
    const reason = notReady();
    response
      .status(reason ? 503 : 200)
      .type('text')
      .send(`${reason ?? 'ok'}\n`);
  });
  if (showsMetrics) {
    app.get('/metrics', async (_request, response) => {
      response.type(metrics.contentType).send(await metrics.text());
    });
  }

  const common = createLane();
  for (const route of routes) {
    const lane = route.hasOwnLane ? createLane() : common;
    app
      .route(route.path)
      .post(createHandler(route, lane, { refusals, metrics, refuseCaller, answers429, completeMs, answerMs }))
      .all((_request, response) => {
        answerError(response.set('Allow', 'POST'), 405, `${route.path} takes POST only`);
      });
  }
  app.use((request, response) => answerError(response, 404, `no such endpoint: ${request.path}`));
  app.use(handleExpressError(refusals));
  return app;
}

type HandlerOptions = { refusals: RefusalLog } & Pick<AppOptions, 'metrics' | 'refuseCaller'> &
  Required<Pick<AppOptions, 'answers429' | 'completeMs' | 'answerMs'>>;

/** The handler of a route: reads the body within the limits of the lane, and answers. */
function createHandler(
  { path, answer, answerUnread, failsOpen, namespaceOf, maxBytes = SERVER_LIMITS.bodyBytes }: Route,
  lane: Lane,
  { refusals, metrics, refuseCaller, answers429, completeMs, answerMs }: HandlerOptions,
) {
  const isBusy = () => lane.inFlight >= SERVER_LIMITS.requestsAtOnce;
  return async (request: Request, response: Response): Promise<void> => {
    const end = metrics.request(path);
    const refusal = refuseCaller?.(request);
    if (refusal) {
      end('unauthenticated');
      answerError(response, refusal.status, refusal.error);
      return;
    }
    const late = new AbortController();
    const deadline = failsOpen && setTimeout(() => late.abort(), answerMs);
    let body: unknown;
    try {
      // The body is read even when busy if the answer repeats its beginning.
      if (isBusy() && !answerUnread) throw tooManyRequests(NOT_READ);
      const { bytes, release } = await readBody(request, { maxBytes, share: lane.share, completeMs });
      // Counted only now, so that slow senders do not use up the limits.
      const memory = memoryOf(bytes);
      const error = isBusy() ? tooManyRequests(bytes) : memoryError(bytes, memory, lane.memory);
      if (error) {
        release();
        throw error;
      }
      lane.inFlight++;
      lane.memory += memory;
      const answering = lane
        .turn(bytes.length)
        .then(() => {
          if (late.signal.aborted) return undefined;
          body = parseBody(bytes);
          // A caller that waited too long has gone.
          const answerIfAwaited = () => (response.closed ? undefined : answer(body, late.signal));
          return namespaceOf ? withinLimit(namespaceOf(body), lane, bytes, answerIfAwaited) : answer(body, late.signal);
        })
        // Not when the request is answered: a decision that is late still needs its body.
        .finally(() => {
          lane.inFlight--;
          lane.memory -= memory;
          release();
        });
      response.json(await inTime(answering, late.signal, { bytes, answerMs }));
      end('answered');
    } catch (error) {
      const unread = error instanceof BodyError ? error.unread : undefined;
      const instead = unread && (await answerUnread?.(unread));
      // Otherwise a slow sender would continue.
      if (unread?.why === 'slow') response.set('Connection', 'close');
      if (instead) response.json(instead);
      else refuse(error, response, answers429);
      end(unread ? OUTCOMES[unread.why] : 'refused');
      void refusals.ofRequest(error, body, path);
    } finally {
      clearTimeout(deadline);
    }
  };
}

const OUTCOMES = { tooLarge: 'too_large', busy: 'busy', slow: 'refused' } as const;

type Lane = ReturnType<typeof createLane>;

/** The limits shared by the requests of some routes. */
function createLane() {
  // Separate queues, so that a small body waits for one large body at most.
  const [large, small] = [createYield(), createYield()];
  const turn = (bytes: number) => (bytes > SMALL_BYTES ? large : small)();
  const { answeredOfNamespace: perKey, requestsAtOnce: atOnce } = SERVER_LIMITS;
  const limit = createRequestLimit({ perKey, atOnce });
  return { share: createFairShare(SERVER_LIMITS.bodyBytesAtOnce), inFlight: 0, memory: 0, turn, limit };
}

/** The answer, once fewer requests of the namespace are being answered. */
async function withinLimit(namespace: string, { limit }: Lane, bytes: Buffer, answer: () => unknown): Promise<unknown> {
  if (!(await limit.enter(namespace))) throw readButBusy(bytes, 'too many requests of one namespace at once');
  try {
    return await answer();
  } finally {
    limit.leave(namespace);
  }
}

/** The answer, or an error after `answerMs`. Without an answer in time, the API server would admit the write. */
function inTime(
  answering: Promise<unknown>,
  late: AbortSignal,
  { bytes, answerMs }: Pick<Body, 'bytes'> & { answerMs: number },
): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const refuse = () => reject(readButBusy(bytes, `there is no decision after ${answerMs / 1000} s`));
    if (late.aborted) refuse();
    late.addEventListener('abort', refuse);
    answering.then(resolve, reject);
  });
}

const NOT_READ = Buffer.alloc(0);
const tooManyRequests = (bytes: Buffer) => readButBusy(bytes, 'too many requests at once, try again in 1 s');

interface Refused {
  status?: number;
  message?: string;
  retryAfterSeconds?: number;
  unread?: UnreadBody | undefined;
}

/** Whether the error has an HTTP status, because the request is wrong. Any other error is a fault of this server. */
const hasErrorStatus = ({ status }: Refused): boolean => typeof status === 'number' && status >= 400 && status < 600;

/**
 * Retry-After in seconds for a caller that would otherwise back off ever longer: its request is too large, or failed
 * for another cause, which may soon be gone.
 */
const AGAIN_SECONDS = { tooLarge: 60, failed: 3 };

/** Answers an error with one sentence; the stack stays in the log. */
function refuse(error: unknown, response: Response, answers429: boolean): void {
  const { status: known, message, retryAfterSeconds } = error as Refused;
  const status = hasErrorStatus(error as Refused) ? known! : 500;
  const again =
    status === 413 ? AGAIN_SECONDS.tooLarge : status >= 500 || status === 408 ? AGAIN_SECONDS.failed : undefined;
  const wait = retryAfterSeconds ?? (status === 429 ? 1 : answers429 ? again : undefined);
  if (wait) response.set('Retry-After', String(Math.ceil(wait)));
  answerError(response, answers429 && again !== undefined ? 429 : status, message || 'internal error');
}

/** Answers as text: the API server quotes it in the error of the write, but reports a JSON body as "unknown". */
function answerError(response: Response, status: number, message: string): void {
  response.status(status).type('text').send(message);
}

type RefusalLog = ReturnType<typeof createRefusalLog>;

/**
 * Log lines about refused requests, limited to sixty a minute for each route and status, because some peers need no
 * credentials.
 */
function createRefusalLog(log: Logger, clock: () => number) {
  const limited = createLineLimit(log, clock);
  return {
    async ofRequest(error: unknown, body: unknown, route: string): Promise<void> {
      const { status, message, unread } = error as Refused;
      const about = unread ? subjectInBeginning(await unread.beginning) : subjectIn(body);
      const isFault = !hasErrorStatus(error as Refused);
      // A hook that waits for a cache answers 429: nothing is wrong.
      if (status === 429) return log.debug({ route, ...about, status }, message);
      limited(`${route} ${isFault ? 'failed' : status}`, { route, ...(!isFault && { status }) }, () => {
        if (isFault) log.error({ route, ...about, err: error }, 'request failed');
        else log.warn({ route, ...about, status }, message);
      });
    },
    /** Logs a request that Express itself refused. The path is the peer's text, so it isn't part of the key. */
    ofPath(route: string, status: number, message: string): void {
      limited(`${status}`, { status }, () => log.warn({ route, status }, message));
    },
  };
}

/** Answers errors of Express itself, such as a path that cannot be decoded. */
function handleExpressError(refusals: RefusalLog): ErrorRequestHandler {
  return (error: { status?: number; message?: string }, request, response, next) => {
    if (response.headersSent) return next(error);
    const status = error.status ?? 500;
    const message = status < 500 ? (error.message ?? 'bad request') : 'internal error';
    refusals.ofPath(request.path, status, message);
    answerError(response, status, message);
  };
}
