/** The client of command and page for the API server: read, list, watch, write, and review access. */
import type { AnyObject, KubeObject } from '../../api/kubernetes.ts';
import { rightKey } from '../../client/actions/action.ts';
import { FIELD_MANAGER } from '../../client/actions/writes/plannedWrite.ts';
import type { Right } from '../../client/explain/application.ts';
import { type ApiResource, createDiscovery } from '../../server/cluster/apiDiscovery.ts';
import { isApiError } from '../../server/cluster/apiError.ts';
import {
  type Collection,
  type Collections,
  createCollections,
  type ListSelectors,
} from '../../server/cluster/collections.ts';
import { type ApiAnswer, connectApi, type Request } from '../../server/cluster/connection.ts';
import { resourcePath, withQuery } from '../../server/cluster/paths.ts';
import type { ConnectionFlags, Selected } from './kubeconfig.ts';

export { ApiError, isApiError } from '../../server/cluster/apiError.ts';
export type { Collection, ListSelectors } from '../../server/cluster/collections.ts';
export { type CollectionChange, follow } from '../../server/cluster/follow.ts';
export { createSharedReads } from '../../server/cluster/sharedReads.ts';

type ObjectPath = Collection & { name: string };

interface WriteOptions {
  dryRun?: boolean;
}

export interface KubeClient extends Collections {
  /** Reads an object; undefined: the object does not exist, or its kind is not served. */
  get<T extends AnyObject = KubeObject>(path: ObjectPath): Promise<T | undefined>;
  list<T extends AnyObject = KubeObject>(from: Collection & ListSelectors): Promise<T[]>;
  create<T = KubeObject>(to: Collection, object: object, options?: WriteOptions): Promise<ApiAnswer<T>>;
  /** Applies a merge patch. @throws ApiError with the API server's message if it refuses the patch */
  patch<T = KubeObject>(path: ObjectPath, patch: unknown, options?: WriteOptions): Promise<ApiAnswer<T>>;
  /** Whether the user has the right, by SelfSubjectAccessReview. */
  mayI(right: Right): Promise<boolean>;
  /** The resources of an API version; empty if it is not served. */
  resources(apiVersion: string): Promise<ApiResource[]>;
  close(): void;
}

interface ClientOptions extends Pick<ConnectionFlags, 'as' | 'asGroup'> {
  /** The timeout of a request; 0: none. */
  timeoutMs: number;
  userAgent: string;
}

export function createClient(
  { config }: Pick<Selected, 'config'>,
  { timeoutMs, userAgent, as, asGroup = [] }: ClientOptions,
): KubeClient {
  const headers = {
    'user-agent': userAgent,
    ...(as && { 'Impersonate-User': as }),
    ...(asGroup.length > 0 && { 'Impersonate-Group': asGroup }),
  };
  const connection = connectApi(config, { timeoutMs, headers, gzip: true });
  const send = async <T>(request: Request) => (await connection.send<T>(request)).object;

  const collections = createCollections(connection);

  return {
    async get<T extends AnyObject>(path: ObjectPath) {
      try {
        return await send<T>({ path: pathOf(path) });
      } catch (error) {
        if (isApiError(error, 404)) return undefined;
        throw error;
      }
    },
    ...collections,
    async list<T extends AnyObject>(from: Collection & ListSelectors) {
      const items: T[] = [];
      for await (const page of collections.pages<T>(from)) items.push(...page.items);
      return items;
    },
    create: (to, object, options = {}) =>
      connection.send({ method: 'POST', path: withQuery(resourcePath(to), writeQuery(options)), body: object }),
    patch: (path, patch, options = {}) =>
      connection.send({
        method: 'PATCH',
        path: withQuery(pathOf(path), writeQuery(options)),
        body: patch,
        contentType: 'application/merge-patch+json',
      }),
    async mayI({ verb, group, resource, namespace, name }) {
      const resourceAttributes = { verb, group, resource, namespace, name };
      const { status } = await send<{ status?: { allowed?: boolean } }>({
        method: 'POST',
        path: '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
        body: {
          apiVersion: 'authorization.k8s.io/v1',
          kind: 'SelfSubjectAccessReview',
          spec: { resourceAttributes },
        },
      });
      return status?.allowed === true;
    },
    resources: createDiscovery({ send }),
    close: () => connection.close(),
  };
}

const writeQuery = ({ dryRun }: WriteOptions) => ({
  fieldManager: FIELD_MANAGER,
  dryRun: dryRun ? 'All' : undefined,
});

const pathOf = ({ name, ...collection }: ObjectPath) => resourcePath(collection, name);

/** Whether the user has each right, by its key. `may`: reviews one right; it is called once for each. */
export async function reviewRights<Answer>(
  rights: readonly Right[],
  may: (right: Right) => Promise<Answer>,
): Promise<Record<string, Answer>> {
  const distinct = new Map(rights.map((right) => [rightKey(right), right]));
  const reviewed = [...distinct].map(async ([key, right]) => [key, await may(right)] as const);
  return Object.fromEntries(await Promise.all(reviewed));
}

/** The result of the read; undefined if the API server refuses it with one of these codes. */
export async function unlessRefused<T>(read: Promise<T>, ...codes: number[]): Promise<T | undefined> {
  try {
    return await read;
  } catch (error) {
    if (isApiError(error, ...codes)) return undefined;
    throw error;
  }
}
