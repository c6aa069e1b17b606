/**
 * Requests to the API server over one pool of kept-alive connections.
 * client-node reads kubeconfigs and credentials. Its own requests are not used: version 2 opens a connection for each, and the webhook reads in every
 * write of a bound object, where a TLS handshake would cost more than everything else together.
 */
import { Agent, request as httpsRequest, type RequestOptions } from 'node:https';
import { KubeConfig } from '@kubernetes/client-node';

export interface Request {
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path with query, from the root: `/api/v1/namespaces`. */
  path: string;
  body?: unknown;
  contentType?: string;
  accept?: string;
}

export interface Transport {
  /** The parsed JSON answer. @throws ApiError for any status but 2xx, and when no answer came in time. */
  send<T>(request: Request): Promise<T>;
  close(): void;
}

/** The API server's error; code 0 when it did not answer. */
export class ApiError extends Error {
  readonly code: number;
  readonly reason: string;
  constructor(code: number, reason: string, message: string) {
    super(message);
    this.name = 'ApiError';
    this.code = code;
    this.reason = reason;
  }
}

/** Below the 5 s the API server waits for the webhook, so that a slow read becomes our clear 500. */
const TIMEOUT_MS = 4000;
/** ServiceAccount tokens rotate hourly. */
const CREDENTIALS_MS = 30_000;

export function loadKubeConfig(): KubeConfig {
  const config = new KubeConfig();
  config.loadFromDefault();
  return config;
}

export interface TransportOptions {
  /** Concurrent requests; others wait. Whoever must not wait for others has a transport of its own. */
  maxSockets: number;
}

export function createTransport(config: KubeConfig, { maxSockets }: TransportOptions): Transport {
  const cluster = config.getCurrentCluster();
  if (!cluster) throw new Error('no cluster configured: set KUBECONFIG, or run inside a cluster');
  const server = new URL(cluster.server);
  const agent = new Agent({ keepAlive: true, maxSockets, scheduling: 'lifo' });
  let credentials: Promise<RequestOptions> | undefined;
  let readAt = 0;

  const credentialsNow = () => {
    if (!credentials || performance.now() - readAt > CREDENTIALS_MS) {
      readAt = performance.now();
      const options: RequestOptions = {};
      credentials = config.applyToHTTPSOptions(options).then(() => ({ ...options, agent }));
      credentials.catch(() => {
        credentials = undefined;
      });
    }
    return credentials;
  };

  return {
    async send<T>({
      method = 'GET',
      path,
      body,
      contentType = 'application/json',
      accept = 'application/json',
    }: Request) {
      const options = await credentialsNow();
      const payload = body === undefined ? undefined : JSON.stringify(body);
      const headers: Record<string, string | number> = {
        ...(options.headers as Record<string, string>),
        accept,
        'user-agent': 'rollout-hooks',
      };
      if (payload !== undefined) {
        headers['content-type'] = contentType;
        headers['content-length'] = Buffer.byteLength(payload);
      }
      const { code, text } = await exchange(
        {
          ...options,
          host: server.hostname.replace(/^\[|\]$/g, ''),
          port: server.port || 443,
          path: server.pathname.replace(/\/$/, '') + path,
          method,
          headers,
          timeout: TIMEOUT_MS,
        },
        payload,
      );
      if (code >= 200 && code < 300) return JSON.parse(text) as T;
      throw errorOf(code, text, `${method} ${path.split('?')[0]}`);
    },
    close: () => agent.destroy(),
  };
}

/** `count` is called for each request that is sent, answered or not. */
export function countedTransport(transport: Transport, count: () => void): Transport {
  return {
    ...transport,
    send: (request) => {
      count();
      return transport.send(request);
    },
  };
}

function exchange(options: RequestOptions, payload: string | undefined): Promise<{ code: number; text: string }> {
  return new Promise((resolve, reject) => {
    const fail = (error: Error) =>
      reject(new ApiError(0, 'NoAnswer', `${options.method} ${options.path?.split('?')[0]}: ${error.message}`));
    const outgoing = httpsRequest(options, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk) => chunks.push(chunk));
      response.on('error', fail);
      response.on('end', () => {
        clearTimeout(timer);
        // Thrown here, an answer too long for a string would end the process.
        try {
          resolve({ code: response.statusCode ?? 0, text: Buffer.concat(chunks).toString('utf8') });
        } catch (error) {
          fail(error as Error);
        }
      });
    });
    // After the request, which throws for an invalid path.
    const timer = setTimeout(
      () => outgoing.destroy(new Error('no answer from the API server in time')),
      Number(options.timeout),
    );
    outgoing.on('error', (error) => {
      clearTimeout(timer);
      fail(error);
    });
    outgoing.end(payload);
  });
}

function errorOf(code: number, text: string, what: string): ApiError {
  try {
    const status = JSON.parse(text) as { reason?: string; message?: string };
    return new ApiError(code, status.reason ?? '', status.message ?? `${what}: ${code}`);
  } catch {
    return new ApiError(code, '', `${what}: ${code}`);
  }
}
