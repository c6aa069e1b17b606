/**
 * The address of a release's manifest, with the credentials and certificates of its ImageRepository. These are used
 * only if the ImageRepository is in the Rollout's namespace, or its `accessFrom` grants that namespace; otherwise the
 * request is anonymous.
 */
import type { ImageRepository } from '../../api/flux.ts';
import { KINDS, NAMESPACES } from '../../api/kinds.ts';
import type { NamespacedName, Secret } from '../../api/kubernetes.ts';
import type { ClusterReader, ReleaseLookup } from '../../api/ports.ts';
import { refKey } from '../../core/kube/names.ts';
import { Lru } from '../lru.ts';
import { type Credentials, credentialsFor } from './dockerConfig.ts';
import { RegistryError } from './error.ts';
import { type Image, parseImage } from './image.ts';
import { type Trust, trustOf } from './trust.ts';

export interface ManifestTarget {
  image: Image;
  insecure: boolean;
  credentials?: Credentials;
  trust?: Trust;
  /** The owner of the credentials. Manifests read with one owner's credentials are not shown to another owner. */
  reader: string;
  /** Why the ImageRepository's credentials can't be used; undefined if they can, or there are none. */
  problem?: string;
}

/** @throws RegistryError if a required object is missing; otherwise the API server's failure. */
export async function manifestTargetOf(
  cluster: ClusterReader,
  repositories: ImageRepositories,
  { policy, repository: where, namespace }: ReleaseLookup,
): Promise<ManifestTarget> {
  const repository = await repositories.get(where);
  if (!repository) throw new RegistryError(`there is no ImageRepository ${refKey(where)}`);

  const spec = repository.spec ?? {};
  const image = parseImage(spec.image ?? '');
  const base = { image, insecure: spec.insecure === true };
  const readers = [namespace, policy.namespace].filter((reader) => reader !== where.namespace);
  const granted = await mayRead(cluster, spec, readers);
  const found = granted
    ? await secretsOf(cluster, spec, where.namespace, image)
    : { problem: `ImageRepository ${refKey(where)} grants no access to ${readers[0]}` };
  return { ...base, ...found, reader: granted ? refKey(where) : 'anonymous' };
}

/**
 * Whether `accessFrom` grants access, by Flux's rule: one selector has to match. Without selectors, no namespace has
 * access; an empty selector matches all.
 */
async function mayRead(cluster: ClusterReader, spec: ImageRepositorySpec, namespaces: string[]): Promise<boolean> {
  const selectors = spec.accessFrom?.namespaceSelectors ?? [];
  for (const name of namespaces) {
    const namespace = await cluster.get({ ...NAMESPACES, name });
    const labels = namespace?.metadata.labels ?? {};
    const matches = selectors.some(({ matchLabels = {} }) =>
      Object.entries(matchLabels).every(([key, value]) => labels[key] === value),
    );
    if (!matches) return false;
  }
  return true;
}

async function secretsOf(
  cluster: ClusterReader,
  spec: ImageRepositorySpec,
  namespace: string,
  image: Image,
): Promise<Pick<ManifestTarget, 'credentials' | 'trust' | 'problem'>> {
  const [login, certificates] = await Promise.all([
    credentialsOf(cluster, spec, namespace, image),
    certificatesOf(cluster, spec, namespace),
  ]);
  const problems = [login.problem, certificates.problem].filter((problem) => problem !== undefined);
  return { ...login, ...certificates, ...(problems.length > 0 && { problem: problems.join('; ') }) };
}

async function credentialsOf(
  cluster: ClusterReader,
  { secretRef, provider = 'generic' }: ImageRepositorySpec,
  namespace: string,
  image: Image,
): Promise<Pick<ManifestTarget, 'credentials' | 'problem'>> {
  if (!secretRef?.name) {
    return provider === 'generic' ? {} : { problem: `logging in with provider ${provider} is not supported here` };
  }
  const where = { namespace, name: secretRef.name };
  const found = credentialsFor(await readSecret(cluster, where), image);
  return 'problem' in found ? { problem: `Secret ${refKey(where)}: ${found.problem}` } : found;
}

/**
 * The certificate authorities of the registry. Without them it must have a publicly trusted certificate; otherwise the
 * request fails and the error names this problem.
 */
async function certificatesOf(
  cluster: ClusterReader,
  { certSecretRef, insecure }: ImageRepositorySpec,
  namespace: string,
): Promise<Pick<ManifestTarget, 'trust' | 'problem'>> {
  if (!certSecretRef?.name || insecure) return {};
  const where = { namespace, name: certSecretRef.name };
  const found = trustOf(await readSecret(cluster, where));
  return 'problem' in found ? { problem: `Secret ${refKey(where)}: ${found.problem}` } : { trust: found };
}

async function readSecret(cluster: ClusterReader, where: NamespacedName): Promise<Record<string, string> | undefined> {
  const secret = await cluster.get<Secret>({
    apiVersion: 'v1',
    resource: 'secrets',
    ...where,
  });
  if (!secret) throw new RegistryError(`there is no Secret ${refKey(where)}`);
  return secret.data;
}

// ImageRepositories, read live.

/** The time for which an absent ImageRepository isn't read again: each tag of an image needs it. */
const ABSENT_MS = 60_000;
const MAX_ABSENT = 5000;

type ImageRepositorySpec = NonNullable<ImageRepository['spec']>;

interface ImageRepositories {
  /** The ImageRepository; undefined if it does not exist. */
  get(ref: NamespacedName): Promise<ImageRepository | undefined>;
}

/** The ImageRepositories. @param clock milliseconds of a monotonic clock */
export function createImageRepositories(cluster: ClusterReader, clock: () => number): ImageRepositories {
  const absentUntil = new Lru<number>(MAX_ABSENT);
  return {
    async get(ref) {
      const key = refKey(ref);
      if ((absentUntil.get(key) ?? 0) > clock()) return undefined;
      const apiVersion = await servedVersion(cluster);
      const { resource } = KINDS.ImageRepository;
      const found = await cluster.get<ImageRepository>({ apiVersion, resource, ...ref });
      if (!found) absentUntil.set(key, clock() + ABSENT_MS);
      return found;
    },
  };
}

/** The served version: v1 since Flux 2.7, v1beta2 before. */
async function servedVersion(cluster: ClusterReader): Promise<string> {
  const { group, versions, resource } = KINDS.ImageRepository;
  const [v1, v1beta2] = versions.map((version) => `${group}/${version}`) as [string, string];
  return (await cluster.serves({ apiVersion: v1, resource })) ? v1 : v1beta2;
}
