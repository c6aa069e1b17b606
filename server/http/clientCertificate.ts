/** Whether a caller of the webhook is the API server, which shows a client certificate. */
import type { X509Certificate } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { TLSSocket } from 'node:tls';
import type { Refusal } from './app.ts';

const ASKED = 'the webhook requires a client certificate from the CA in WEBHOOK_CLIENT_CA';

/** @param names the common names and DNS names that may call; any name that the CA has signed when there are none */
export function requireClientCertificate(names: readonly string[]): (request: IncomingMessage) => Refusal | undefined {
  return ({ socket }) => {
    const { authorized, authorizationError } = socket as TLSSocket;
    const certificate = (socket as TLSSocket).getPeerX509Certificate();
    if (!certificate) return { status: 401, error: `${ASKED}, and none was sent` };
    if (!authorized) return { status: 401, error: `${ASKED}, and does not accept this one: ${authorizationError}` };
    if (certificate.validToDate.getTime() <= Date.now()) {
      return { status: 401, error: `${ASKED}, and this one has expired since the connection was made` };
    }
    const common = commonNames(socket as TLSSocket);
    if (names.length === 0 || names.some((name) => common.includes(name) || hasName(certificate, name)))
      return undefined;
    return {
      status: 403,
      error: `the client certificate's name '${common.join(', ')}' is not in WEBHOOK_CLIENT_NAMES`,
    };
  };
}

function commonNames(socket: TLSSocket): string[] {
  const name: string | string[] | undefined = socket.getPeerCertificate().subject?.CN;
  return name === undefined ? [] : [name].flat();
}

function hasName(certificate: X509Certificate, name: string): boolean {
  return certificate.checkHost(name, { subject: 'never', wildcards: false }) !== undefined;
}
