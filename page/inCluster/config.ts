/** The configuration of the page in a cluster, from its environment. All mistakes are reported together. */
import type { TlsFiles } from '../../server/config.ts';
import { type Environment, environmentReader } from '../../server/environment.ts';
import type { SecretFiles } from '../../server/fileWatch.ts';
import type { LogLevel } from '../../server/log.ts';
import type { Naming } from './identity.ts';

export interface IssuerConfig {
  issuer: string;
  clientId: string;
  /** The path of the client's secret; absent for a public client. */
  clientSecretFile?: string;
  scopes: string;
  naming: Naming;
}

export interface ProxyConfig {
  /** The valid names in the proxy's certificate; empty: any. */
  clients: string[];
  userHeader: string;
  groupsHeader: string;
}

export interface PageConfig {
  port: number;
  host: string;
  /** The origin of the page in browsers: `https://rollouts.example.com`. */
  origin: string;
  tls?: TlsFiles;
  /** The way in which readers sign in: at an issuer, or at a proxy before this server. */
  signIn: { by: 'issuer'; issuer: IssuerConfig; keys: SecretFiles } | { by: 'proxy'; proxy: ProxyConfig };
  sessionSeconds: number;
  clusterName: string;
  /** The folder with a kubeconfig for each further cluster. */
  clustersFolder?: string;
  /** The namespaces to read for readers who can't read the whole cluster. */
  namespaces: string[];
  logLevel: LogLevel;
  logLevelFile?: string;
  shutdownDelaySeconds: number;
}

export const PAGE_ENVIRONMENT: Record<string, string> = {
  UI_ORIGIN: 'address of the page as browsers see it, https://rollouts.example.com; no path (required)',
  UI_PORT: 'port of the page (8080)',
  UI_TLS_CERT:
    'file with the certificate of that port, PEM (none: plain HTTP, for an Ingress with its own certificate)',
  UI_TLS_KEY: 'file with its key, PEM',
  UI_OIDC_ISSUER: 'URL of the OIDC issuer (none)',
  UI_OIDC_CLIENT_ID: 'client of that issuer; its redirect address is UI_ORIGIN/signed-in',
  UI_OIDC_CLIENT_SECRET_FILE: "file with the client's secret (none: a public client)",
  UI_OIDC_SCOPES: 'requested scopes, separated by spaces (openid email groups)',
  UI_OIDC_USERNAME_CLAIM: "claim with the user's name (email)",
  UI_OIDC_USERNAME_PREFIX: "prefix for the user's name, as the API server's --oidc-username-prefix (nothing)",
  UI_OIDC_GROUPS_CLAIM: "claim with the user's groups (groups)",
  UI_OIDC_GROUPS_PREFIX: 'prefix for the name of each group (nothing)',
  UI_COOKIE_KEY_FILE: 'file with the key of the cookies, 32 characters or more (required with an issuer)',
  UI_PREVIOUS_COOKIE_KEY_FILE: 'file with the previous key, accepted too while the file exists (none)',
  UI_SESSION_MINUTES: 'minutes until a reader signs in again, 5 to 720 (60)',
  UI_PROXY_CLIENT_CA:
    'file with the CA of the client certificate of an authenticating proxy, PEM: instead of an issuer (none)',
  UI_PROXY_CLIENT_NAMES: 'names in that certificate that may call, comma-separated (any)',
  UI_PROXY_USER_HEADER: "header in which the proxy sends the user's name (x-forwarded-user)",
  UI_PROXY_GROUPS_HEADER: 'header in which it sends groups, comma-separated (x-forwarded-groups)',
  UI_CLUSTER_NAME: "name of the page's own cluster, as it is shown (cluster)",
  UI_CLUSTERS: 'folder with a kubeconfig for each further cluster, in a file with the name that is shown (none)',
  UI_NAMESPACES:
    'namespaces that are shown to users without the right to list Rollouts of the whole cluster, within their rights; comma-separated, ten at most (default)',
  HOST: 'address to listen on (all addresses)',
  LOG_LEVEL: 'silent, error, warn, info, debug or trace (info)',
  LOG_LEVEL_FILE: 'file with the level, instead of LOG_LEVEL while it exists (none)',
  SHUTDOWN_DELAY_SECONDS: 'seconds to keep answering after SIGTERM (0)',
  KUBECONFIG: 'kubeconfig file; inside a cluster the ServiceAccount is used',
};

/** The most namespaces: each takes a dozen watches for each reader. */
const MAX_NAMESPACES = 10;

