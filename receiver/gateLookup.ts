/** The Gate that a path belongs to. Anybody can send unknown paths, so these must not cost a list each. */
import { GATES } from '../api/kinds.ts';
import type { EpochMs, NamespacedName } from '../api/kubernetes.ts';
import type { ClusterReader } from '../api/ports.ts';
import type { Gate } from '../api/types.ts';

/** Between two lists: a new Gate is found at most this long after its path is in its status. */
const LIST_EVERY_MS = 2000;
const PATH = /^\/hook\/[0-9a-f]{64}$/;

/** Whether it could belong to a Gate, decided before anything is read. */
export function isWebhookPath(path: string): boolean {
  return PATH.test(path);
}

/** The Gate is read live; only which path belongs to which Gate is cached. */
export function createGateLookup(cluster: ClusterReader, now: () => EpochMs) {
  let paths = new Map<string, NamespacedName>();
  let listedAt = Number.NEGATIVE_INFINITY;
  let listing: Promise<void> | undefined;

  const list = async () => {
    const gates = await cluster.list<Gate>(GATES);
    paths = new Map(
      gates.flatMap(({ metadata, status }) =>
        status?.webhookPath ? [[status.webhookPath, { namespace: metadata.namespace!, name: metadata.name! }]] : [],
      ),
    );
  };

  return async (path: string): Promise<Gate | undefined> => {
    if (!isWebhookPath(path)) return undefined;
    if (!paths.has(path) && Math.abs(now() - listedAt) >= LIST_EVERY_MS) {
      listedAt = now();
      listing = list();
    }
    await listing?.catch((error) => {
      listedAt = Number.NEGATIVE_INFINITY;
      throw error;
    });
    const ref = paths.get(path);
    const gate = ref && (await cluster.get<Gate>({ ...GATES, ...ref }));
    if (ref && gate?.status?.webhookPath !== path) paths.delete(path);
    return gate?.status?.webhookPath === path ? gate : undefined;
  };
}
