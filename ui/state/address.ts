/** The view of the page, as data and as the path and query of its address. */

/** The keys of each page's query, in this order; never a reason, or a version that is typed to confirm. */
const QUERY_KEYS = {
  board: ['q', 'state', 'cluster', 'namespace', 'group'],
  /** `do`: the id of the action whose dialog is open. */
  rollout: ['cluster', 'release', 'do'],
  gates: ['cluster', 'range', 'do', 'when', 'from', 'for', 'in', 'all', 'name', 'kinds', 'days', 'between', 'zone'],
  /** `stage`: the chosen Rollout; `release`: the chosen version there. */
  promotion: ['q', 'cluster', 'stage', 'release', 'do'],
  adopt: ['cluster', 'q', 'object', 'policy', 'variable', 'rollout', 'runs'],
  object: ['cluster', 'do'],
  unknown: [],
} as const satisfies Record<string, readonly string[]>;

export type QueryKey = (typeof QUERY_KEYS)[keyof typeof QUERY_KEYS][number];
export type Query = Partial<Record<QueryKey, string>>;

export type Address = { query: Query } & (
  | { page: 'board' | 'gates' | 'promotion' | 'adopt' }
  /** `id`: `namespace/name`. */
  | { page: 'rollout'; id: string }
  | { page: 'object'; kind: string; id: string }
  | { page: 'unknown'; path: string }
);

export function parseAddress(text: string): Address {
  const at = text.indexOf('?');
  const path = at < 0 ? text : text.slice(0, at);
  const place = parsePath(path);
  const given = new URLSearchParams(at < 0 ? '' : text.slice(at));
  const query: Query = {};
  for (const key of QUERY_KEYS[place.page]) {
    const value = given.get(key);
    if (value) query[key] = value;
  }
  return { ...place, query };
}

type Place = Address extends infer One ? (One extends Address ? Omit<One, 'query'> : never) : never;

function parsePath(path: string): Place {
  const parts = path.split('/').filter(Boolean).map(decodePart);
  const [page, namespace, name] = parts;
  if (parts.length === 0) return { page: 'board' };
  if (!page || parts.includes(undefined)) return { page: 'unknown', path };
  if (parts.length === 1 && (page === 'gates' || page === 'promotion' || page === 'adopt')) return { page };
  if (parts.length !== 3) return { page: 'unknown', path };
  const id = `${namespace}/${name}`;
  return page === 'rollout' ? { page, id } : { page: 'object', kind: page, id };
}

/** The part without percent-encoding; undefined if that is invalid. */
function decodePart(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}

export function formatAddress(route: Address): string {
  const given = new URLSearchParams();
  for (const key of QUERY_KEYS[route.page]) {
    const value = route.query[key];
    if (value) given.set(key, value);
  }
  const query = given.toString().replaceAll('%2F', '/').replaceAll('%3A', ':').replaceAll('%2C', ',');
  return `${pathOf(route)}${query ? `?${query}` : ''}`;
}

function pathOf(route: Address): string {
  switch (route.page) {
    case 'board':
      return '/';
    case 'unknown':
      return route.path;
    case 'rollout':
      return `/rollout/${encodePath(route.id)}`;
    case 'object':
      return `/${encodePath(route.kind)}/${encodePath(route.id)}`;
    default:
      return `/${route.page}`;
  }
}

const encodePath = (text: string) => text.split('/').map(encodeURIComponent).join('/');

/** The title of the browser's tab. */
export function titleOf(route: Address): string {
  const { page } = route;
  const what = 'kind' in route && route.kind !== 'gate' ? `${route.kind} ${route.id}` : 'id' in route ? route.id : '';
  return `${what || page[0]!.toUpperCase() + page.slice(1)} · Rollouts`;
}
