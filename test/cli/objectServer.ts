/** Runs the command against an API server with the given objects. Records output and writes. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { KINDS } from '../../api/kinds.ts';
import type { KubeObject } from '../../api/kubernetes.ts';
import type { Right } from '../../client/explain/application.ts';
import { mergePatched } from '../../dev/sim/apiServer/requests.ts';
import { resourcePath } from '../../server/cluster/paths.ts';
import { type Called, call, type RelatedObjects } from '../support/command.ts';
import { words } from '../support/words.ts';
import { apiServer, json, list, status } from './apiServer.ts';

export const NOW = Date.parse('2026-11-22T08:00:00Z');

export type Stored = KubeObject<any, any>;

interface Write {
  method: string | undefined;
  path: string;
  body: any;
  isDryRun: boolean;
}

export interface Rules {
  /** Whether the user has a right. */
  may?: (right: Right) => boolean;
  /** Requests whose path contains one of these are forbidden. */
  hides?: readonly string[];
  /** The reason for refusing a write; undefined accepts it. */
  refuses?: (write: Write) => string | undefined;
  /** Changes the object of a write, in place of the webhooks. */
  admits?: (object: Stored) => Stored;
  /** Called after a write is stored, in place of the controllers. */
  react?: (server: ObjectServer, write: Write) => void;
}

export interface ObjectServer {
  kubeconfig: string;
  writes: Write[];
  /** Creates or replaces objects, and notifies watches. */
  put(...objects: Stored[]): void;
  find(kind: string, namespace: string, name: string): Stored | undefined;
}

export async function objectServer(objects: readonly Stored[], rules: Rules = {}): Promise<ObjectServer> {
  const stored = new Map(objects.map((object) => [pathOf(object), object]));
  const changes: { type: string; object: Stored }[] = [];
  const watches = new Set<() => void>();
  const writes: Write[] = [];

  const listed = (url: URL) => {
    const [, name] = /^metadata\.name=(.+)$/.exec(url.searchParams.get('fieldSelector') ?? '') ?? [];
    return (object: Stored) => collectionsOf(object).includes(url.pathname) && (!name || object.metadata.name === name);
  };
  const watch = (response: ServerResponse, url: URL) => {
    let at = Number(url.searchParams.get('resourceVersion'));
    const isListed = listed(url);
    const send = () => {
      for (; at < changes.length; at++)
        if (isListed(changes[at]!.object)) response.write(`${JSON.stringify(changes[at])}\n`);
    };
    response.writeHead(200, { 'content-type': 'application/json' });
    response.flushHeaders();
    watches.add(send);
    response.on('close', () => watches.delete(send));
    send();
  };
  const read = (response: ServerResponse, url: URL) => {
    const found = stored.get(url.pathname);
    const isHidden = rules.hides?.some((part) => url.pathname.includes(part));
    if (isHidden) return status(response, 403, 'Forbidden', 'not for you');
    if (found) return json(response, found);
    const [, ...below] = url.pathname.replace(VERSION, '').split('/');
    if (below.length === 0)
      return json(response, { kind: 'APIResourceList', resources: Object.values(KINDS).map(resourceRow) });
    if (below.length % 2 === 0) return status(response, 404, 'NotFound', 'there is none');
    if (url.searchParams.has('watch')) return watch(response, url);
    return json(response, list([...stored.values()].filter(listed(url)), String(changes.length)));
  };
  const write = async (request: IncomingMessage, response: ServerResponse, url: URL) => {
    const body = JSON.parse(await text(request));
    if (url.pathname.endsWith('/selfsubjectaccessreviews')) {
      const allowed = rules.may?.(body.spec.resourceAttributes) ?? true;
      return json(response, { status: { allowed } }, 201);
    }
    const made = { method: request.method, path: url.pathname, body, isDryRun: url.searchParams.has('dryRun') };
    const refusal = rules.refuses?.(made);
    if (refusal) return status(response, 403, 'Forbidden', refusal);
    writes.push(made);
    const found = stored.get(url.pathname);
    const merged: Stored = found ? (mergePatched(found, body) as Stored) : body;
    const object = rules.admits?.(merged) ?? merged;
    if (!made.isDryRun) put(object);
    json(response, object);
    if (!made.isDryRun) rules.react?.(server, made);
  };
  const put = (...objects: Stored[]) => {
    for (const object of objects) {
      changes.push({ type: stored.has(pathOf(object)) ? 'MODIFIED' : 'ADDED', object });
      stored.set(pathOf(object), object);
    }
    for (const send of watches) send();
  };
  const { kubeconfig } = await apiServer((request, response, url) =>
    request.method === 'GET' ? read(response, url) : void write(request, response, url),
  );
  const find: ObjectServer['find'] = (kind, namespace, name) =>
    [...stored.values()].find(
      ({ kind: is, metadata }) => is === kind && (metadata.namespace ?? '') === namespace && metadata.name === name,
    );
  const server = { kubeconfig, writes, put, find };
  return server;
}

const VERSION = /^\/(?:api\/v1|apis\/[^/]+\/[^/]+)/;

interface Written extends Called {
  writes: Write[];
}

/** Runs `kubectl rollouts` with the arguments `line`, and `--yes` for questions. */
export const written = (line: string, objects: readonly Stored[], isAllowed = true): Promise<Written> =>
  typed([...words(line).slice(2), '--yes'], objects, {}, { may: () => isAllowed });

/** `args`: the arguments after the program's name. */
export async function typed(
  args: readonly string[],
  objects: readonly Stored[],
  around: RelatedObjects = {},
  rules: Rules = {},
): Promise<Written> {
  const { kubeconfig, writes } = await objectServer(objects, rules);
  const called = await call(args, { now: () => NOW, ...around, env: { KUBECONFIG: kubeconfig } });
  return { ...called, writes };
}

function pathOf({ apiVersion, kind, metadata: { namespace, name } }: Stored): string {
  const resource = KINDS[kind as 'Gate']?.resource ?? `${kind.toLowerCase()}s`;
  return resourcePath({ apiVersion, resource, ...(namespace && { namespace }) }, name);
}

/** Paths of the object's collections, in its namespace and in all. */
function collectionsOf(object: Stored): string[] {
  const own = pathOf(object).replace(/\/[^/]+$/, '');
  return [own, own.replace(/\/namespaces\/[^/]+/, '')];
}

const resourceRow = ({ kind, resource, group }: { kind: string; resource: string; group: string }) => ({
  kind,
  name: resource,
  group,
  namespaced: !kind.startsWith('Cluster'),
  verbs: ['get', 'list'],
});
