/** WWW-Authenticate of a registry, and whether its token server may be asked. */

export type Challenge = { scheme: 'basic' } | { scheme: 'bearer'; realm: string; service?: string };

const PARAMETER = /([a-z_]+)\s*=\s*(?:"([^"]*)"|([^\s,"]+))/gi;

/** undefined for a scheme that is not known here. */
export function parseChallenge(header: string | null): Challenge | undefined {
  const [, scheme = '', rest = ''] = /^\s*([a-z]+)\s*(.*)$/is.exec(header ?? '') ?? [];
  if (scheme.toLowerCase() === 'basic') return { scheme: 'basic' };
  if (scheme.toLowerCase() !== 'bearer') return undefined;
  const parameters = new Map<string, string>();
  for (const [, name = '', quoted, bare] of rest.matchAll(PARAMETER)) {
    parameters.set(name.toLowerCase(), quoted ?? bare ?? '');
  }
  const realm = parameters.get('realm');
  const service = parameters.get('service');
  return realm ? { scheme: 'bearer', realm, ...(service && { service }) } : undefined;
}

/** Names inside a cluster or a private network, where a neighbour is somebody else. */
const PRIVATE = /(^|\.)(svc|local|localdomain|internal|lan|home|corp)$|\.svc\./;
const IP = /^[0-9.]+$|^\[/;

/**
 * The token server's address, or undefined when it may not be asked. A registry can name any address it likes, and we
 * run inside the cluster: so only the registry's own host, its parent domain or a sibling is asked (Docker Hub
 * sends to a sibling, GitLab to the parent), by HTTPS where the registry is.
 */
export function tokenServer(realm: string, registry: { host: string; insecure: boolean }): URL | undefined {
  const url = URL.parse(realm);
  if (url?.username !== '' || url.password !== '') return undefined;
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && registry.insecure)) return undefined;
  if (url.host === registry.host) return url;
  const host = registry.host.replace(/:[0-9]+$/, '');
  if (url.hostname === host && registry.insecure) return url;
  if (url.port !== '' || PRIVATE.test(host) || IP.test(host) || IP.test(url.hostname)) return undefined;
  const parent = parentOf(host);
  if (!parent) return undefined;
  return url.hostname === parent || parentOf(url.hostname) === parent ? url : undefined;
}

/** At least two labels: nobody's parent is `com`. */
function parentOf(host: string): string | undefined {
  const labels = host.split('.').slice(1);
  return labels.length >= 2 ? labels.join('.') : undefined;
}
