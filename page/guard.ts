/**
 * Checks of callers of the page on a user's machine. Its server answers on loopback with the rights of a kubeconfig, so
 * other pages in the same browser and other programs on the machine must be refused.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

export interface PageRefusal {
  status: 401 | 403 | 421;
  message: string;
}

const AUTHORIZATION = /^Bearer ([\w-]{20,200})$/;

/**
 * Refuses requests for another host: a page whose name resolves to loopback (DNS rebinding) sends its own name.
 * `hosts`: the hosts of the page, with the port.
 */
export function refuseHost({ host = '' }: IncomingHttpHeaders, hosts: readonly string[]): PageRefusal | undefined {
  if (hosts.includes(host)) return undefined;
  return {
    status: 421,
    message: `This server answers to ${hosts.join(' and ')} only, not to '${host.slice(0, 100)}'.`,
  };
}

/** The refusal of a request that another page makes. */
export const OTHER_ORIGIN = 'This server accepts requests from its own page only.';

/** Refuses callers without the token, and requests of other origins, before the cluster is read or changed. */
export function refuseCaller(headers: IncomingHttpHeaders, token: string): PageRefusal | undefined {
  const { host = '', origin, 'sec-fetch-site': site } = headers;
  // Older browsers send only the origin.
  if ((origin !== undefined && origin !== `http://${host}`) || (site !== undefined && site !== 'same-origin')) {
    return { status: 403, message: OTHER_ORIGIN };
  }
  return refuseToken(headers, token);
}

/** Refuses a wrong token. Tokens are compared in constant time, as hashes, so that lengths don't matter. */
function refuseToken(headers: IncomingHttpHeaders, token: string): PageRefusal | undefined {
  const given = AUTHORIZATION.exec(headers.authorization ?? '')?.[1] ?? '';
  if (timingSafeEqual(digest(given), digest(token))) return undefined;
  return {
    status: 401,
    message: 'The key of this page is no longer valid. Open the address that `kubectl rollouts ui` printed last.',
  };
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** Security headers: only our own scripts and styles, none inline, no frames and no forms. */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "font-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; '),
  'cross-origin-embedder-policy': 'require-corp',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};
