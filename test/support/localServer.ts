/** A server on this machine that behaves as a test sets. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, type ServerOptions } from 'node:https';
import type { AddressInfo } from 'node:net';
import { atEnd } from './atEnd.ts';

export interface LocalServer {
  /** `127.0.0.1:port`, or the address it was started on. */
  host: string;
  /** `METHOD path` of each request. */
  requests: string[];
}

/** Ends with the test, or with the file if it starts at its top. */
export async function startLocalServer(
  handle: (request: IncomingMessage, response: ServerResponse, server: LocalServer) => void,
  /** Speaks HTTPS with these. */
  tls?: ServerOptions,
  address = '127.0.0.1',
): Promise<LocalServer> {
  const requests: string[] = [];
  const listener = (request: IncomingMessage, response: ServerResponse) => {
    requests.push(`${request.method} ${request.url}`);
    handle(request, response, server);
  };
  const http: Server = tls ? createTlsServer(tls, listener) : createServer(listener);
  // Longer than any test: a connection that is closed in the moment in which it is used again fails the request.
  http.keepAliveTimeout = 95_000;
  await new Promise<void>((resolve) => http.listen(0, address, resolve));
  const server: LocalServer = {
    host: `${address}:${(http.address() as AddressInfo).port}`,
    requests,
  };
  atEnd(() => {
    http.closeAllConnections();
    http.close();
  });
  return server;
}
