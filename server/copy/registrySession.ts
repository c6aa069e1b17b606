/**
 * Requests to one repository of a registry, with the login that it requires. Credentials are sent to its own host and
 * token server only.
 */
import { type Dispatcher, request } from 'undici';
import { retryAfterMs } from '../http/retryAfter.ts';
import { createLogin } from '../registry/authorize.ts';
import type { Credentials } from '../registry/dockerConfig.ts';
import { RegistryError } from '../registry/error.ts';
import { type BoundedRequest, boundedFetch, type RegistryAnswer, unreachable } from '../registry/http.ts';
import type { Image } from '../registry/image.ts';
import type { RegistrySockets } from '../registry/sockets.ts';
import type { Trust } from '../registry/trust.ts';

const REQUEST_MS = 60_000;

export type Side = 'source' | 'target';

interface SessionOptions {
  side: Side;
  image: Image;
  /** Plain HTTP. */
  insecure: boolean;
  credentials?: Credentials | undefined;
  trust?: Trust | undefined;
  sockets: RegistrySockets;
  /** Why there are no credentials although a Secret was given. */
  problem?: string | undefined;
  /** Another repository of the same registry, from which blobs are mounted. */
  mountFrom?: string | undefined;
  /** The longest time in milliseconds that a stream may stall. */
  idleMs: number;
  retries: Retries;
}

/** A path in the repository, such as `manifests/1.1.0`, or a URL on the same host. */
type Where = string | URL;

/**
 * The path and query of a registry's link, at the known address. A registry behind a proxy may link to http: or an
 * internal port, where the login must not be sent. The path may begin with //, so it isn't resolved against the
 * address.
 */
export function atKnownAddress({ pathname, search }: URL, known: URL): URL {
  const address = new URL(known);
  address.pathname = pathname;
  address.search = search;
  return address;
}

export interface Session {
  side: Side;
  /** `host/path`. */
  name: string;
  image: Image;
  /** A complete answer, after retries; 401 only if the credentials are insufficient. */
  ask(
    where: Where,
    options?: Partial<Pick<BoundedRequest, 'method' | 'headers' | 'body' | 'maxBytes' | 'returnsForeignRedirect'>>,
  ): Promise<RegistryAnswer>;
  /** The answer to one attempt. The caller reads or drops its body. Redirects are not followed. */
  exchange(
    where: Where,
    options: Pick<Dispatcher.RequestOptions, 'method' | 'headers' | 'body'>,
  ): Promise<Dispatcher.ResponseData>;
  /** The answer to a GET on another host, to which the registry redirects for a blob. No credentials are sent. */
  getElsewhere(url: URL): Promise<Dispatcher.ResponseData>;
  /** The error for an answer, with what to do. @param what `to show the manifest 1.1.0` */
  refusal(
    status: number,
    what: string,
    details?: { code?: string | undefined; retryAfter?: Parameters<typeof retryAfterMs>[0] },
  ): RegistryError;
  retry<T>(attempt: () => Promise<T>): Promise<T>;
  url(where: Where): URL;
  close(): Promise<void>;
}

