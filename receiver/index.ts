/**
 * The receiver's endpoints: `POST /hook/<digest>` (signed) and `POST /hook/<namespace>/<name>` (with an ID token) open
 * or close a Gate; `POST /flagger/confirm` and `/flagger/rollback` answer whether a Gate is open. Statuses and empty
 * bodies are those of Flux's notification-controller: 413, 404, 503, 400, in this order, and 429. Only a path that
 * can't belong to a Gate gets 404 before the body is read.
 */
import express, {
  type ErrorRequestHandler,
  type Express,
  type Request,
  type RequestHandler,
  type Response,
} from 'express';
import { GATES } from '../api/kinds.ts';
import type { EpochMs, NamespacedName, Secret } from '../api/kubernetes.ts';
import { COUNTERS } from '../api/metrics.ts';
import type { ClusterReader, Counters, ReceiverPorts } from '../api/ports.ts';
import type { Gate } from '../api/types.ts';
import { identityOf } from '../core/kube/names.ts';
import { flaggerAnswer, flaggerGate } from '../core/receiver/flagger.ts';
import {
  claimProblem,
  decideIdTokenCall,
  type IdTokenCall,
  idTokenPath,
  oidcProblem,
} from '../core/receiver/idToken.ts';
import { checkCall, decideCall, type SignedCall, tokenBytes, webhookPath } from '../core/receiver/signedCall.ts';
import { answerCall, type CallOutcome, createCallLimit, createLimits, MAX_LINES_PER_MINUTE } from './answerCall.ts';

/** docs/reference/limits.md is generated from this table. */
export const RECEIVER_LIMITS = {
  /** Bytes of the body of a signed call, or of one with an ID token. */
  signedCallBytes: 8 * 1024,
  /** Characters of an ID token. */
  idTokenBytes: 8 * 1024,
  /** Bytes of a Flagger webhook's body. */
  flaggerBytes: 64 * 1024,
  /** Requests for inputs in a minute, for one user, and for all tokens together that were never accepted. */
  inputsPerMinute: 600,
} as const;

const HOOKS = ['/hook/:digest', '/hook/:namespace/:name'];

