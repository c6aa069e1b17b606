/** The command against an API server that has these objects, and no others: what it prints, and what it writes. */
import { KINDS } from '../../api/kinds.ts';
import type { KubeObject } from '../../api/kubernetes.ts';
import { type Called, call, type RelatedObjects } from '../support/command.ts';
import { words } from '../support/words.ts';
import { apiServer, json, list, status } from './apiServer.ts';

export const NOW = Date.parse('2026-11-22T08:00:00Z');

interface Written extends Called {
  writes: { method: string | undefined; path: string; body: any }[];
}

/** `line` as a user types it, from `kubectl rollouts` on; every question is answered by `--yes`. */
export const written = (line: string, objects: readonly KubeObject<any, any>[], isAllowed = true): Promise<Written> =>
  typed([...words(line).slice(2), '--yes'], objects, {}, isAllowed);

/** `args`: what stands after the program's name. */
export async function typed(
  args: readonly string[],
  objects: readonly KubeObject<any, any>[],
  around: RelatedObjects = {},
  isAllowed = true,
): Promise<Written> {
  const writes: Written['writes'] = [];
  const { kubeconfig } = await apiServer((request, response, url) => {
    const found = objects.find((object) => pathOf(object) === url.pathname);
    const parts = url.pathname.split('/');
    if (request.method === 'GET') {
      if (found) return json(response, found);
      if (parts.length === 4)
        return json(response, { kind: 'APIResourceList', resources: Object.values(KINDS).map(resourceRow) });
      if (parts.length % 2 === 0) return status(response, 404, 'NotFound', 'there is none');
      const [, name] = /^metadata\.name=(.+)$/.exec(url.searchParams.get('fieldSelector') ?? '') ?? [];
      const listed = objects.filter((object) => collectionsOf(object).includes(url.pathname));
      return json(response, list(listed.filter(({ metadata }) => !name || metadata.name === name)));
    }
    let text = '';
    request.on('data', (chunk) => {
      text += chunk;
    });
    request.on('end', () => {
      if (url.pathname.endsWith('/selfsubjectaccessreviews'))
        return json(response, { status: { allowed: isAllowed } }, 201);
      writes.push({ method: request.method, path: url.pathname, body: JSON.parse(text) });
      json(response, found ?? JSON.parse(text));
    });
  });
  const called = await call(args, { now: () => NOW, ...around, env: { KUBECONFIG: kubeconfig } });
  return { ...called, writes };
}

function pathOf({ apiVersion, kind, metadata: { namespace, name } }: KubeObject): string {
  return `/apis/${apiVersion}${namespace ? `/namespaces/${namespace}` : ''}/${KINDS[kind as 'Gate'].resource}/${name}`;
}

/** Of its namespace, and of all. */
function collectionsOf(object: KubeObject): string[] {
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
