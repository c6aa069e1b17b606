/** HTTP and HTTPS servers with the timeouts that Metacontroller and the API server need, and a graceful end. */
import type { RequestListener, ServerResponse } from 'node:http';
import { createServer as createHttpServer, type Server } from 'node:http';
import { createServer as createHttpsServer, type Server as HttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { SecureContextOptions } from 'node:tls';
import type { TlsFiles } from '../config.ts';
import type { FileLog } from '../fileWatch.ts';
import { watchTls } from './certificate.ts';

/** Above the 90 s for which Go's HTTP clients keep idle connections; headersTimeout above that. */
const KEEP_ALIVE_MS = 95_000;
const HEADERS_MS = 100_000;
const REQUEST_MS = 30_000;

export interface Listener {
  port: number;
  /** Goes on answering, but for the last time on each connection: its client moves on without a reset. */
  drain(): void;
  /** Accepts nothing more, lets running requests finish, then closes every connection. */
  close(): Promise<void>;
}

export interface ListenOptions {
  host: string;
  port: number;
  /** Connections beyond it are closed as soon as they are opened. */
  maxConnections: number;
}

export function listenHttp(handler: RequestListener, options: ListenOptions): Promise<Listener> {
  return listen(createHttpServer(), handler, options);
}

export interface TlsListenOptions extends ListenOptions {
  log: FileLog;
}

export async function listenHttps(
  handler: RequestListener,
  files: TlsFiles,
  { log, ...options }: TlsListenOptions,
): Promise<Listener> {
  const take = (secure: SecureContextOptions) => server.setSecureContext(secure);
  const { options: secure, stop } = watchTls(files, take, log);
  // Probes have no certificate, so it is each request that asks for one: see requireClientCertificate.
  const client = { requestCert: files.clientCa !== undefined, rejectUnauthorized: false };
  const server: HttpsServer = createHttpsServer({ ...secure, ...client });
  const listener = await listen(server, handler, options);
  return {
    ...listener,
    close: () => {
      stop();
      return listener.close();
    },
  };
}

function listen(
  server: Server | HttpsServer,
  handler: RequestListener,
  { host, port, maxConnections }: ListenOptions,
): Promise<Listener> {
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  server.headersTimeout = HEADERS_MS;
  server.requestTimeout = REQUEST_MS;
  server.maxConnections = maxConnections;
  const running = new Set<ServerResponse>();
  let draining = false;
  server.on('request', (request, response) => {
    if (draining) response.shouldKeepAlive = false;
    running.add(response);
    response.once('close', () => running.delete(response));
    handler(request, response);
  });
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port }, () => {
      server.off('error', reject);
      resolve({
        port: (server.address() as AddressInfo).port,
        drain() {
          draining = true;
          for (const response of running) response.shouldKeepAlive = false;
        },
        close: () =>
          new Promise((done) => {
            // Connections that are busy now become idle later; without this they would be kept for KEEP_ALIVE_MS.
            const sweep = setInterval(() => server.closeIdleConnections(), 100);
            server.close(() => {
              clearInterval(sweep);
              done();
            });
          }),
      });
    });
  });
}
