/** A page for each person who is reading: watches and caches with that person's rights, shared by all of their tabs. */
import { KINDS } from '../../api/kinds.ts';
import type { KubeClient } from '../../cli/kube/kubeClient.ts';
import { createPage, type Page } from '../page.ts';
import { type Identity, identityKey } from './identity.ts';

/** Each keeps what the person may read in memory. */
export const MOST_READERS = 50;
/** A reload, or a lid that was closed for a moment, finds everything still there. */
const IDLE_MS = 5 * 60_000;
const SWEEP_MS = 30_000;

export interface ReaderPages {
  /** undefined: too many users are reading now. */
  pageOf(identity: Identity): Page | undefined;
  /** Ends the person's streams; those who are still signed in open them again. */
  interrupt(identity: Identity): void;
  close(): void;
}

interface ReaderPagesOptions {
  /** A client that impersonates the person. */
  connect(identity: Identity): KubeClient;
  clusterName: string;
  /** Read for those who may not read the whole cluster. */
  namespaces: readonly string[];
  now(): number;
  most?: number;
}

interface Open {
  page: Page;
  client: KubeClient;
  usedAt: number;
}

export function createReaderPages({
  connect,
  clusterName,
  namespaces,
  now,
  most = MOST_READERS,
}: ReaderPagesOptions): ReaderPages {
  const open = new Map<string, Open>();
  const close = (key: string, { page, client }: Open) => {
    open.delete(key);
    page.feed.stop();
    client.close();
  };
  const idle = () => [...open].filter(([, { page }]) => page.feed.hub.size === 0);
  const makeRoom = () => {
    const [longest] = idle().sort(([, a], [, b]) => a.usedAt - b.usedAt);
    if (longest) close(...longest);
  };
  const sweep = setInterval(() => {
    for (const [key, each] of idle()) if (now() - each.usedAt > IDLE_MS) close(key, each);
  }, SWEEP_MS);
  sweep.unref();
  return {
    pageOf(identity) {
      const key = identityKey(identity);
      const before = open.get(key);
      if (before) {
        before.usedAt = now();
        return before.page;
      }
      if (open.size >= most) makeRoom();
      if (open.size >= most) return undefined;
      const client = connect(identity);
      const hello = { context: clusterName, server: '', user: identity.user, program: 'kubectl rollouts' };
      const page = createPage({ client, hello, fallback: namespaces[0]!, now });
      open.set(key, { page, client, usedAt: now() });
      void mayReadAll(client).then((all) => page.feed.start(all ? undefined : namespaces));
      return page;
    },
    interrupt(identity) {
      open.get(identityKey(identity))?.page.feed.hub.close();
    },
    close() {
      clearInterval(sweep);
      for (const [key, each] of open) close(key, each);
    },
  };
}

/** Where that is not known, it is tried. */
function mayReadAll(client: KubeClient): Promise<boolean> {
  const { group, resource } = KINDS.Rollout;
  return client.mayI({ verb: 'list', group, resource, namespace: '', name: '' }).catch(() => true);
}
