/**
 * What others call: `POST /hook/<digest>` opens or closes a Gate, `POST /flagger/confirm` and `/flagger/rollback` ask one.
 * Statuses and empty bodies as Flux's notification-controller: 413, 404, 503, 400, in this order; 429 beside them. Only a path
 * that can be none is 404 before its body is looked at.
 */
import express, { type ErrorRequestHandler, type Express, type Request, type Response } from 'express';
import type { KubeObject, NamespacedName } from '../api/kubernetes.ts';
import type { ReceiverPorts, SignedCall } from '../api/ports.ts';
import type { Gate } from '../api/types.ts';
import { SERVER_LIMITS } from '../server/http/limits.ts';
import { createCallLimit } from './callLimit.ts';
import { createGateLookup, GATES, isWebhookPath } from './gateLookup.ts';

/** Another replica, or a person, may write the Gate in between. */
const ATTEMPTS = 4;

/** Of one path, to this process: calls with the token, and all calls while that is not known. Each costs reads. */
const CALLS_PER_MINUTE = 60;
const LOGGED_PER_MINUTE = 10;
const MAX_KNOWN = 1000;

type Secret = KubeObject<never, never> & { data?: Record<string, string> };

export function createReceiver(ports: ReceiverPorts): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  const lookup = createGateLookup(ports.cluster, ports.now);
  const limit = createCallLimit(ports.now, CALLS_PER_MINUTE);
  const logged = createCallLimit(ports.now, LOGGED_PER_MINUTE);
  const tokens = new KnownTokens();

  /** The answers to callers are empty: this is all that says why. Whoever knows the path must not fill the log. */
  const tellLog = (path: string, { namespace, name }: NamespacedName, { status, reason }: Outcome) => {
    if (reason && logged(path)) {
      ports.log.warn({ gate: `${namespace}/${name}`, status }, `signed call refused: ${reason}`);
    }
  };

  app.post('/hook/:digest', (request, response, next) => {
    if (isWebhookPath(request.path)) next();
    else end(response, 404);
  });
  const raw = express.raw({ type: () => true, limit: SERVER_LIMITS.signedCallBytes, inflate: false });
  app.post('/hook/:digest', raw, async (request: Request<{ digest: string }>, response) => {
    const path = `/hook/${request.params.digest}`;
    const call = callOf(request);
    const known = tokens.get(path);
    const checked = known && ports.decisions.checkCall(known.token, path, call, ports.now());
    if (known && checked && 'problem' in checked) {
      // Costs an HMAC and no read, so it takes nothing from those who have the token.
      tellLog(path, known.gate, { status: 400, reason: checked.problem });
      return end(response, 400);
    }
    const gate = await lookup(path);
    if (!gate) return end(response, 404);
    if (!limit(path)) return end(response.set('Retry-After', '60'), 429);
    const outcome = await take(gate, path, call, ports, tokens);
    tellLog(path, refOf(gate), outcome);
    if (outcome.retryAfterSeconds) response.set('Retry-After', String(outcome.retryAfterSeconds));
    end(response, outcome.status);
  });

  const json = express.json({ type: () => true, limit: SERVER_LIMITS.flaggerBytes, inflate: false });
  app.post(['/flagger/confirm', '/flagger/rollback'], json, async (request, response) => {
    const ref = ports.decisions.flaggerGate(request.body);
    if (!ref) {
      response
        .status(400)
        .type('text')
        .send('expected a Flagger webhook with name, namespace and perhaps metadata.gate\n');
      return;
    }
    const gate = await ports.cluster.get<Gate>({ ...GATES, ...ref });
    const { opened, message } = ports.decisions.flaggerAnswer(ref, gate, ports.now());
    response
      .status(opened ? 200 : 403)
      .type('text')
      .send(`${message}\n`);
  });

  app.all(['/hook/:digest', '/flagger/confirm', '/flagger/rollback'], (_request, response) => {
    end(response.set('Allow', 'POST'), 405);
  });
  app.use((_request, response) => end(response, 404));
  app.use(failure(ports));
  return app;
}

interface Outcome {
  status: number;
  reason?: string;
  retryAfterSeconds?: number;
}

const refOf = ({ metadata }: Gate): NamespacedName => ({ namespace: metadata.namespace!, name: metadata.name! });

/** A path is made of its token: a token that was found to belong to it always will. */
class KnownTokens {
  readonly #byPath = new Map<string, { token: Uint8Array; gate: NamespacedName }>();

  get(path: string) {
    return this.#byPath.get(path);
  }

  add(path: string, token: Uint8Array, gate: NamespacedName): void {
    if (this.#byPath.size >= MAX_KNOWN) this.#byPath.clear();
    this.#byPath.set(path, { token, gate });
  }
}

async function take(
  found: Gate,
  path: string,
  call: SignedCall,
  ports: ReceiverPorts,
  tokens: KnownTokens,
): Promise<Outcome> {
  const ref = refOf(found);
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    // Read again each time: the call may have been used in between.
    const gate = attempt === 0 ? found : await ports.cluster.get<Gate>({ ...GATES, ...ref });
    if (!gate?.spec.receiver) return { status: 404 };
    if (gate.metadata.deletionTimestamp) return { status: 503, reason: 'the Gate is being deleted' };
    const token = await readToken(gate, ref, ports);
    if (token.length === 0) return { status: 503, reason: 'its Secret cannot be read, or has no token' };
    if (ports.decisions.webhookPath(token, ref) !== path)
      return { status: 404, reason: 'the path is of an earlier token' };
    tokens.add(path, token, ref);
    const judgement = ports.decisions.judgeCall(gate, token, path, call, ports.now());
    if (judgement.status !== 200) return judgement;
    if ((await ports.writer.annotate(gate, judgement.annotations)) === 'stored') return { status: 200 };
  }
  return { status: 503, reason: 'others were writing the Gate', retryAfterSeconds: 1 };
}

async function readToken(
  { spec }: Gate,
  { namespace }: NamespacedName,
  { cluster, decisions }: ReceiverPorts,
): Promise<Uint8Array> {
  const name = spec.receiver?.secretRef.name ?? '';
  const secret = await cluster
    .get<Secret>({ apiVersion: 'v1', resource: 'secrets', namespace, name })
    .catch(() => undefined);
  return decisions.tokenBytes(secret?.data?.token);
}

function callOf(request: Request<{ digest: string }>): SignedCall {
  return {
    body: Buffer.isBuffer(request.body) ? request.body : new Uint8Array(),
    signature: request.get('x-signature'),
    timestamp: request.get('x-timestamp'),
    nonce: request.get('x-nonce'),
  };
}

function end(response: Response, status: number): void {
  response.status(status).end();
}

function failure({ log }: ReceiverPorts): ErrorRequestHandler {
  return (error: { status?: number }, request, response, next) => {
    if (response.headersSent) return next(error);
    const status = error.status === 413 ? 413 : error.status && error.status < 500 ? 400 : 500;
    if (status === 500) log.error({ path: request.path.split('/')[1], err: error }, 'receiver failed');
    end(response, status);
  };
}
