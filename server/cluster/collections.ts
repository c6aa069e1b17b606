/** Collections of the API server: lists in pages, and watches. */
import type { KubeObject } from '../../api/kubernetes.ts';
import type { ApiConnection } from './connection.ts';
import { resourcePath, withQuery } from './paths.ts';

/** The objects of a kind; without a namespace those of all namespaces, or cluster-scoped ones. */
export interface Collection {
  /** `group/version`, or `v1`. */
  apiVersion: string;
  /** Plural, lower case. */
  resource: string;
  namespace?: string | undefined;
}

export interface ListSelectors {
  labelSelector?: string | undefined;
  fieldSelector?: string | undefined;
}

interface ListPage<T> {
  items: T[];
  resourceVersion: string;
}

export type WatchEvent<T> =
  | { type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK'; object: T }
  | { type: 'ERROR'; object: { code?: number; message?: string } };

export interface Collections {
  /** The pages of a list, as they arrive, so that thousands of objects are not held twice. */
  pages<T extends KubeObject<any, any> = KubeObject>(
    from: Collection & ListSelectors & { pageSize?: number; signal?: AbortSignal },
  ): AsyncGenerator<ListPage<T>>;
  /** The events of a watch, until the API server ends it. */
  watch<T extends KubeObject<any, any> = KubeObject>(
    from: Collection & ListSelectors & { resourceVersion: string; signal?: AbortSignal },
  ): AsyncGenerator<WatchEvent<T>>;
  /** The answer at any other path, such as `/version`. */
  raw<T>(path: string): Promise<T>;
}

const PAGE_SIZE = 500;
/** How long a watch may run. The API server checks its rights only when it begins, and would let it run for an hour. */
const WATCH_SECONDS = 300;

export function createCollections(connection: Pick<ApiConnection, 'send' | 'lines'>): Collections {
  const send = async <T>(path: string, signal?: AbortSignal) => (await connection.send<T>({ path, signal })).object;
  return {
    async *pages<T extends KubeObject<any, any>>({
      pageSize = PAGE_SIZE,
      signal,
      labelSelector,
      fieldSelector,
      ...from
    }: Collection & ListSelectors & { pageSize?: number; signal?: AbortSignal }): AsyncGenerator<ListPage<T>> {
      let next: string | undefined;
      do {
        const query = { labelSelector, fieldSelector, limit: String(pageSize), continue: next };
        const list = await send<List<T>>(withQuery(resourcePath(from), query), signal);
        yield { items: withTypes(list), resourceVersion: list.metadata?.resourceVersion ?? '' };
        next = list.metadata?.continue || undefined;
      } while (next);
    },
    async *watch<T extends KubeObject<any, any>>({
      resourceVersion,
      signal,
      labelSelector,
      fieldSelector,
      ...from
    }: Collection & ListSelectors & { resourceVersion: string; signal?: AbortSignal }) {
      const query = {
        watch: 'true',
        allowWatchBookmarks: 'true',
        timeoutSeconds: String(WATCH_SECONDS),
        resourceVersion,
        labelSelector,
        fieldSelector,
      };
      for await (const line of connection.lines({ path: withQuery(resourcePath(from), query), signal })) {
        if (line !== '') yield JSON.parse(line) as WatchEvent<T>;
      }
    },
    raw: (path) => send(path),
  };
}

interface List<T> {
  apiVersion?: string;
  kind?: string;
  metadata?: { continue?: string; resourceVersion?: string };
  items: T[] | null;
}

/** The items of a list, with the kind and apiVersion that they lack. */
function withTypes<T extends KubeObject<any, any>>({ apiVersion = '', kind = '', items }: List<T>): T[] {
  const itemKind = kind.replace(/List$/, '');
  return (items ?? []).map((item) => ({
    ...item,
    apiVersion: item.apiVersion ?? apiVersion,
    kind: item.kind ?? itemKind,
  }));
}
