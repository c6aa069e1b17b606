/** Collections of the API server: lists in pages, and watches. */
import type { KubeObject } from '../../api/kubernetes.ts';
import { ApiError } from './apiError.ts';
import type { ApiConnection, Request } from './connection.ts';
import { type List, listPages } from './listPages.ts';
import { resourcePath, withQuery } from './paths.ts';

/** The objects of a kind in a namespace; without a namespace, in all namespaces, or cluster-scoped ones. */
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

interface PageOptions {
  /** Objects of the first page. */
  pageSize?: number;
  signal?: AbortSignal;
  /** Leaves `fieldsV1` of `metadata.managedFields` out. */
  withoutFieldOwners?: boolean;
}

interface ListPage<T> {
  items: T[];
  resourceVersion: string;
}

type WatchEvent<T> =
  | { type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK'; object: T }
  | { type: 'ERROR'; object: { code?: number; message?: string } };

export interface Collections {
  /** The pages of a list, as they arrive, so that thousands of objects aren't in memory twice. */
  pages<T extends KubeObject<any, any> = KubeObject>(
    from: Collection & ListSelectors & PageOptions,
  ): AsyncGenerator<ListPage<T>>;
  /** The events of a watch, until the API server ends it. */
  watch<T extends KubeObject<any, any> = KubeObject>(
    from: Collection & ListSelectors & { resourceVersion: string; signal?: AbortSignal },
  ): AsyncGenerator<WatchEvent<T>>;
  /** The answer at any other path, such as `/version`. */
  raw<T>(path: string): Promise<T>;
}

const PAGE_SIZE = 100;
/**
 * The duration of a watch. The API server checks rights only when a watch begins, and ends it after an hour at most.
 */
const WATCH_SECONDS = 300;

export function createCollections(connection: Pick<ApiConnection, 'send' | 'lines'>): Collections {
  const sendRequest = async <T>(request: Request) => (await connection.send<T>(request)).object;
  return {
    async *pages<T extends KubeObject<any, any>>({
      pageSize = PAGE_SIZE,
      signal,
      withoutFieldOwners = false,
      labelSelector,
      fieldSelector,
      ...from
    }: Collection & ListSelectors & PageOptions): AsyncGenerator<ListPage<T>> {
      const path = resourcePath(from);
      const request = { path, query: { labelSelector, fieldSelector }, first: pageSize, withoutFieldOwners };
      for await (const { list } of listPages<T>(sendRequest, { ...request, ...(signal && { signal }) })) {
        yield { items: withTypes(list), resourceVersion: list.metadata?.resourceVersion ?? '' };
      }
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
        if (line !== '') yield eventOf<T>(line);
      }
    },
    raw: (path) => sendRequest({ path }),
  };
}

/** The event in a line of a watch. @throws ApiError for any other line, such as a proxy's HTML page */
function eventOf<T>(line: string): WatchEvent<T> {
  try {
    const event = JSON.parse(line);
    if (event.type === 'ERROR' ? event.object : event.object.metadata) return event;
  } catch {
    // The error is thrown below.
  }
  throw new ApiError(0, 'Watch', 'the answer to a watch has a line that is no event');
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
