/**
 * The page in a cluster, with a browser that sends any request, an issuer, and an API server that records requests with
 * their user.
 */
import { writeFileSync } from 'node:fs';
import { type IncomingHttpHeaders, type RequestOptions, request } from 'node:http';
import { request as requestTls, type RequestOptions as TlsOptions } from 'node:https';
import { join } from 'node:path';
import { selectCluster } from '../../../connection/kube/kubeconfig.ts';
import { CLIENT } from '../../../dev/page/localIssuer.ts';
import { readPageConfig } from '../../../page/inCluster/config.ts';
import { serveInCluster } from '../../../page/inCluster/serve.ts';
import { createLog } from '../../../server/log.ts';
import { apiServer, json, kubeconfigOf, list, rollout } from '../../cli/apiServer.ts';
import { atEnd } from '../../support/atEnd.ts';
import { temporaryFolder } from '../../support/temporaryFolder.ts';

export const ORIGIN = 'https://rollouts.example.com';
export const HOST = 'rollouts.example.com';
const KEY = 'the key of the cookies, long enough';

/** May not read the whole cluster. */
export const NARROW = 'narrow@example.com';

/** Requests to the API server, with their user. */
interface Asked {
  path: string;
  user: string | undefined;
  groups: string | undefined;
  /** The page's own credentials. */
  authorization: string | undefined;
  others: string[];
}

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  cookies: string[];
  text: string;
}

/** `until`: the text to wait for in a stream, or its end; by default its first bytes. */
type Sent = Pick<RequestOptions, 'method' | 'headers'> & {
  until?: (text: string) => boolean;
  body?: string;
  tls?: TlsOptions;
};

/** Headers of requests by the page's own scripts. */
export const FROM_PAGE = { 'x-rollouts-page': '1', 'sec-fetch-site': 'same-origin', origin: ORIGIN };

/** An API server with one Rollout. */
export async function notingApiServer(name = 'app', token = 'secret') {
  const asked: Asked[] = [];
  const server = await apiServer(({ headers, url: path = '' }, response, url) => {
    const { 'impersonate-user': user, 'impersonate-group': groups, authorization, ...rest } = headers;
    const others = Object.keys(rest).filter((each) => /impersonate|cookie|forwarded|remote/.test(each));
    asked.push({ path, user: user as string | undefined, groups: groups as string | undefined, authorization, others });
    if (url.searchParams.has('watch')) return response.writeHead(200).flushHeaders();
    if (path.endsWith('/selfsubjectaccessreviews')) return json(response, { status: { allowed: user !== NARROW } });
    if (url.pathname.endsWith(`/rollouts/${name}`)) return json(response, rollout(name));
    json(response, url.pathname.endsWith('/rollouts') ? list([rollout(name)]) : list([]));
  });
  return { asked, kubeconfig: kubeconfigOf(server.url, { token }) };
}

/** It ends with the test. */
export async function openPage(env: Record<string, string>, now?: () => number) {
  const folder = temporaryFolder('page-');
  const file = (name: string, text: string) => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const { asked, kubeconfig } = await notingApiServer();
  const { config: kubeConfig } = selectCluster({ kubeconfig }, {});
  const config = readPageConfig({
    UI_ORIGIN: ORIGIN,
    UI_PORT: '0',
    HOST: '127.0.0.1',
    ...(!env.UI_PROXY_CLIENT_CA && {
      UI_OIDC_CLIENT_ID: CLIENT.id,
      UI_OIDC_CLIENT_SECRET_FILE: file('secret', CLIENT.secret),
      UI_COOKIE_KEY_FILE: file('key', KEY),
    }),
    ...env,
  });
  /** Lines of the log. */
  const logged: string[] = [];
  const log = createLog('silent');
  for (const level of ['info', 'warn', 'error'] as const) {
    log[level] = ((fields: object, text: string) => {
      const error = (fields as { error?: Error }).error?.message ?? '';
      logged.push(`${text} ${JSON.stringify(fields)} ${error}`);
    }) as typeof log.info;
  }
  const assets = new Map([['/index.html', { type: 'text/html', bytes: Buffer.from('<title>page</title>') }]]);
  const page = await serveInCluster({ config, kubeConfig, assets, log, ...(now && { now }) });
  atEnd(page.close);
  /** Follows no redirect and keeps no cookie. */
  const ask = (path: string, { body, headers, tls, until = () => true, ...rest }: Sent = {}) =>
    new Promise<Answer>((resolve, reject) => {
      const options = {
        host: '127.0.0.1',
        port: page.port,
        path,
        ...rest,
        headers: { host: HOST, ...headers },
        ...tls,
      };
      const sending = (tls ? requestTls : request)({ ...options, ...tls, servername: 'localhost' }, (response) => {
        let text = '';
        const answered = () => {
          const { statusCode: status = 0, headers: got } = response;
          resolve({ status, headers: got, cookies: got['set-cookie'] ?? [], text });
        };
        response.on('data', (chunk) => {
          text += chunk;
          if (!isStream(response.headers) || !until(text)) return;
          answered();
          response.destroy();
        });
        response.on('end', answered);
        response.on('error', () => {});
      });
      sending.on('error', reject);
      sending.end(body);
    });
  /** Replaces the key of the cookies. */
  const replaceKey = (text: string) => void file('key', text);
  return { asked, logged, port: page.port, ask, replaceKey };
}

export type PageSetup = Awaited<ReturnType<typeof openPage>>;

const isStream = (headers: IncomingHttpHeaders) => headers['content-type']?.startsWith('text/event-stream') === true;

/** `name=value`, as a browser sends it back. */
export function cookieOf({ cookies }: Answer, name: string): string {
  const found = cookies.find((each) => each.startsWith(`__Host-rollouts-${name}=`) && !each.includes('Max-Age=0'));
  if (!found) throw new Error(`no cookie ${name} in ${cookies.join(' | ')}`);
  return found.split(';', 1)[0]!;
}

/** Signs in at the issuer. Resolves to the address to which it redirects, and the cookie of the sign-in. */
export async function atIssuer(setup: PageSetup, account: string, to = '/'): Promise<{ back: string; cookie: string }> {
  const begun = await setup.ask(`/sign-in?to=${encodeURIComponent(to)}`);
  const cookie = cookieOf(begun, 'sign-in');
  const jar = new Map<string, string>();
  let next = new URL(begun.headers.location!);
  next.searchParams.set('login_hint', account);
  for (let hops = 0; hops < 10; hops++) {
    if (next.origin === ORIGIN) return { back: next.pathname + next.search, cookie };
    const headers = { cookie: [...jar].map(([name, value]) => `${name}=${value}`).join('; ') };
    const response = await fetch(next, { redirect: 'manual', headers });
    for (const set of response.headers.getSetCookie()) {
      const [name = '', value = ''] = set.split(';', 1)[0]!.split(/=(.*)/s);
      jar.set(name, value);
    }
    const location = response.headers.get('location');
    if (!location) throw new Error(`${next}: ${response.status} ${await response.text()}`);
    next = new URL(location, next);
  }
  throw new Error('the issuer never sends the browser back');
}

/** The cookie of a session. */
export async function signedIn(setup: PageSetup, account: string): Promise<string> {
  const { back, cookie } = await atIssuer(setup, account);
  return cookieOf(await setup.ask(back, { headers: { cookie } }), 'session');
}
