/** A hook server that answers as a test sets, and records its requests. */
import { json } from 'node:stream/consumers';
import { startLocalServer } from '../../support/localServer.ts';

interface ScriptedAnswer {
  status?: number;
  headers?: Record<string, string>;
  /** A string is sent as it is, other values as JSON. */
  body?: unknown;
}

/** `call` counts from 1 per path. */
export type Script = (request: any, call: number) => ScriptedAnswer | Promise<ScriptedAnswer>;

interface ScriptedHooks {
  /** Defines the hook at a path such as `/sync`; answers its URL. */
  on(path: string, script: Script): string;
  /** Bodies of all requests to a path, oldest first. */
  calls(path: string): any[];
}

/** Undefined paths answer 404. */
export async function startScriptedHooks(): Promise<ScriptedHooks> {
  const scripts = new Map<string, Script>();
  const received = new Map<string, any[]>();
  const server = await startLocalServer(async (request, response) => {
    const path = request.url ?? '';
    const body = await json(request);
    const calls = received.get(path) ?? [];
    calls.push(body);
    received.set(path, calls);
    const answer = (await scripts.get(path)?.(body, calls.length)) ?? { status: 404 };
    const text = typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body ?? {});
    response.writeHead(answer.status ?? 200, { 'content-type': 'application/json', ...answer.headers }).end(text);
  });
  return {
    on: (path, script) => {
      scripts.set(path, script);
      return `http://${server.host}${path}`;
    },
    calls: (path) => received.get(path) ?? [],
  };
}
