/**
 * The request listener of the page in a cluster: identifies the reader, checks that the request comes from the page,
 * and answers with the reader's rights.
 */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { EpochMs } from '../../api/kubernetes.ts';
import { isApiError } from '../../connection/kube/kubeClient.ts';
import type { Logger } from '../../server/log.ts';
import type { Assets } from '../assets.ts';
import { type PageRefusal, refuseHost, SECURITY_HEADERS } from '../guard.ts';
import { answerApi, answerAsset, answerJson, refuse, urlOf } from '../server.ts';
import { createRateLimit, localPath, refuseEmbedded, refuseStranger } from './callers.ts';
import { type CookieJar, clearCookie } from './cookies.ts';
import { type Identity, isIdentity } from './identity.ts';
import { messagePage } from './messagePage.ts';
import type { ReaderPages } from './readerPages.ts';
import { CALLBACK, type Pending, type SignIn, SignInError } from './signIn.ts';

export interface Reader {
  identity: Identity;
  /** The end of the session. */
  until: EpochMs;
}

/** The way in which readers sign in. */
export type SignInMethod =
  | { by: 'issuer'; signIn: SignIn; jar: CookieJar }
  /** `readerOf`: the reader in the proxy's headers, only for requests with the proxy's certificate. */
  | { by: 'proxy'; readerOf(request: IncomingMessage): Reader | PageRefusal };

interface AppOptions {
  origin: string;
  assets: Assets;
  method: SignInMethod;
  readerPages: ReaderPages;
  log: Logger;
  now(): number;
  notReady(): string | undefined;
}

const LIMITS = {
  reader: { perSecond: 20, burst: 100 },
  allReaders: { perSecond: 300, burst: 1000 },
  /** Starts of sign-ins, and ends of those that were started, of all readers together. */
  signIns: { perSecond: 10, burst: 60 },
  streamsOfReader: 20,
  requestsOfReaderAtOnce: 20,
} as const;

export const SIGN_OUT = '/sign-out';
const TOO_MANY_REQUESTS = 'Too many requests. Try again in a moment.';

export function createPageApp(options: AppOptions): RequestListener {
  const { origin, log, now, notReady } = options;
  const headers = {
    ...SECURITY_HEADERS,
    ...(origin.startsWith('https:') && { 'strict-transport-security': 'max-age=31536000' }),
  };
  const hosts = [new URL(origin).host];
  const limits = createLimits(now);
  return (request, response) => {
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    if (request.url === '/healthz') return answerText(response, 200, 'ok');
    if (request.url === '/readyz') return answerText(response, notReady() ? 503 : 200, notReady() ?? 'ok');
    const refusal = refuseHost(request.headers, hosts);
    if (refusal) return refuse(response, refusal);
    answer(request, response, { ...options, limits }).catch((error: Error) => {
      log.error({ error }, 'a request of the page failed');
      if (response.headersSent) response.destroy();
      else if (isApiError(error)) answerJson(response, 502, { message: error.message });
      else answerJson(response, 500, { message: "Internal error: see the log of the page's server." });
    });
  };
}

const createLimits = (now: () => number) => ({
  reader: createRateLimit({ ...LIMITS.reader, now }),
  allReaders: createRateLimit({ ...LIMITS.allReaders, now }),
  signIns: createRateLimit({ ...LIMITS.signIns, now }),
  finishedSignIns: createRateLimit({ ...LIMITS.signIns, now }),
  /** Requests that are being answered, by user. */
  atOnce: new Map<string, number>(),
});

type AnswerOptions = AppOptions & { limits: ReturnType<typeof createLimits> };

async function answer(request: IncomingMessage, response: ServerResponse, options: AnswerOptions): Promise<void> {
  const { method, assets } = options;
  // Behind a proxy, only requests from the proxy are answered.
  const known = method.by === 'proxy' ? method.readerOf(request) : undefined;
  if (known && 'status' in known) return refuse(response, known);
  const target = urlOf(request, response);
  if (!target) return;
  const { pathname } = target;
  if (pathname.startsWith('/api/')) return answerApiRequest(request, response, target, options, known);
  if (method.by === 'issuer') {
    const route = `${request.method} ${pathname}`;
    if (route === 'GET /sign-in') return beginSignIn(request, response, target, { ...options, method });
    if (route === `GET ${CALLBACK}`) return finishSignIn(request, response, target, { ...options, method });
    if (route === `POST ${SIGN_OUT}`) return signOut(request, response, { ...options, method });
  }
  answerAsset(request, response, pathname, assets);
}