/** The configuration. @throws ConfigError with all invalid variables */
export function readPageConfig(env: Environment): PageConfig {
  const read = environmentReader(env);
  const { mistakes, number, port, logLevel, list, refuseMistakes } = read;
  const origin = env.UI_ORIGIN ?? '';
  if (!origin)
    mistakes.push("UI_ORIGIN is not set: it is the page's address in browsers, https://rollouts.example.com");
  else if (!isOrigin(origin)) mistakes.push(`UI_ORIGIN=${origin} is not https:// and a host, without a path`);
  const { UI_TLS_CERT: cert, UI_TLS_KEY: key, UI_PROXY_CLIENT_CA: clientCa } = env;
  if (!cert !== !key) mistakes.push('UI_TLS_CERT and UI_TLS_KEY go together, but only one is set');
  const namespaces = list('UI_NAMESPACES', 'default');
  if (namespaces.length > MAX_NAMESPACES) mistakes.push(`UI_NAMESPACES has more than ${MAX_NAMESPACES} namespaces`);
  const config: PageConfig = {
    port: port('UI_PORT', 8080),
    host: env.HOST || '::',
    origin,
    ...(cert && key && { tls: { cert, key, ...(clientCa && { clientCa }) } }),
    signIn: readProxy(env, read) ?? readIssuer(env, mistakes),
    sessionSeconds: number('UI_SESSION_MINUTES', 60, 5, 720) * 60,
    clusterName: env.UI_CLUSTER_NAME || 'cluster',
    ...(env.UI_CLUSTERS && { clustersFolder: env.UI_CLUSTERS }),
    namespaces,
    logLevel: logLevel(),
    ...(env.LOG_LEVEL_FILE && { logLevelFile: env.LOG_LEVEL_FILE }),
    shutdownDelaySeconds: number('SHUTDOWN_DELAY_SECONDS', 0, 0, 300),
  };
  refuseMistakes();
  return config;
}

/** The settings of a proxy; undefined if none is set. */
function readProxy(
  env: Environment,
  { mistakes, list }: ReturnType<typeof environmentReader>,
): Extract<PageConfig['signIn'], { by: 'proxy' }> | undefined {
  const names = ['UI_PROXY_CLIENT_NAMES', 'UI_PROXY_USER_HEADER', 'UI_PROXY_GROUPS_HEADER'];
  const set = names.filter((name) => env[name]);
  if (!env.UI_PROXY_CLIENT_CA) {
    if (set.length > 0)
      mistakes.push(`${set.join(', ')} without UI_PROXY_CLIENT_CA: any client of the port could write these headers`);
    return undefined;
  }
  if (!env.UI_TLS_CERT) mistakes.push('UI_PROXY_CLIENT_CA needs UI_TLS_CERT: client certificates are part of TLS');
  if (env.UI_OIDC_ISSUER) mistakes.push('UI_OIDC_ISSUER and UI_PROXY_CLIENT_CA exclude each other');
  return {
    by: 'proxy',
    proxy: {
      clients: list('UI_PROXY_CLIENT_NAMES'),
      userHeader: (env.UI_PROXY_USER_HEADER || 'x-forwarded-user').toLowerCase(),
      groupsHeader: (env.UI_PROXY_GROUPS_HEADER || 'x-forwarded-groups').toLowerCase(),
    },
  };
}

function readIssuer(env: Environment, mistakes: string[]): Extract<PageConfig['signIn'], { by: 'issuer' }> {
  const { UI_OIDC_ISSUER: issuer = '', UI_OIDC_CLIENT_ID: clientId = '', UI_COOKIE_KEY_FILE: key = '' } = env;
  const naming = {
    usernameClaim: env.UI_OIDC_USERNAME_CLAIM || 'email',
    usernamePrefix: env.UI_OIDC_USERNAME_PREFIX ?? '',
    groupsClaim: env.UI_OIDC_GROUPS_CLAIM || 'groups',
    groupsPrefix: env.UI_OIDC_GROUPS_PREFIX ?? '',
  };
  if (!issuer)
    mistakes.push('neither UI_OIDC_ISSUER nor UI_PROXY_CLIENT_CA is set: set one of them, so that users can sign in');
  else if (!isIssuer(issuer))
    mistakes.push(`UI_OIDC_ISSUER=${issuer} is not an https URL without user, query and fragment`);
  if (!clientId) mistakes.push('UI_OIDC_CLIENT_ID is not set');
  if (!key) mistakes.push('UI_COOKIE_KEY_FILE is not set');
  for (const name of ['UI_OIDC_USERNAME_PREFIX', 'UI_OIDC_GROUPS_PREFIX']) {
    if (/^\s*system:/i.test(env[name] ?? '')) mistakes.push(`${name} begins with system:, which is Kubernetes' own`);
  }
  const previous = env.UI_PREVIOUS_COOKIE_KEY_FILE;
  return {
    by: 'issuer',
    issuer: {
      issuer,
      clientId,
      ...(env.UI_OIDC_CLIENT_SECRET_FILE && { clientSecretFile: env.UI_OIDC_CLIENT_SECRET_FILE }),
      scopes: env.UI_OIDC_SCOPES || 'openid email groups',
      naming,
    },
    keys: { current: key, ...(previous && { previous }) },
  };
}

/** Whether browsers trust the address: plain HTTP only on this machine. */
function isTrusted({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' || isLoopback(hostname);
}

export function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '127.0.0.1';
}

function isOrigin(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && url.origin === text && isTrusted(url);
}

function isIssuer(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && isTrusted(url) && !/[?#@\s]/.test(text);
}
