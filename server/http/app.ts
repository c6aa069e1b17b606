/** Express applications from routes: bounded bodies, plain errors, health and metrics. */
import type { IncomingMessage } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import express, { type ErrorRequestHandler, type Express, type Request, type Response } from 'express';
import type { Route, UnreadBody } from '../../api/ports.ts';
import type { Logger } from '../log.ts';
import type { ServedMetrics } from '../metrics.ts';
import { type Body, BodyError, parseBody, readBody, SMALL_BYTES } from './body.ts';
import { createFairShare } from './fairShare.ts';
import { SERVER_LIMITS } from './limits.ts';
import { subjectIn, subjectInBeginning } from './subject.ts';

export interface Refusal {
  status: 401 | 403;
  error: string;
}

export interface AppOptions {
  routes: Route[];
  log: Logger;
  metrics: ServedMetrics;
  /** Why the process is not ready yet; undefined when it is. */
  notReady(): string | undefined;
  /** Why the caller is turned away; undefined when it is not. Runs before the body is read. */
  refuseCaller?: ((request: IncomingMessage) => Refusal | undefined) | undefined;
  /** Serves `/metrics` too. */
  showsMetrics?: boolean;
  /**
   * Answers 429 with Retry-After where a request is too large or fails here: Metacontroller would wait twice as long after each failure, up to
   * a quarter of an hour, whatever has become of the cause.
   */
  asksAgain?: boolean;
  /** Milliseconds until a body is complete. */
  completeMs?: number;
}

export function createApp({
  routes,
  log,
  metrics,
  notReady,
  refuseCaller,
  showsMetrics,
  asksAgain = false,
  completeMs = SERVER_LIMITS.bodySeconds * 1000,
}: AppOptions): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
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
  for (const { path, answer, answerUnread, maxBytes = SERVER_LIMITS.bodyBytes, apart } of routes) {
    const lane = apart ? createLane() : common;
    const isBusy = () => lane.inFlight >= SERVER_LIMITS.requestsAtOnce;
    app.post(path, async (request: Request, response: Response) => {
      const end = metrics.request(path);
      const refusal = refuseCaller?.(request);
      if (refusal) {
        end('unauthenticated');
        response.status(refusal.status).json({ error: refusal.error });
        return;
      }
      if (isBusy()) return tellBusy(response, end);
      let held: Body | undefined;
      let body: unknown;
      try {
        held = await readBody(request, { maxBytes, share: lane.share, completeMs });
        const { bytes } = held;
        // Counted only now, so that slow senders do not use up the limit.
        if (isBusy()) return tellBusy(response, end);
        lane.inFlight++;
        try {
          response.json(
            await lane.turn(bytes.length, async () => {
              body = parseBody(bytes);
              return answer(body);
            }),
          );
          end('answered');
        } finally {
          lane.inFlight--;
        }
      } catch (error) {
        const unread = error instanceof BodyError ? error.unread : undefined;
        const instead = unread && (await answerUnread?.(unread));
        // Whoever sends slowly would go on.
        if (unread?.why === 'slow') response.set('Connection', 'close');
        if (instead) response.json(instead);
        else refuse(error, response, asksAgain);
        end(unread?.why === 'tooLarge' ? 'too_large' : 'refused');
        void logRefusal(error, body, path, log);
      } finally {
        held?.release();
      }
    });
    app.all(path, (_request, response) => {
      response
        .status(405)
        .set('Allow', 'POST')
        .json({ error: `${path} takes POST only` });
    });
  }
  app.use((request, response) => void response.status(404).json({ error: `no such endpoint: ${request.path}` }));
  app.use(unexpected(log));
  return app;
}

/** What the requests of some routes share. */
function createLane() {
  return { share: createFairShare(SERVER_LIMITS.bodyBytesAtOnce), inFlight: 0, turn: createTurns() };
}

/** Large bodies are parsed one after another, and whoever else is waiting comes between: a small one waits for one of them at most. */
function createTurns() {
  let last: Promise<unknown> = Promise.resolve();
  return async <T>(bytes: number, answer: () => Promise<T>): Promise<T> => {
    if (bytes <= SMALL_BYTES) return answer();
    // Not awaited here: what an answer reads of the cluster keeps nobody waiting.
    const begun = last.then(() => setImmediate()).then(() => ({ answering: answer() }));
    last = begun;
    return (await begun).answering;
  };
}

function tellBusy(response: Response, end: (outcome: string) => void): void {
  end('busy');
  response.status(429).set('Retry-After', '1').json({ error: 'too many requests at once, try again in 1 s' });
}

interface Refused {
  status?: number;
  message?: string;
  retryAfterSeconds?: number;
  unread?: UnreadBody | undefined;
}

/** An error that says what is wrong with the request; any other is ours. */
const isKnown = ({ status }: Refused): boolean => typeof status === 'number' && status >= 400 && status < 600;

/** Seconds until a caller that backs off without end is asked to come again: after what lies in its own request, and after what does not. */
const AGAIN_SECONDS = { tooLarge: 60, failed: 3 };

/** The caller gets one sentence; the stack stays in the log. */
function refuse(error: unknown, response: Response, asksAgain: boolean): void {
  const { status: known, message, retryAfterSeconds } = error as Refused;
  const status = isKnown(error as Refused) ? known! : 500;
  const again =
    status === 413 ? AGAIN_SECONDS.tooLarge : status >= 500 || status === 408 ? AGAIN_SECONDS.failed : undefined;
  const wait = retryAfterSeconds ?? (status === 429 ? 1 : asksAgain ? again : undefined);
  if (wait) response.set('Retry-After', String(Math.ceil(wait)));
  response.status(asksAgain && again !== undefined ? 429 : status).json({ error: message || 'internal error' });
}

async function logRefusal(error: unknown, body: unknown, route: string, log: Logger): Promise<void> {
  const { status, message, unread } = error as Refused;
  const about = unread ? subjectInBeginning(await unread.beginning) : subjectIn(body);
  if (!isKnown(error as Refused)) log.error({ route, ...about, err: error }, 'request failed');
  // A hook that waits for a cache asks to be called again: nothing is wrong.
  else if (status === 429) log.debug({ route, ...about, status }, message);
  else log.warn({ route, ...about, status }, message);
}

/** Errors of Express itself, such as a path that cannot be decoded. */
function unexpected(log: Logger): ErrorRequestHandler {
  return (error: { status?: number; message?: string }, request, response, next) => {
    if (response.headersSent) return next(error);
    const status = error.status ?? 500;
    const message = status < 500 ? (error.message ?? 'bad request') : 'internal error';
    log.warn({ route: request.path, status }, message);
    response.status(status).json({ error: message });
  };
}