async function answerApiRequest(
  request: IncomingMessage,
  response: ServerResponse,
  target: URL,
  { origin, method, readerPages, limits, log, now }: AnswerOptions,
  known: Reader | undefined,
): Promise<void> {
  const refusal = refuseStranger(request, origin);
  if (refusal) return refuse(response, refusal);
  const reader = known ?? (method.by === 'issuer' ? await readerOf(request, method.jar) : undefined);
  if (!reader) {
    const message = 'Your session has ended, or you have not signed in yet.';
    return answerJson(response, 401, { message, signIn: '/sign-in' });
  }
  const { identity, until } = reader;
  const { user } = identity;
  const atOnce = limits.atOnce.get(user) ?? 0;
  if (atOnce >= LIMITS.requestsOfReaderAtOnce || !limits.reader(user) || !limits.allReaders(''))
    return answerJson(response, 429, { message: TOO_MANY_REQUESTS });
  const pages = readerPages.pagesOf(identity);
  if (!pages) return answerJson(response, 503, { message: 'Too many users have this page open. Try again later.' });
  if (target.pathname === '/api/stream') {
    if (pages[0]!.feed.hub.size >= LIMITS.streamsOfReader)
      return answerJson(response, 429, { message: 'You have too many of these pages open: close some.' });
    const end = setTimeout(() => response.end(), until - now());
    response.once('close', () => clearTimeout(end));
  }
  limits.atOnce.set(user, atOnce + 1);
  try {
    await answerApi(request, response, target, pages);
  } finally {
    const left = (limits.atOnce.get(user) ?? 1) - 1;
    if (left > 0) limits.atOnce.set(user, left);
    else limits.atOnce.delete(user);
  }
  if (request.method === 'POST')
    log.info({ user, path: target.pathname, status: response.statusCode }, 'answered a request');
}

async function readerOf({ headers }: IncomingMessage, jar: CookieJar): Promise<Reader | undefined> {
  const sealed = await jar.open('session', headers.cookie);
  if (!sealed || !isIdentity(sealed.content)) return undefined;
  const { user, groups } = sealed.content;
  return { identity: { user, groups }, until: sealed.expires * 1000 };
}

// Sign-in and sign-out at an issuer.

type IssuerOptions = AnswerOptions & { method: Extract<SignInMethod, { by: 'issuer' }> };

async function beginSignIn(
  request: IncomingMessage,
  response: ServerResponse,
  target: URL,
  options: IssuerOptions,
): Promise<void> {
  const { method, origin, limits } = options;
  const refusal = refuseEmbedded(request);
  if (refusal) return answerProblem(response, refusal.status, refusal.message, options);
  if (!limits.signIns('')) return answerProblem(response, 429, TOO_MANY_REQUESTS, options);
  try {
    const { to, pending } = await method.signIn.begin();
    const path = localPath(target.searchParams.get('to'), origin);
    const cookie = await method.jar.seal('signIn', { ...pending, path });
    response.writeHead(302, { location: to.href, 'set-cookie': cookie!, 'cache-control': 'no-store' });
    response.end();
  } catch (error) {
    failSignIn(response, error, options);
  }
}

async function finishSignIn(
  request: IncomingMessage,
  response: ServerResponse,
  target: URL,
  options: IssuerOptions,
): Promise<void> {
  const { method, origin, limits, log } = options;
  const cookies = [clearCookie('signIn')];
  response.setHeader('set-cookie', cookies);
  const deny = (status: number, message: string) => answerProblem(response, status, message, options);
  const begun = await method.jar.open('signIn', request.headers.cookie);
  if (!begun) return deny(400, 'This sign-in was not started in this browser, or has taken too long.');
  // Counted only now, and apart from the starts: any page can make its readers' browsers request this address.
  if (!limits.finishedSignIns('')) return deny(429, TOO_MANY_REQUESTS);
  const { path, ...pending } = begun.content as unknown as Pending & { path: string };
  try {
    const found = await method.signIn.finish(target.search, pending);
    if ('problem' in found) {
      log.warn({ reason: found.problem }, 'a sign-in was refused');
      return deny(403, found.problem);
    }
    const { user, groups } = found.identity;
    const session = await method.jar.seal('session', { user, groups });
    if (!session)
      return deny(403, 'The names of your groups are too long for a session. Let the issuer send fewer groups.');
    response.setHeader('set-cookie', [...cookies, session]);
    log.info({ user, groups: groups.length }, 'signed in');
    // Not a redirect: the browser would treat it as a navigation from the issuer's site, and would not send the cookie.
    const page = messagePage({ title: 'Signed in', text: '', to: localPath(path, origin) }, options.assets);
    answerHtml(response, 200, page);
  } catch (error) {
    failSignIn(response, error, options);
  }
}

async function signOut(request: IncomingMessage, response: ServerResponse, options: IssuerOptions): Promise<void> {
  const { method, origin, readerPages, log } = options;
  const refusal = refuseStranger(request, origin);
  if (refusal) return refuse(response, refusal);
  const reader = await readerOf(request, method.jar);
  response.setHeader('set-cookie', [clearCookie('session'), clearCookie('signIn')]);
  if (reader) {
    readerPages.interrupt(reader.identity);
    log.info({ user: reader.identity.user }, 'signed out');
  }
  answerJson(response, 200, { message: 'You are signed out.' });
}

function failSignIn(response: ServerResponse, error: unknown, options: IssuerOptions): void {
  if (!(error instanceof SignInError)) throw error;
  options.log.warn({ reason: error.detail }, 'a sign-in failed');
  answerProblem(response, 502, error.message, options);
}

function answerProblem(response: ServerResponse, status: number, message: string, { assets }: IssuerOptions): void {
  answerHtml(response, status, messagePage({ title: 'You are not signed in', text: message }, assets));
}

function answerHtml(response: ServerResponse, status: number, page: string): void {
  response.writeHead(status, { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' });
  response.end(page);
}

function answerText(response: ServerResponse, status: number, line: string): void {
  response.writeHead(status, { 'content-type': 'text/plain', 'cache-control': 'no-store' });
  response.end(`${line}\n`);
}
