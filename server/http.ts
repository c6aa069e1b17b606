/** Express applications from routes: bounded bodies, plain errors, health and metrics. */
import express, { type ErrorRequestHandler, type Express, type Request, type Response } from 'express';
import type { Route } from '../api/ports.ts';
import type { Logger } from './log.ts';
import type { Metrics } from './metrics.ts';

/** Two 3 MB objects and room (DESIGN section 4); more is 413. */
export const MAX_BODY_BYTES = 7 * 1024 * 1024;
/** More requests at once are told to come back: 429 is what Metacontroller takes as backpressure. */
const MAX_IN_FLIGHT = 256;

export interface AppOptions {
  routes: Route[];
  log: Logger;
  metrics: Metrics;
  /** Why the process is not ready yet; undefined when it is. */
  notReady(): string | undefined;
  /** Routers mounted before the JSON routes, with bodies of their own. */
  routers?: express.Router[];
}

export function createApp({ routes, log, metrics, notReady, routers = [] }: AppOptions): Express {
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
  app.get('/metrics', async (_request, response) => {
    response.type(metrics.contentType).send(await metrics.text());
  });
  for (const router of routers) app.use(router);

  const json = express.json({ limit: MAX_BODY_BYTES, strict: true, type: () => true });
  let inFlight = 0;
  for (const route of routes) {
    app.post(route.path, json, async (request: Request, response: Response) => {
      const end = metrics.request(route.path);
      if (inFlight >= MAX_IN_FLIGHT) {
        end('busy');
        response.status(429).set('Retry-After', '1').json({ error: 'too many requests at once, try again in 1 s' });
        return;
      }
      inFlight++;
      try {
        response.json(await route.answer(request.body));
        end('answered');
      } catch (error) {
        refuse(error, response, log, route.path);
        end('refused');
      } finally {
        inFlight--;
      }
    });
    app.all(route.path, (_request, response) => {
      response
        .status(405)
        .set('Allow', 'POST')
        .json({ error: `${route.path} takes POST only` });
    });
  }
  app.use((request, response) => void response.status(404).json({ error: `no such endpoint: ${request.path}` }));
  app.use(bodyError(log));
  return app;
}

/** The reader gets one sentence; the stack stays in the log. */
function refuse(error: unknown, response: Response, log: Logger, route: string): void {
  const { status, message, retryAfterSeconds } = error as {
    status?: number;
    message?: string;
    retryAfterSeconds?: number;
  };
  const known = typeof status === 'number' && status >= 400 && status < 600;
  if (known) log.warn({ route, status }, message);
  else log.error({ route, err: error }, 'request failed');
  if (retryAfterSeconds) response.set('Retry-After', String(Math.ceil(retryAfterSeconds)));
  response.status(known ? status : 500).json({ error: message || 'internal error' });
}

function bodyError(log: Logger): ErrorRequestHandler {
  return (error: { status?: number; type?: string; message?: string }, request, response, next) => {
    if (response.headersSent) return next(error);
    const status = error.status ?? 500;
    const message =
      status === 413
        ? `the body is larger than ${MAX_BODY_BYTES} bytes`
        : error.type === 'entity.parse.failed'
          ? 'the body is not JSON'
          : status < 500
            ? (error.message ?? 'bad request')
            : 'internal error';
    log.warn({ route: request.path, status }, message);
    response.status(status).json({ error: message });
  };
}
