/** ImageRepositories, read live. */
import { KINDS } from '../../api/kinds.ts';
import type { KubeObject, NamespacedName } from '../../api/kubernetes.ts';
import type { ClusterReader } from '../../api/ports.ts';
import { Lru } from '../lru.ts';
import { joined } from './joined.ts';

/** Each tag of an image asks for its repository: one that is not there is not asked for again so soon. */
const ABSENT_MS = 60_000;
const MAX_ABSENT = 5000;

export interface ImageRepositorySpec {
  image?: string;
  insecure?: boolean;
  provider?: string;
  secretRef?: { name?: string };
  certSecretRef?: { name?: string };
  accessFrom?: { namespaceSelectors?: { matchLabels?: Record<string, string> }[] };
}
export type ImageRepository = KubeObject<ImageRepositorySpec>;

export interface ImageRepositories {
  /** undefined when it is not there. */
  get(ref: NamespacedName): Promise<ImageRepository | undefined>;
}

/** `clock` gives milliseconds and never goes back. */
export function createImageRepositories(cluster: ClusterReader, clock: () => number): ImageRepositories {
  const absentUntil = new Lru<number>(MAX_ABSENT);
  const readOnce = joined<ImageRepository | undefined>();

  async function read(ref: NamespacedName, key: string): Promise<ImageRepository | undefined> {
    const apiVersion = await servedVersion(cluster);
    const found = await cluster.get<ImageRepository>({ apiVersion, resource: KINDS.ImageRepository.resource, ...ref });
    if (!found) absentUntil.set(key, clock() + ABSENT_MS);
    return found;
  }

  return {
    async get(ref) {
      const key = `${ref.namespace}/${ref.name}`;
      if ((absentUntil.get(key) ?? 0) > clock()) return undefined;
      return readOnce(key, () => read(ref, key));
    },
  };
}

/** Flux 2.7 serves v1, older ones v1beta2. */
async function servedVersion(cluster: ClusterReader): Promise<string> {
  const { group, versions, resource } = KINDS.ImageRepository;
  const [v1, v1beta2] = versions.map((version) => `${group}/${version}`) as [string, string];
  return (await cluster.serves({ apiVersion: v1, resource })) ? v1 : v1beta2;
}