export function createReceiver(ports: ReceiverPorts): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.use(countRequests(ports.metrics));
  const handleCall = createCallHandler(ports);
  const handleIdTokenCall = createIdTokenCallHandler(ports);

  app.post(HOOKS, (request, response, next) => {
    if (WEBHOOK_PATH.test(request.path) || ID_TOKEN_PATH.test(request.path)) next();
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
    // The parsed body may take thirty times its bytes, and the request waits for the API server.
    delete request.body;
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
  app.use(handleFailure(ports));
  return app;
}

const { endpoint: ENDPOINTS, code: CODES } = COUNTERS.rollout_hooks_receiver_requests_total.labels;

/** Counts requests to our endpoints, by the status of the answer. */
export function countRequests(metrics: Counters): RequestHandler {
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

/** The bearer token; undefined if there is none, or if it is larger than any ID token. */
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

/** Answers an error: with its status if the caller caused it, otherwise with 500. */
export function handleFailure({ log, now }: Pick<ReceiverPorts, 'log' | 'now'>): ErrorRequestHandler {
  const isLogged = createCallLimit(now, MAX_LINES_PER_MINUTE);
  return (error: { status?: number }, request, response, next) => {
    if (response.headersSent) return next(error);
    const status = error.status === 413 ? 413 : error.status && error.status < 500 ? 400 : 500;
    // Express ignores the case of paths.
    const path = request.path.split('/')[1]!.toLowerCase();
    if (status === 500 && isLogged(path)) log.error({ path, err: error }, 'receiver failed');
    end(response, status);
  };
}

// A call with an OIDC ID token, from its path to the annotations that carry the request to the Gate.

/** Paths that may belong to a Gate, decided before anything is read. */
const ID_TOKEN_PATH = /^\/hook\/[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\/[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/;

function createIdTokenCallHandler(
  ports: ReceiverPorts,
): (ref: NamespacedName, call: IdTokenCall) => Promise<CallOutcome> {
  const { isWithinLimit, withLog } = createLimits(ports);

  return async (ref, call) => {
    const path = idTokenPath(ref);
    const found = call.token ? await ports.cluster.get<Gate>({ ...GATES, ...ref }) : undefined;
    const { oidc } = found?.spec.receiver ?? {};
    if (!call.token) return { status: 400 };
    if (!found || !oidc) return { status: 404 };
    const refuse = (status: 400 | 503, reason: string) => withLog(path, ref, { status, reason });
    const unready = oidcProblem(found, oidc, ports.oidcIssuers);
    if (unready) return refuse(503, unready.problem);
    const verified = await ports.idTokens.verify(call.token, oidc.issuer, ports.now());
    if ('problem' in verified) return refuse(verified.isTemporary ? 503 : 400, verified.problem);
    // Any account of the issuer gets this far, so only callers that the Gate lists count towards the limit.
    const wrong = claimProblem(oidc, verified.claims);
    if (wrong !== undefined) return refuse(400, wrong);
    if (!isWithinLimit(path)) return { status: 429, retryAfterSeconds: 60 };
    const decide = async (gate: Gate) => decideIdTokenCall(gate, call, verified.claims, ports.now());
    return withLog(path, ref, await answerCall(found, decide, ports));
  };
}

// A signed call, from its path to the annotations that carry the request to the Gate.

const MAX_KNOWN_TOKENS = 1000;

function createCallHandler(ports: ReceiverPorts): (path: string, call: SignedCall) => Promise<CallOutcome> {
  const lookup = createGateLookup(ports.cluster, ports.now);
  const { isWithinLimit, withLog } = createLimits(ports);
  /** The tokens by path. A path is derived from its token, so it belongs to that token forever. */
  const tokens = new Map<string, { token: Uint8Array; gate: NamespacedName }>();

  return async (path, call) => {
    const known = tokens.get(path);
    const checked = known && checkCall(known.token, path, call, ports.now());
    if (known && checked && 'problem' in checked) {
      // This costs an HMAC but no read, so it doesn't count towards the limit for callers who have the token.
      return withLog(path, known.gate, { status: 400, reason: checked.problem });
    }
    const found = await lookup(path);
    if (!found) return { status: 404 };
    if (!isWithinLimit(path)) return { status: 429, retryAfterSeconds: 60 };
    const ref = identityOf(found);
    const outcome = await answerCall(
      found,
      async (gate) => {
        if (!gate.spec.receiver?.secretRef) return { status: 404 };
        const token = await readToken(gate.spec.receiver.secretRef.name, ref, ports);
        if (token.length === 0) return { status: 503, reason: 'its Secret cannot be read, or has no token' };
        if (webhookPath(token, ref) !== path) return { status: 404, reason: 'the path belongs to an earlier token' };
        if (tokens.size >= MAX_KNOWN_TOKENS) tokens.clear();
        tokens.set(path, { token, gate: ref });
        return decideCall(gate, token, path, call, ports.now());
      },
      ports,
    );
    return withLog(path, ref, outcome);
  };
}

async function readToken(name: string, { namespace }: NamespacedName, { cluster }: ReceiverPorts): Promise<Uint8Array> {
  const secret = await cluster
    .get<Secret>({ apiVersion: 'v1', resource: 'secrets', namespace, name })
    .catch(() => undefined);
  return tokenBytes(secret?.data?.token);
}

// The Gate of a path. Any client can send unknown paths, so these must not cost a list each.

/** The shortest time between two lists, and so the delay until the path of a new Gate is known. */
const LIST_INTERVAL_MS = 2000;
/** Paths that may belong to a Gate, decided before anything is read. */
const WEBHOOK_PATH = /^\/hook\/[0-9a-f]{64}$/;

/** A function that reads the Gate of a path live; only the paths of the Gates are cached. */
function createGateLookup(cluster: ClusterReader, now: () => EpochMs) {
  let paths = new Map<string, NamespacedName>();
  let listedAt = Number.NEGATIVE_INFINITY;
  let listing: Promise<void> | undefined;

  const list = async () => {
    const found = new Map<string, NamespacedName>();
    for await (const page of cluster.pages<Gate>(GATES)) {
      for (const { metadata, status } of page) {
        const path = status?.webhookPath ?? '';
        if (WEBHOOK_PATH.test(path)) found.set(path, identityOf({ metadata }));
      }
    }
    return found;
  };

  /** Resolves after the newest list. If that failed, the next caller lists again. */
  const listed = (): Promise<void> => {
    if (listing && Math.abs(now() - listedAt) < LIST_INTERVAL_MS) return listing;
    listedAt = now();
    const begun = list().then(
      (found) => {
        // A slow list may end after a newer one.
        if (listing === begun) paths = found;
      },
      (error) => {
        if (listing === begun) listing = undefined;
        throw error;
      },
    );
    listing = begun;
    return begun;
  };

  return async (path: string): Promise<Gate | undefined> => {
    if (!WEBHOOK_PATH.test(path)) return undefined;
    // Known paths don't wait: any client can cause a list, which may hang or fail.
    if (!paths.has(path)) await listed();
    const ref = paths.get(path);
    const gate = ref && (await cluster.get<Gate>({ ...GATES, ...ref }));
    if (ref && gate?.status?.webhookPath !== path) paths.delete(path);
    return gate?.status?.webhookPath === path ? gate : undefined;
  };
}
