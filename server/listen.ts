/** HTTP and HTTPS servers with the timeouts that Metacontroller and the API server need, and a clean end. */
import { readFileSync, unwatchFile, watchFile } from 'node:fs';
import type { RequestListener } from 'node:http';
import { createServer as createHttpServer, type Server } from 'node:http';
import { createServer as createHttpsServer, type Server as HttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';

/** Above the 90 s for which Go's HTTP clients keep idle connections; headersTimeout above that (DESIGN section 4). */
const KEEP_ALIVE_MS = 95_000;
const HEADERS_MS = 100_000;
const REQUEST_MS = 30_000;
const CERTIFICATE_POLL_MS = 10_000;

export interface Listener {
  port: number;
  /** Lets running requests finish, then closes every connection. */
  close(): Promise<void>;
}

export function listenHttp(handler: RequestListener, host: string, port: number): Promise<Listener> {
  return listen(createHttpServer(handler), host, port);
}

/** Reads the certificate again when its file changes: cert-manager rotates it in place. */
export async function listenHttps(
  handler: RequestListener,
  host: string,
  port: number,
  tls: { cert: string; key: string },
): Promise<Listener> {
  const read = () => ({ cert: readFileSync(tls.cert), key: readFileSync(tls.key) });
  const server: HttpsServer = createHttpsServer({ ...read(), minVersion: 'TLSv1.2' }, handler);
  const reload = () => {
    try {
      server.setSecureContext({ ...read(), minVersion: 'TLSv1.2' });
    } catch {
      // Half written: the next poll sees both files.
    }
  };
  watchFile(tls.cert, { interval: CERTIFICATE_POLL_MS, persistent: false }, reload);
  const listener = await listen(server, host, port);
  return {
    port: listener.port,
    close: () => {
      unwatchFile(tls.cert, reload);
      return listener.close();
    },
  };
}

function listen(server: Server | HttpsServer, host: string, port: number): Promise<Listener> {
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  server.headersTimeout = HEADERS_MS;
  server.requestTimeout = REQUEST_MS;
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port }, () => {
      server.off('error', reject);
      resolve({
        port: (server.address() as AddressInfo).port,
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
