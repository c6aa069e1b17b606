/** The current context of a kubeconfig file: where the API server is and how to sign in. */
import { readFileSync } from 'node:fs';
import { KubeConfig } from '@kubernetes/client-node/dist/config.js';

/** Address and credentials of the API server: a token or a client certificate. */
export interface Access {
  /** `https://127.0.0.1:PORT` */
  url: string;
  /** PEM. */
  ca: string;
  token?: string;
  /** PEM. */
  cert?: string;
  /** PEM. */
  key?: string;
  /** An API server in this process, used instead of `url`. */
  connection?: Connection;
}

export interface ConnectionRequest {
  method: string;
  /** With the query. */
  path: string;
  headers: Record<string, string>;
  /** Text, or the JSON value itself. */
  body?: unknown;
}

/** An API server in this process. */
export interface Connection {
  /** Milliseconds since 1970 by the client's clock. */
  now(): number;
  request(request: ConnectionRequest): Promise<{ statusCode: number; headers: Record<string, string>; body: unknown }>;
  /** Events of a watch. */
  watch(path: string, signal: AbortSignal): AsyncGenerator<unknown>;
}

/**
 * The current context of a kubeconfig. @throws an Error with the file's name if it is unreadable, has no current
 * context, or needs other credentials than a token or a client certificate
 */
export function readKubeconfig(file: string): Access {
  const config = new KubeConfig();
  config.loadFromFile(file);
  const cluster = config.getCurrentCluster();
  const user = config.getCurrentUser();
  if (!cluster) throw new Error(`${file}: the current context names no cluster`);
  if (user?.exec || user?.authProvider || user?.username) {
    throw new Error(`${file}: only tokens and client certificates are understood here`);
  }
  const text = (inline: string | undefined, path: string | undefined): string | undefined => {
    if (inline) return Buffer.from(inline, 'base64').toString('utf8');
    return path ? readFileSync(path, 'utf8') : undefined;
  };
  const ca = text(cluster.caData, cluster.caFile);
  if (!ca) throw new Error(`${file}: the current context names no certificate authority`);
  const [cert, key] = [text(user?.certData, user?.certFile), text(user?.keyData, user?.keyFile)];
  return { url: cluster.server, ca, cert, key, token: user?.token };
}