export function createSession(options: SessionOptions): Session {
  const { side, image, insecure, credentials, trust, problem, sockets, idleMs, retries } = options;
  const { signal } = retries;
  const name = `${image.host}/${image.repository}`;
  const timeouts = { headersTimeout: idleMs, bodyTimeout: idleMs };
  const agent = sockets.agent(timeouts, { timeout: idleMs, ...trust });
  // The client certificate is for the registry alone.
  const elsewhere = sockets.agent(timeouts, { timeout: idleMs, ...(trust?.ca && { ca: trust.ca }) });
  const base = new URL(`${insecure ? 'http' : 'https'}://${image.host}/v2/${image.repository}/`);
  const scopes = [`repository:${image.repository}:${side === 'source' ? 'pull' : 'pull,push'}`];
  if (options.mountFrom) scopes.push(`repository:${options.mountFrom}:pull`);
  const connections = () => ({ dispatcher: agent, signal: AbortSignal.any([signal, AbortSignal.timeout(REQUEST_MS)]) });
  const url = (where: Where) => (typeof where === 'string' ? new URL(where, base) : where);
  const login = createLogin({ image, insecure, credentials, scopes }, connections);
  const withLogin = (headers?: object) => ({ 'user-agent': 'rollout-hooks', ...headers, ...login.headers() });

  async function requestOnce(where: Where, rest: Partial<BoundedRequest>): Promise<RegistryAnswer> {
    const answer = await login.send(() =>
      boundedFetch({ maxBytes: 0, ...rest, url: url(where), headers: withLogin(rest.headers), ...connections() }),
    );
    if (isTransient(answer.status)) {
      throw session.refusal(answer.status, `${rest.method ?? 'GET'} ${pathOf(url(where))}`, {
        code: answer.errorCode,
        retryAfter: answer.headers.get('retry-after'),
      });
    }
    return answer;
  }

  async function sendTo(to: URL, options: object, dispatcher: Dispatcher): Promise<Dispatcher.ResponseData> {
    try {
      return await request(to, { ...options, dispatcher, signal });
    } catch (error) {
      throw error instanceof RegistryError ? error : unreachable(to, error);
    }
  }

  /** Runs the work. Its errors name the registry as the source or the target. */
  const named = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof RegistryError) || /^the (source|target)\b/.test(error.message)) throw error;
      const why = error.failure === 'Denied' && problem ? `; its Secret: ${problem}` : '';
      throw new RegistryError(`the ${side}: ${error.message}${why}`, error.failure, error);
    }
  };

  const session: Session = {
    side,
    name,
    image,
    url,
    ask: (where, rest = {}) => session.retry(() => named(() => requestOnce(where, rest))),
    exchange: (where, { headers, ...rest }) =>
      named(async () => {
        const send = () => sendTo(url(where), { ...rest, headers: withLogin(headers as object) }, agent);
        const response = await send();
        if (response.statusCode !== 401) return response;
        await response.body.dump();
        await login.renew(textOf(response.headers['www-authenticate']));
        // A stream can't be sent twice, so this attempt fails. The next one has the login.
        if (rest.body) throw new RegistryError(`${image.host} requires another login`, 'Denied', { transient: true });
        return send();
      }),
    getElsewhere: (to) =>
      named(() => sendTo(to, { method: 'GET', headers: { 'user-agent': 'rollout-hooks' } }, elsewhere)),
    refusal(status, what, { code, retryAfter } = {}) {
      const answer = `${status}${code ? ` ${code}` : ''}`;
      const right = side === 'source' ? `pull from ${name}` : `pull from and push to ${name}`;
      const why = problem ? `; its Secret: ${problem}` : '';
      if (status === 401 || status === 403) {
        const text = `the ${side} ${image.host} refuses ${what} (${answer}): its credentials need the right to ${right}${why}`;
        return new RegistryError(text, 'Denied');
      }
      if (side === 'target' && (status === 413 || status === 507)) {
        const text = `the target ${image.host} is full (${answer}): make room there, or raise its quota`;
        return new RegistryError(text, 'Full');
      }
      const text = `the ${side} ${image.host} answers ${answer} to ${what}`;
      if (side === 'target' && status === 404) {
        return new RegistryError(`${text}: create ${name} there, if the registry requires it`, 'NotFound');
      }
      const failure = isTransient(status) ? 'Unavailable' : status === 404 ? 'NotFound' : 'Invalid';
      return new RegistryError(text, failure, { retryAfterMs: retryAfterMs(retryAfter) ?? 0 });
    },
    retry: (attempt) => withRetries(attempt, retries),
    async close() {
      await Promise.all([agent.destroy(), elsewhere.destroy()]);
    },
  };
  return session;
}

function isTransient(status: number): boolean {
  return status === 408 || status === 429 || (status >= 500 && status !== 501 && status !== 505 && status !== 507);
}

/** Without the query, which may hold secrets. */
function pathOf({ pathname }: URL): string {
  return pathname.slice(0, 300);
}

function textOf(header: string | string[] | undefined): string | null {
  return (Array.isArray(header) ? header[0] : header) ?? null;
}

// Retries of requests that may succeed the next time.

const FIRST_WAIT_MS = 500;
/** The longest wait, even if the registry's Retry-After is longer. */
const LONGEST_WAIT_MS = 60_000;

export interface Retries {
  /** The most attempts of one request. */
  attempts: number;
  /** Ends the copy. */
  signal: AbortSignal;
  wait(ms: number): Promise<unknown>;
  /** From 0 to 1. */
  random(): number;
  say(line: string): void;
}

/** The result of the first attempt that succeeds. @throws the last attempt's error, or why the copy was ended */
async function withRetries<T>(attempt: () => Promise<T>, retries: Retries): Promise<T> {
  const { attempts, signal, wait, random, say } = retries;
  for (let made = 1; ; made++) {
    try {
      return await attempt();
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof RegistryError) || !error.transient) throw error;
      if (made === attempts) {
        throw new RegistryError(`${error.message}, ${attempts} times`, error.failure, { transient: false });
      }
      const backoff = FIRST_WAIT_MS * 2 ** (made - 1) * (0.5 + random() / 2);
      const ms = Math.round(Math.min(Math.max(error.retryAfterMs, backoff), LONGEST_WAIT_MS));
      say(`${error.message}: attempt ${made} of ${attempts}, the next in ${ms} ms`);
      await wait(ms);
      signal.throwIfAborted();
    }
  }
}
