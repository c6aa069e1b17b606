/**
 * Metadata of releases from their registries, the implementation of the port `ReleaseMetadataCache`. A lookup answers
 * from memory at once. Missing metadata is fetched in the background, so that a dead registry delays no release. After
 * a failure a later lookup fetches again, with growing pauses.
 */

import type { ClusterReader, ReleaseLookup, ReleaseMetadata, ReleaseMetadataCache } from '../../api/ports.ts';
import { isLegalTag } from '../../core/kube/tag.ts';
import { errorText } from '../../core/text/errorText.ts';
import { Lru } from '../lru.ts';
import { createQueue } from '../queue.ts';
import { RegistryError } from './error.ts';
import { fetchManifest, type Manifest } from './fetchManifest.ts';
import { isSha256Digest } from './image.ts';
import { createImageRepositories, manifestTargetOf } from './manifestTarget.ts';
import { releaseMetadataOf } from './releaseMetadata.ts';
import type { RegistrySockets } from './sockets.ts';

const MAX_LOOKUPS = 5000;
const MAX_DIGESTS = 2000;
const MAX_WAITING = 500;
/** The limits of concurrent lookups, of all and of one namespace: a registry may hang until the timeout. */
const AT_ONCE = 8;
const AT_ONCE_OF_NAMESPACE = 2;
const FIRST_RETRY_MS = 10_000;
const LAST_RETRY_MS = 600_000;
/** The maximum age of metadata that was read by tag: unlike a digest, a tag may be moved. */
const TAG_MAX_AGE_MS = 3_600_000;
const TIMEOUT_MS = 15_000;

interface CacheOptions {
  cluster: ClusterReader;
  sockets: RegistrySockets;
  /** Milliseconds of a monotonic clock. */
  clock(): number;
  log: { warn(fields: object, message: string): void };
  dropped(what: 'metadata'): void;
  timeoutMs?: number;
}

interface Entry {
  metadata?: ReleaseMetadata;
  running: boolean;
  failures: number;
  /** Whether the last answer was an error, which an early retry would get again. */
  refused?: boolean;
  /** When the metadata may be fetched (again). */
  dueAt: number;
  /** When an urgent lookup may fetch it again, after a failure. */
  urgentAt?: number;
}

interface IdleCache extends ReleaseMetadataCache {
  /** Resolves when no lookup is running. */
  idle(): Promise<void>;
}

export function createMetadataCache(options: CacheOptions): IdleCache {
  const { cluster, sockets, clock, log, dropped, timeoutMs = TIMEOUT_MS } = options;
  const entries = new Lru<Entry>(MAX_LOOKUPS);
  const byDigest = new Lru<ReleaseMetadata>(MAX_DIGESTS);
  const fetchOnce = joined<Manifest>();
  const repositories = createImageRepositories(cluster, clock);

  const queue = createQueue<{ lookup: ReleaseLookup; entry: Entry }>({
    limit: MAX_WAITING,
    atOnce: AT_ONCE,
    lanes: {
      of: ({ lookup }) => lookup.namespace,
      atOnce: AT_ONCE_OF_NAMESPACE,
      evicted({ entry }) {
        entry.running = false;
        dropped('metadata');
      },
    },
    async work({ lookup, entry }) {
      const metadata = await read(lookup);
      const dueAt = isSha256Digest(lookup.digest) ? Number.POSITIVE_INFINITY : clock() + TAG_MAX_AGE_MS;
      Object.assign(entry, { metadata, running: false, failures: 0, refused: false, dueAt, urgentAt: dueAt });
    },
    failed({ lookup, entry }, error) {
      const delay = Math.min(FIRST_RETRY_MS * 2 ** entry.failures, LAST_RETRY_MS);
      const now = clock();
      const next = { dueAt: now + delay, urgentAt: now + FIRST_RETRY_MS };
      Object.assign(entry, { running: false, failures: entry.failures + 1, ...next });
      entry.refused = error instanceof RegistryError && !error.transient;
      if (entry.failures === 1) logFailure(lookup, errorText(error));
    },
  });

  function logFailure({ policy, tag }: ReleaseLookup, why: string): void {
    log.warn({ namespace: policy.namespace, imagePolicy: policy.name, tag, why }, 'no release metadata');
  }

  async function read(lookup: ReleaseLookup): Promise<ReleaseMetadata> {
    const target = await manifestTargetOf(cluster, repositories, lookup);
    const { image, insecure, reader } = target;
    const name = `${reader} ${insecure ? 'http' : 'https'}://${image.host}/${image.repository}`;
    const reference = isSha256Digest(lookup.digest) ? lookup.digest : lookup.tag;
    const known = byDigest.get(`${name}@${reference}`);
    if (known) return known;
    try {
      const { digest, content } = await fetchOnce(`${name}@${reference}`, () =>
        fetchManifest({ ...target, reference, sockets, timeoutMs }),
      );
      const metadata = releaseMetadataOf(content);
      byDigest.set(`${name}@${digest}`, metadata);
      return metadata;
    } catch (error) {
      // Credentials of the ImageRepository that can't be used are the likely cause.
      if (!target.problem || !(error instanceof Error)) throw error;
      const { failure, transient } = error instanceof RegistryError ? error : new RegistryError('', 'Unavailable');
      throw new RegistryError(`${error.message}; ${target.problem}`, failure, { transient });
    }
  }

  function keyOf({ policy, repository, tag, digest, image, namespace }: ReleaseLookup): string {
    return JSON.stringify([namespace, policy.namespace, policy.name, repository, tag, digest, image]);
  }

  return {
    isAwaited(lookup) {
      const entry = entries.get(keyOf(lookup));
      return isLegalTag(lookup.tag) && !entry?.metadata && !entry?.refused;
    },
    lookup(lookup) {
      // In a history that a user has written, the tag may be any text.
      if (!isLegalTag(lookup.tag)) return undefined;
      const key = keyOf(lookup);
      const entry = entries.get(key) ?? { running: false, failures: 0, dueAt: Number.NEGATIVE_INFINITY };
      entries.set(key, entry);
      const dueAt = lookup.isUrgent ? Math.min(entry.dueAt, entry.urgentAt ?? entry.dueAt) : entry.dueAt;
      if (!entry.running && dueAt <= clock()) {
        entry.running = queue.push({ lookup, entry });
        if (!entry.running) dropped('metadata');
      }
      return entry.metadata;
    },
    idle: () => queue.idle(),
  };
}

/** A function that shares running work: callers with the same key get one answer, or one failure. */
function joined<T>(): (key: string, start: () => Promise<T>) => Promise<T> {
  const underWay = new Map<string, Promise<T>>();
  return (key, start) => {
    const running = underWay.get(key);
    if (running) return running;
    const started = start().finally(() => underWay.delete(key));
    underWay.set(key, started);
    return started;
  };
}
