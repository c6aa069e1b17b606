/** HTTP and HTTPS servers with the timeouts that Metacontroller and the API server need, and a graceful end. */
import { constants, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import {
  createServer as createHttpServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createServer as createHttpsServer, type Server as HttpsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { createSecureContext, type SecureContextOptions } from 'node:tls';
import type { TlsFiles } from '../config.ts';
import { type FileLog, watchFiles } from '../fileWatch.ts';
import { createFairShare, type Part } from './fairShare.ts';
import { SERVER_LIMITS } from './serverLimits.ts';

/** Above the 90 s for which Go's HTTP clients keep idle connections. The limit of headers does not count between two requests. */
const KEEP_ALIVE_MS = 95_000;
const REQUEST_MS = 30_000;
const HEADERS_MS = SERVER_LIMITS.headersSeconds * 1000;
const HANDSHAKE_MS = SERVER_LIMITS.handshakeSeconds * 1000;

export interface Listener {
  port: number;
  /** Goes on answering, but for the last time on each connection: its client moves on without a reset. */
  drain(): void;
  /** Accepts nothing more, lets running requests finish, then closes every connection. */
  close(): Promise<void>;
}

interface ListenOptions extends ConnectionLimits {
  host: string;
  port: number;
  headersMs?: number;
}

export function listenHttp(handler: RequestListener, options: ListenOptions): Promise<Listener> {
  return listen(createHttpServer(checkingIn(options)), handler, options);
}

/** Connections that take too long are looked for five times in that time; Node does so every 30 s by itself. */
const checkingIn = ({ headersMs = HEADERS_MS }: ListenOptions) => ({ connectionsCheckingInterval: headersMs / 5 });

export interface TlsListenOptions extends ListenOptions {
  handshakeMs?: number;
  log: FileLog;
}

export async function listenHttps(
  handler: RequestListener,
  files: TlsFiles,
  { log, handshakeMs: handshakeTimeout = HANDSHAKE_MS, ...options }: TlsListenOptions,
): Promise<Listener> {
  const applyTls = (secure: SecureContextOptions) => server.setSecureContext(secure);
  const { options: secure, stop } = watchTls(files, applyTls, log);
  // Probes have no certificate, so it is each request that asks for one: see requireClientCertificate.
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
): Promise<Listener> {
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  server.headersTimeout = headersMs;
  server.requestTimeout = REQUEST_MS;
  limitConnections(server, limits);
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

// The webhook's certificate and the CA of its clients, reloaded when a file changes: both are rotated in place.

interface Read {
  /** All files together, to see whether anything has changed. */
  text: string;
  options: SecureContextOptions;
  validFrom: number;
  validTo: number;
}

/** @throws Error with a sentence that names the file. */
function readTls({ cert, key, clientCa }: TlsFiles): Read {
  const options: SecureContextOptions = {
    cert: readFileSync(cert, 'utf8'),
    key: readFileSync(key, 'utf8'),
    minVersion: 'TLSv1.2',
    // A resumed session would keep the certificate it began with, even after the CA has been replaced.
    secureOptions: constants.SSL_OP_NO_TICKET,
  };
  const certificate = parsed(cert, options.cert as string);
  // Without a key TLS takes the certificate too, and refuses every connection.
  if (!/-----BEGIN .*PRIVATE KEY-----/.test(options.key as string)) throw new Error(`${key} has no PEM key`);
  try {
    createSecureContext(options);
  } catch (error) {
    throw new Error(`${cert} and ${key} do not match: ${(error as Error).message}`);
  }
  if (clientCa) {
    options.ca = readFileSync(clientCa, 'utf8');
    parsed(clientCa, options.ca);
  }
  return {
    text: [options.cert, options.key, options.ca].join('\n'),
    options,
    validFrom: certificate.validFromDate.getTime(),
    validTo: certificate.validToDate.getTime(),
  };
}

function parsed(file: string, text: string): X509Certificate {
  try {
    return new X509Certificate(text);
  } catch {
    throw new Error(`${file} has no PEM certificate`);
  }
}

/**
 * Files that are half written, do not match or have expired are not used: the last good ones stay.
 * @throws when there are none at the start.
 */
function watchTls(
  files: TlsFiles,
  apply: (options: SecureContextOptions) => void,
  log: FileLog,
): { options: SecureContextOptions; stop(): void } {
  const isValid = ({ validFrom, validTo }: Read) => validFrom <= Date.now() && Date.now() < validTo;
  const { current, stop } = watchFiles<Read>({
    what: `certificate ${files.cert}`,
    read(before) {
      const read = readTls(files);
      if (before && read.text !== before.text && isValid(before) && !isValid(read)) {
        throw new Error(`${files.cert} is not valid now`);
      }
      return read;
    },
    isSame: (a, b) => a.text === b.text,
    onChange: ({ options }) => apply(options),
    log,
  });
  if (!isValid(current())) log.error({ file: files.cert }, 'the certificate is not valid now: no client will trust it');
  return { options: current().options, stop };
}

// Which connections a port keeps: those that wait for a request go for new ones, of the address that has most of them.

interface ConnectionLimits {
  maxConnections: number;
  /** Connections of one remote address; as many as of all when absent. */
  maxPerAddress?: number;
}

/** Longer than callers wait for an answer. Whoever does not read theirs keeps the connection no longer than this. */
const ANSWER_MS = 15_000;

interface Connection extends Part {
  request?: IncomingMessage;
  requestedAt: number;
}

function limitConnections(server: Server | HttpsServer, { maxConnections, maxPerAddress }: ConnectionLimits): void {
  const share = createFairShare(maxConnections, maxPerAddress);
  // A request has the socket of TLS, and what is counted is the one below it: a peer that never ends its handshake has no other.
  const connections = new Map<string, Connection>();

  server.on('connection', (socket: Socket) => {
    const { remoteAddress: address } = socket;
    // It is closed already.
    if (address === undefined) return void socket.destroy();
    const key = keyOf(socket);
    const connection: Connection = {
      address,
      requestedAt: 0,
      mayGiveWay: () => !connection.request?.complete || performance.now() - connection.requestedAt > ANSWER_MS,
      giveWay: () => void socket.destroy(),
    };
    if (!share.grow(connection, 1)) return void socket.destroy();
    connections.set(key, connection);
    socket.once('close', () => {
      share.remove(connection);
      if (connections.get(key) === connection) connections.delete(key);
    });
  });

  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const connection = connections.get(keyOf(request.socket));
    if (!connection) return;
    connection.request = request;
    connection.requestedAt = performance.now();
    response.once('close', () => {
      if (connection.request !== request) return;
      delete connection.request;
      share.renew(connection);
    });
  });
}

const keyOf = ({ remoteAddress, remotePort }: Socket) => `${remoteAddress} ${remotePort}`;

// A shutdown that no client notices, provided that its load balancer probes /readyz or follows the Endpoints.

/** Longer than the API server and Metacontroller wait for an answer. */
const FINISH_MS = 15_000;

/**
 * Keeps answering for `delaySeconds`, each answer the last one on its connection; then accepts nothing more and finishes
 * what has begun. Resolves when all is done, or after a time limit.
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
