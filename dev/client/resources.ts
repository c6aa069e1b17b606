/** Paths of objects, `/apis/GROUP/VERSION/namespaces/NS/PLURAL/NAME`, with plurals from the server's discovery. */
import type { KubeObject } from '../../api/kubernetes.ts';
import type { ApiResource } from '../../server/cluster/apiDiscovery.ts';
import { resourcePath as pathIn, versionPath } from '../../server/cluster/paths.ts';
import type { Access } from './kubeconfig.ts';
import { type Answer, type AnyObject, ApiError, type RequestOptions, send } from './send.ts';

/** A reference to an object, or to all objects of a kind if the name is left out. */
export interface ObjectRef {
  apiVersion: string;
  kind: string;
  metadata: { name?: string; namespace?: string };
}

export interface Resource extends ApiResource {
  /** `group/version`, or `v1`. */
  apiVersion: string;
  hasStatusSubresource: boolean;
}

/** The path of a collection, or of one object. A namespace given for a cluster-scoped resource is ignored. */
export function resourcePath(
  { apiVersion, name: plural, namespaced }: Pick<Resource, 'apiVersion' | 'name' | 'namespaced'>,
  { namespace, name }: ObjectRef['metadata'] = {},
  subresource?: string,
): string {
  return pathIn({ apiVersion, resource: plural, namespace: namespaced ? namespace : undefined }, name, subresource);
}

/** The resources of each API version, as each client has discovered them. */
const discovered = new WeakMap<Access, Map<string, Promise<Resource[]>>>();

/** The resource of a kind, or with a plural name. @throws if the server doesn't serve it */
export async function findResource(
  access: Access,
  apiVersion: string,
  wanted: { kind?: string; name?: string },
): Promise<Resource> {
  const known = discovered.get(access) ?? new Map<string, Promise<Resource[]>>();
  discovered.set(access, known);
  // A missing resource may be served a moment later, when its CRD is established: ask once more.
  for (const fresh of [false, true]) {
    if (fresh || !known.has(apiVersion)) known.set(apiVersion, discover(access, apiVersion));
    const resources = await known.get(apiVersion)!.catch((error: unknown) => {
      known.delete(apiVersion);
      throw error;
    });
    const found = resources.find(({ kind, name }) => kind === wanted.kind || name === wanted.name);
    if (found) return found;
  }
  throw new Error(`The API server does not serve ${wanted.kind ?? wanted.name} in ${apiVersion}`);
}

async function discover(access: Access, apiVersion: string): Promise<Resource[]> {
  try {
    const { resources } = (await send<{ resources: ApiResource[] }>(access, 'GET', versionPath(apiVersion))).object;
    const served = new Set(resources.map(({ name }) => name));
    return resources
      .filter(({ name }) => !name.includes('/'))
      .map((resource) => ({ ...resource, apiVersion, hasStatusSubresource: served.has(`${resource.name}/status`) }));
  } catch (error) {
    if (error instanceof ApiError && error.code === 404) return [];
    throw error;
  }
}

/**
 * Path of an object, or of a list when the name is left out; `namespaced` kinds without a namespace list everywhere.
 */
export async function pathOf(
  access: Access,
  { apiVersion, kind, metadata }: ObjectRef,
  subresource?: string,
): Promise<string> {
  return resourcePath(await findResource(access, apiVersion, { kind }), metadata, subresource);
}

interface ApplyOptions {
  manager: string;
  force?: boolean;
  subresource?: string;
  dryRun?: boolean;
  /** An unknown or duplicate field is an error. Without it the field is dropped, and the answer has a warning. */
  strict?: boolean;
}

/** Server-side apply. */
export async function applyObject<T extends KubeObject<any, any> = AnyObject>(
  access: Access,
  object: KubeObject<any, any>,
  { manager, force = false, subresource, dryRun, strict }: ApplyOptions,
): Promise<Answer<T>> {
  const options: RequestOptions = {
    query: {
      fieldManager: manager,
      force: String(force),
      dryRun: dryRun ? 'All' : undefined,
      fieldValidation: strict ? 'Strict' : undefined,
    },
    body: object,
    // JSON is YAML.
    contentType: 'application/apply-patch+yaml',
  };
  return send<T>(access, 'PATCH', await pathOf(access, object as ObjectRef, subresource), options);
}
