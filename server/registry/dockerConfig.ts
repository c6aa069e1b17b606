/** Credentials from a pull secret: `.dockerconfigjson` and the older `.dockercfg`, in every common form. */
import { isMap } from '../../core/kube/json.ts';
import { canonicalHost } from './image.ts';

export type Credentials =
  | { kind: 'basic'; username: string; password: string }
  /** An OAuth 2 refresh token. */
  | { kind: 'identityToken'; token: string }
  /** A token that is sent as it is. */
  | { kind: 'registryToken'; token: string };

/** The credentials, or why there are none, in words that contain no value of the Secret. */
type Found = { credentials: Credentials } | { problem: string };

interface Entry {
  host: string;
  /** The part of the registry that the entry is for, which Podman and the kubelet allow. */
  path: string;
  value: Record<string, unknown>;
}

/** The credentials for the image. @param data the Secret's `data`: values in base64 */
export function credentialsFor(
  data: Record<string, string> | undefined,
  image: { host: string; repository: string },
): Found {
  const config = configOf(data);
  if ('problem' in config) return config;
  const entries = Object.entries(config.auths).flatMap(([key, value]) => entryOf(key, value));
  const matching = entries
    .filter((entry) => matchesHost(entry.host, image.host) && coversPath(entry.path, image.repository))
    .sort((a, b) => b.path.length - a.path.length || Number(a.host.includes('*')) - Number(b.host.includes('*')));
  const problems: string[] = [];
  for (const { value } of matching) {
    const credentials = credentialsOf(value);
    if (credentials) return { credentials };
    problems.push(`its entry for ${image.host} holds neither username and password, nor auth, nor a token`);
  }
  if (config.helpers)
    problems.push('it names a credential helper, which cannot run here: put the credentials into "auths"');
  if (problems.length === 0) problems.push(`it has no entry for ${image.host}`);
  return { problem: problems.join('; ') };
}

function configOf(
  data: Record<string, string> | undefined,
): { auths: Record<string, unknown>; helpers: boolean } | { problem: string } {
  const modern = data?.['.dockerconfigjson'];
  const old = data?.['.dockercfg'];
  const encoded = modern ?? old;
  if (encoded === undefined) return { problem: 'it has neither .dockerconfigjson nor .dockercfg' };
  const parsed = parseObject(Buffer.from(encoded, 'base64').toString('utf8'));
  if (!parsed)
    return { problem: `its ${modern === undefined ? '.dockercfg' : '.dockerconfigjson'} is not a JSON object` };
  if (modern === undefined) return { auths: parsed, helpers: false };
  const auths = isMap(parsed.auths) ? parsed.auths : {};
  return { auths, helpers: parsed.credHelpers !== undefined || parsed.credsStore !== undefined };
}

function entryOf(key: string, value: unknown): Entry[] {
  if (!isMap(value)) return [];
  const [host = '', ...path] = key
    .trim()
    .replace(/^https?:\/\//i, '')
    .split('/');
  // Docker writes Docker Hub as `https://<host>/v1/`; the version is not part of a repository's path.
  if (/^v[0-9]+$/.test(path[0] ?? '')) path.shift();
  return [{ host: canonicalHost(host), path: path.filter(Boolean).join('/'), value }];
}

/** Whether the pattern matches the host. As in the kubelet, `*` stands for a label or a part of one. */
function matchesHost(pattern: string, host: string): boolean {
  if (!pattern.includes('*')) return pattern === host;
  const wanted = pattern.split('.');
  const given = host.split('.');
  return wanted.length === given.length && wanted.every((label, i) => matchesLabel(label, given[i]!));
}

function matchesLabel(pattern: string, label: string): boolean {
  const [head = '', ...rest] = pattern.split('*');
  const tail = rest.at(-1);
  if (tail === undefined) return pattern === label;
  return (
    rest.length === 1 && label.length >= head.length + tail.length && label.startsWith(head) && label.endsWith(tail)
  );
}

function coversPath(path: string, repository: string): boolean {
  return path === '' || repository === path || repository.startsWith(`${path}/`);
}

function credentialsOf(value: Record<string, unknown>): Credentials | undefined {
  const text = (key: string) =>
    typeof value[key] === 'string' && value[key] !== '' ? (value[key] as string) : undefined;
  const identity = text('identitytoken') ?? text('identityToken');
  if (identity) return { kind: 'identityToken', token: identity };
  const registry = text('registrytoken') ?? text('registryToken');
  if (registry) return { kind: 'registryToken', token: registry };
  const pair = decodedPair(text('auth')) ?? { username: text('username'), password: text('password') };
  if (!pair.username || pair.password === undefined) return undefined;
  return { kind: 'basic', username: pair.username, password: pair.password };
}

/**
 * NULs at the end. A match can't start inside a run of NULs: a tenant's Secret may have one that would take minutes.
 */
const PADDING = /(?<!\0)\0+$/;

/**
 * The user and password in base64 of `user:password`. The password may contain colons; Docker sometimes appends NULs.
 */
function decodedPair(auth: string | undefined): { username: string; password: string } | undefined {
  if (!auth) return undefined;
  const decoded = Buffer.from(auth, 'base64').toString('utf8').replace(PADDING, '');
  const colon = decoded.indexOf(':');
  return colon > 0 ? { username: decoded.slice(0, colon), password: decoded.slice(colon + 1) } : undefined;
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isMap(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
