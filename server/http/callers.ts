/** Authentication of callers: of Metacontroller by a shared token, of the API server by a client certificate. */
import { createHash, timingSafeEqual, type X509Certificate } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { TLSSocket } from 'node:tls';
import { type FileLog, type SecretFiles, watchSecrets } from '../fileWatch.ts';
import type { RefusedCaller } from './app.ts';

/** A function that refuses callers without the hooks' token. @throws Error when there is no token in the file */
export function requireToken(
  files: SecretFiles,
  log: FileLog,
): (request: IncomingMessage) => RefusedCaller | undefined {
  // Metacontroller trims the token of its Secret too.
  const accepted = watchSecrets(files, {
    what: 'token of the hooks',
    problemOf: (token) => (token === '' ? 'is empty: an empty token would admit every caller' : undefined),
    log,
  });
  return ({ headers }) => {
    const given = /^bearer +(.+)$/i.exec(headers.authorization ?? '')?.[1];
    if (given === undefined) {
      return {
        status: 401,
        error: "the hooks require Metacontroller's token as Authorization: Bearer, and none was sent",
      };
    }
    const hash = createHash('sha256').update(given.trim()).digest();
    // Every token is compared, so that timing doesn't reveal which one matched.
    const matches = accepted.current().map((token) => timingSafeEqual(token, hash));
    return matches.includes(true) ? undefined : { status: 401, error: 'the token is not the one in HOOKS_TOKEN_FILE' };
  };
}

// A client certificate shows that the webhook's caller is the API server, and the page's caller its proxy.

/**
 * A function that refuses callers without a valid client certificate.
 * @param names the common names and DNS names that may call; if empty, every name that the CA has signed
 * @param setting the prefix of the settings' names
 */
export function requireClientCertificate(
  names: readonly string[],
  { what, setting } = { what: 'webhook', setting: 'WEBHOOK_CLIENT' },
): (request: IncomingMessage) => RefusedCaller | undefined {
  const asked = `the ${what} requires a client certificate from the CA in ${setting}_CA`;
  return ({ socket }) => {
    const { authorized, authorizationError } = socket as TLSSocket;
    const certificate = (socket as TLSSocket).getPeerX509Certificate();
    if (!certificate) return { status: 401, error: `${asked}, and none was sent` };
    if (!authorized) return { status: 401, error: `${asked}, and does not accept this one: ${authorizationError}` };
    if (certificate.validToDate.getTime() <= Date.now()) {
      return { status: 401, error: `${asked}, and this one has expired since the connection was made` };
    }
    const common = commonNames(socket as TLSSocket);
    if (names.length === 0 || names.some((name) => common.includes(name) || hasName(certificate, name)))
      return undefined;
    return {
      status: 403,
      error: `the client certificate's name '${common.join(', ')}' is not in ${setting}_NAMES`,
    };
  };
}

/** Common names by connection: `getPeerCertificate` takes longer than all other checks of a review together. */
const knownNames = new WeakMap<TLSSocket, string[]>();

function commonNames(socket: TLSSocket): string[] {
  const names = knownNames.get(socket) ?? [socket.getPeerCertificate().subject?.CN ?? []].flat();
  knownNames.set(socket, names);
  return names;
}

function hasName(certificate: X509Certificate, name: string): boolean {
  return certificate.checkHost(name, { subject: 'never', wildcards: false }) !== undefined;
}
