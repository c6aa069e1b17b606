/** Paths of objects, `/apis/GROUP/VERSION/namespaces/NS/PLURAL/NAME`, with plurals from the server's discovery. */
import type { KubeObject } from '../../api/kubernetes.ts';
import type { ApiResource } from '../../server/cluster/discovery.ts';
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
}

/** The path of a collection, or of one object. A namespace given for a cluster-scoped resource is ignored. */
export function resourcePath(
  { apiVersion, name: plural, namespaced }: Resource,
  { namespace, name }: ObjectRef['metadata'] = {},
  subresource?: string,
): string {
  return pathIn({ apiVersion, resource: plural, namespace: namespaced ? namespace : undefined }, name, subresource);
}

const discovered = new Map<string, Promise<ApiResource[]>>();

/** Deletes the cached discovery of a server. */
export function forgetResources(url: string): void {
  for (const key of discovered.keys()) if (key.startsWith(`${url} `)) discovered.delete(key);
}

async function resourceOf(access: Access, { apiVersion, kind }: ObjectRef): Promise<Resource> {
  const key = `${access.url} ${apiVersion}`;
  // A missing kind may be served a moment later, when its CRD is established: ask once more.
  for (const fresh of [false, true]) {
    if (fresh || !discovered.has(key)) {
      const list = send<{ resources: ApiResource[] }>(access, 'GET', versionPath(apiVersion));
      discovered.set(
        key,
        list.then((answer) => answer.object.resources),
      );
    }
    const resources = await discovered.get(key)?.catch((error: unknown) => {
      discovered.delete(key);
      if (error instanceof ApiError && error.code === 404) return [];
      throw error;
    });
    const found = resources?.find((resource) => resource.kind === kind && !resource.name.includes('/'));
    if (found) return { ...found, apiVersion };
  }
  throw new Error(`The API server does not serve ${kind} in ${apiVersion}`);
}

/**
 * Path of an object, or of a list when the name is left out; `namespaced` kinds without a namespace list everywhere.
 */
export async function pathOf(access: Access, ref: ObjectRef, subresource?: string): Promise<string> {
  return resourcePath(await resourceOf(access, ref), ref.metadata, subresource);
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
