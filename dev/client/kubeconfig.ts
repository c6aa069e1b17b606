/** The current context of a kubeconfig file: where the API server is and how to sign in. */
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { parse } from 'yaml';

/** How a client reaches the API server: with a token or with a client certificate. */
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
  /** What answers in place of the server at `url`. */
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
  /** Milliseconds since 1970 by the clock of whoever uses it. */
  now(): number;
  request(request: ConnectionRequest): Promise<{ statusCode: number; headers: Record<string, string>; body: unknown }>;
  /** Events of a watch. */
  watch(path: string, signal: AbortSignal): AsyncGenerator<unknown>;
}

interface Named {
  name: string;
  cluster?: Record<string, any>;
  user?: Record<string, any>;
  context?: { cluster: string; user: string };
}

interface Kubeconfig {
  'current-context'?: string;
  clusters?: Named[];
  users?: Named[];
  contexts?: Named[];
}

/** Throws with the name of the file when it cannot be read, has no current context, or signs in with anything but a token or a client certificate. */
export function readKubeconfig(file: string): Access {
  const config = parse(readFileSync(file, 'utf8')) as Kubeconfig | null;
  const context = find(config?.contexts, config?.['current-context'])?.context;
  const cluster = find(config?.clusters, context?.cluster)?.cluster;
  const user = find(config?.users, context?.user)?.user ?? {};
  if (!cluster?.server) throw new Error(`${file}: the current context names no cluster with a server`);
  if (user.exec || user['auth-provider'] || user.username) {
    throw new Error(`${file}: only tokens and client certificates are understood here`);
  }
  const text = (inline: string | undefined, path: string | undefined): string | undefined => {
    if (inline) return Buffer.from(inline, 'base64').toString('utf8');
    return path ? readFileSync(resolve(dirname(file), path), 'utf8') : undefined;
  };
  const ca = text(cluster['certificate-authority-data'], cluster['certificate-authority']);
  if (!ca) throw new Error(`${file}: the current context names no certificate authority`);
  return {
    url: String(cluster.server).replace(/\/+$/, ''),
    ca,
    cert: text(user['client-certificate-data'], user['client-certificate']),
    key: text(user['client-key-data'], user['client-key']),
    token: user.token ?? text(undefined, user.tokenFile)?.trim(),
  };
}

function find(list: Named[] | undefined, name: string | undefined): Named | undefined {
  return list?.find((entry) => entry.name === name);
}
