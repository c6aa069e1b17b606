/** A small client of the Kubernetes API over HTTPS: every verb, with the Warnings and the words of the answer. */
import type { IncomingMessage } from 'node:http';
import { Agent, request as httpsRequest } from 'node:https';
import type { KubeObject } from '../../api/kubernetes.ts';
import type { Access } from '../local/users.ts';
import { warningsOf } from '../local/warnings.ts';

export type AnyObject = KubeObject<any, any> & { [key: string]: any };

export interface Answer<T = AnyObject> {
  object: T;
  /** Texts of the answer's Warning headers, in order. */
  warnings: string[];
}

/** What the API server refused, in its own words. */
export class ApiError extends Error {
  readonly code: number;
  /** Machine-readable, such as `Forbidden` or `Conflict`. */
  readonly reason: string;
  readonly warnings: string[];
  /** The Status object of the answer, or its text. */
  readonly body: any;

  constructor(request: string, code: number, body: any, warnings: string[]) {
    super(typeof body?.message === 'string' ? body.message : `${request}: HTTP ${code} ${String(body).slice(0, 200)}`);
    this.name = 'ApiError';
    this.code = code;
    this.reason = body?.reason ?? '';
    this.body = body;
    this.warnings = warnings;
  }
}

export interface RequestOptions {
  query?: Record<string, string | undefined>;
  body?: unknown;
  contentType?: string;
  accept?: string;
  timeoutMs?: number;
  headers?: Record<string, string>;
}

const agents = new Map<string, Agent>();

/** Connections are shared by all clients that trust the same authority and show the same certificate. */
function agentFor({ ca, cert, key }: Access): Agent {
  const shared = `${ca}${cert ?? ''}`;
  let agent = agents.get(shared);
  if (!agent) {
    agent = new Agent({ ca, cert, key, keepAlive: true, maxSockets: 50 });
    agents.set(shared, agent);
  }
  return agent;
}

/** Sends one request. Rejects with an ApiError for 400 and above, with the socket's error when nobody answers. */
export async function send<T = AnyObject>(
  access: Access,
  method: string,
  path: string,
  options: RequestOptions = {},
): Promise<Answer<T>> {
  const url = new URL(path, access.url);
  for (const [key, value] of Object.entries(options.query ?? {})) {
    if (value !== undefined) url.searchParams.set(key, value);
  }
  const payload = options.body === undefined ? undefined : Buffer.from(asText(options.body));
  const headers = {
    ...(access.token && { authorization: `Bearer ${access.token}` }),
    accept: options.accept ?? 'application/json',
    ...(payload && { 'content-type': options.contentType ?? 'application/json', 'content-length': payload.length }),
    ...options.headers,
  };
  const { response, text } = await new Promise<{ response: IncomingMessage; text: string }>((resolve, reject) => {
    const call = httpsRequest(url, {
      method,
      headers,
      agent: agentFor(access),
      timeout: options.timeoutMs ?? 60_000,
    });
    call.on('timeout', () => call.destroy(new Error(`${method} ${url.pathname}: no answer in time`)));
    call.on('error', reject);
    call.on('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => resolve({ response, text: Buffer.concat(chunks).toString('utf8') }));
    });
    call.end(payload);
  });
  const warnings = warningsOf(response.rawHeaders);
  const isJson = response.headers['content-type']?.includes('json');
  const body = isJson ? JSON.parse(text) : text;
  const code = response.statusCode ?? 0;
  if (code >= 400) throw new ApiError(`${method} ${url.pathname}`, code, body, warnings);
  return { object: body, warnings };
}

const asText = (body: unknown) => (typeof body === 'string' ? body : JSON.stringify(body));
