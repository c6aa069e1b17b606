/** The answers of the page's server to an accepted caller: the stream, objects, writes, and the page's files. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { NamespacedName } from '../api/kubernetes.ts';
import { refKey } from '../core/kube/names.ts';
import type { Assets } from './assets.ts';
import type { PageRefusal } from './guard.ts';
import type { PageHandlers } from './handlers.ts';
import { type Page, pageOf } from './page.ts';
import { actionRequestOf, adoptRequestOf } from './posted.ts';

const MAX_BODY_BYTES = 64 * 1024;
/** The base for targets without a host, which is checked in the header only. */
const BASE = 'http://page';
const ITEM = /^\/api\/(applications|objects\/[a-z]{1,40})\/([a-z0-9.-]{1,253})\/([a-z0-9.-]{1,253})$/;

/** The URL of a request; undefined if it is invalid, and then the request is answered. */
export function urlOf({ url: target = '/' }: IncomingMessage, response: ServerResponse): URL | undefined {
  if (URL.canParse(target, BASE)) return new URL(target, BASE);
  answerJson(response, 400, { message: `'${target.slice(0, 100)}' is not an address of this server.` });
  return undefined;
}

/** Answers a request below `/api/`. `pages`: those of one reader, one for each cluster. */
export async function answerApi(
  request: IncomingMessage,
  response: ServerResponse,
  { pathname, searchParams }: URL,
  pages: readonly Page[],
): Promise<void> {
  response.setHeader('cache-control', 'no-store');
  // The stream is for all clusters; any other request is for one.
  const page = pathname === '/api/stream' ? pages[0] : pageOf(pages, searchParams.get('cluster'));
  if (!page) {
    const names = pages.map(({ hello }) => hello.context).join(', ');
    return answerJson(response, 404, { message: `Name one of the clusters that this page shows: ${names}.` });
  }
  const { feed, handlers, adopting, hello } = page;
  if (request.method === 'POST') return post(request, response, pathname, page);
  if (request.method !== 'GET')
    return answerJson(response, 405, { message: `${request.method} is not supported here.` });
  if (pathname === '/api/stream') {
    return feed.hub.join(response, hello);
  }
  if (pathname === '/api/adopt') return answerJson(response, 200, await adopting.list());
  const [, kind = '', namespace = '', name = ''] = ITEM.exec(pathname) ?? [];
  const found = await itemOf(handlers, kind, { namespace, name });
  if (found) return answerJson(response, 200, found);
  const what = kind === 'applications' ? 'Rollout' : kind.split('/')[1];
  const message = what ? `There is no ${what} ${namespace}/${name}, or you aren't allowed to read it.` : 'Not found.';
  answerJson(response, 404, { message });
}

async function itemOf(handlers: PageHandlers, kind: string, ref: NamespacedName): Promise<unknown> {
  if (kind === 'applications') return handlers.application(refKey(ref));
  return kind ? handlers.object(kind.slice(kind.indexOf('/') + 1), ref) : undefined;
}

async function post(request: IncomingMessage, response: ServerResponse, pathname: string, page: Page): Promise<void> {
  if (!request.headers['content-type']?.startsWith('application/json')) {
    return answerJson(response, 415, { message: 'Expected application/json.' });
  }
  const body = await textOf(request);
  if (body === undefined) return answerJson(response, 413, { message: `More than ${MAX_BODY_BYTES} bytes.` });
  const posted = parsePosted(body);
  if (!posted) return answerJson(response, 400, { message: 'The body of this request is not JSON.' });
  const answer = await answerTo(pathname, posted, page);
  if (answer) return answerJson(response, 200, answer);
  answerJson(response, 400, { message: 'The page makes no such request.' });
}

/** The body of a request, not checked yet. */
type Posted = Partial<Record<'action' | 'requested' | 'dryRun' | 'basis' | 'agreed', unknown>>;

/** The answer to a posted request; undefined if the page has no such request. */
async function answerTo(pathname: string, posted: Posted, { handlers, adopting }: Page): Promise<unknown> {
  if (pathname.startsWith('/api/adopt/')) {
    const requested = adoptRequestOf(posted.requested);
    if (!requested) return undefined;
    if (pathname === '/api/adopt/preview') return adopting.preview(requested);
    const { agreed } = posted;
    return pathname === '/api/adopt/make' && typeof agreed === 'string' ? adopting.make(requested, agreed) : undefined;
  }
  const request = actionRequestOf(posted.action);
  const { basis } = posted;
  if (!request || (basis !== undefined && typeof basis !== 'string')) return undefined;
  if (pathname === '/api/act') return handlers.act(request, posted.dryRun === true, basis);
  return pathname === '/api/preview' && request.type === 'freeze' ? handlers.preview(request) : undefined;
}

/** The body as text; undefined if it is too long. */
async function textOf(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > MAX_BODY_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** The body as JSON; undefined if it is not JSON. */
function parsePosted(body: string): Posted | undefined {
  try {
    return JSON.parse(body) ?? {};
  } catch {
    return undefined;
  }
}

/** Answers with a file. All views have the same document, whose script shows the view of the address. */
export function answerAsset(
  request: IncomingMessage,
  response: ServerResponse,
  pathname: string,
  assets: Assets,
): void {
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    answerJson(response, 405, { message: 'This path does not accept this method.' });
    return;
  }
  const found = assets.get(pathname) ?? (pathname.startsWith('/assets/') ? undefined : assets.get('/index.html'));
  if (!found) {
    answerJson(response, 404, { message: 'Not found.' });
    return;
  }
  const { type, bytes } = found;
  // The names of assets have a hash of the content in them.
  const cache = pathname.startsWith('/assets/') ? 'public, max-age=31536000, immutable' : 'no-store';
  response.writeHead(200, { 'content-type': type, 'content-length': bytes.length, 'cache-control': cache });
  response.end(request.method === 'HEAD' ? undefined : bytes);
}

export function refuse(response: ServerResponse, { status, message }: PageRefusal): void {
  response.setHeader('cache-control', 'no-store');
  answerJson(response, status, { message });
}

export function answerJson(response: ServerResponse, status: number, value: unknown): void {
  const text = JSON.stringify(value);
  response.writeHead(status, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(text),
  });
  response.end(text);
}
