/** HTTP and HTTPS servers with the timeouts that Metacontroller and the API server need, and a graceful end. */
import { createServer as createHttpServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { createServer as createHttpsServer, Server as HttpsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import type { SecureContextOptions } from 'node:tls';
import type { EpochMs } from '../../api/kubernetes.ts';
import type { TlsFiles } from '../config.ts';
import type { FileLog } from '../fileWatch.ts';
import { type ConnectionLimits, limitConnections } from './connectionLimits.ts';
import { SERVER_LIMITS } from './serverLimits.ts';
import { watchTls } from './tlsFiles.ts';

/** Longer than the 90 s for which Go's HTTP clients keep idle connections, including unused ones. */
const KEEP_ALIVE_MS = 95_000;
const REQUEST_MS = 30_000;
const HEADERS_MS = SERVER_LIMITS.headersSeconds * 1000;
const HANDSHAKE_MS = SERVER_LIMITS.handshakeSeconds * 1000;
/** The longest wait for running requests: longer than the API server and Metacontroller wait for an answer. */
const FINISH_MS = 15_000;

export interface Listener {
  port: number;
  /** Closes each connection after its next answer, so that its client moves on without a reset. */
  drain(): void;
  /** Accepts no more connections, lets running requests finish, then closes every connection. */
  close(): Promise<void>;
}

/** A listener whose connections can also be cut. */
interface PlainListener extends Listener {
  /** Closes every connection now, whatever is running. */
  closeNow(): Promise<void>;
}

interface ListenOptions extends ConnectionLimits {
  host: string;
  port: number;
  headersMs?: number;
}

export function listenHttp(handler: RequestListener, options: ListenOptions): Promise<PlainListener> {
  return listen(createHttpServer(checkingIn(options)), handler, options);
}

/** The interval of the check for slow connections: a fifth of the limit. Node's default is 30 s. */
const checkingIn = ({ headersMs = HEADERS_MS }: ListenOptions) => ({ connectionsCheckingInterval: headersMs / 5 });

export interface TlsListenOptions extends ListenOptions {
  handshakeMs?: number;
  log: FileLog;
  /** Called with the time at which the certificate in use expires. */
  expires?: (at: EpochMs) => void;
}

export async function listenHttps(
  handler: RequestListener,
  files: TlsFiles,
  { log, expires, handshakeMs: handshakeTimeout = HANDSHAKE_MS, ...options }: TlsListenOptions,
): Promise<Listener> {
  const applyTls = (secure: SecureContextOptions) => server.setSecureContext(secure);
  const { options: secure, stop } = watchTls(files, applyTls, log, expires);
  // Probes have no certificate. So the handshake accepts a client without one, and requireClientCertificate checks it.
  const client = { requestCert: files.clientCa !== undefined, rejectUnauthorized: false };
  const server: HttpsServer = createHttpsServer({ ...secure, ...client, ...checkingIn(options), handshakeTimeout });
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
  { host, port, headersMs = HEADERS_MS, ...limits }: ListenOptions,
): Promise<PlainListener> {
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  server.headersTimeout = headersMs;
  server.requestTimeout = REQUEST_MS;
  server.timeout = KEEP_ALIVE_MS;
  server.on('clientError', endUnlessUnused);
  limitConnections(server, limits);
  const running = new Set<ServerResponse>();
  const open = new Set<Socket>();
  let draining = false;
  server.on(server instanceof HttpsServer ? 'secureConnection' : 'connection', (socket: Socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  server.on('request', (request, response) => {
    // `limitConnections` has closed it.
    if (request.socket.destroyed) return;
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
            const sweep = setInterval(() => {
              server.closeIdleConnections();
              // To Node an unused connection is not idle.
              for (const socket of open) if (isUnused(socket)) socket.destroy();
            }, 100);
            server.close(() => {
              clearInterval(sweep);
              done();
            });
          }),
        closeNow: () =>
          new Promise((done) => {
            server.close(() => done());
            server.closeAllConnections();
          }),
      });
    });
  });
}

const REFUSALS: Record<string, string> = {
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
};

/**
 * Ends a connection with a request that is too slow or no HTTP. An unused one stays, although Node's limit for headers
 * begins with the connection: Go's clients open more connections than they use, and a request on an unused one fails if
 * the server closes it in that moment.
 */
function endUnlessUnused({ code = '' }: NodeJS.ErrnoException, socket: Duplex): void {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT' && isUnused(socket as Socket)) return;
  if (socket.writable) socket.write(`HTTP/1.1 ${REFUSALS[code] ?? '400 Bad Request'}\r\nConnection: close\r\n\r\n`);
  socket.destroy();
}

function isUnused({ bytesRead }: Socket): boolean {
  return bytesRead === 0;
}

/**
 * Shuts down unnoticed by clients whose load balancer probes /readyz or follows the Endpoints.
 * Keeps answering for `delaySeconds`, and closes each connection after its answer; then accepts no more requests and
 * finishes the running ones. Resolves when all have finished, or after a time limit.
 */
export async function shutDown(listeners: readonly Listener[], delaySeconds: number): Promise<void> {
  for (const listener of listeners) listener.drain();
  await wait(delaySeconds * 1000);
  const late = new AbortController();
  await Promise.race([
    Promise.all(listeners.map((listener) => listener.close())),
    wait(FINISH_MS, undefined, { signal: late.signal }).catch(() => undefined),
  ]);
  late.abort();
}
