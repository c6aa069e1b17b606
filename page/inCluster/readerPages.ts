/** The pages of each reader, one for each cluster: watches and caches with the reader's rights, for all tabs. */
import { KINDS } from '../../api/kinds.ts';
import type { KubeClient } from '../../connection/kube/kubeClient.ts';
import { closePages, createPages, type Page } from '../page.ts';
import type { ShareObject } from '../views.ts';
import { type Identity, identityKey } from './identity.ts';

/** The most readers: the objects that each may read are kept in memory. */
const MAX_READERS = 50;
/**
 * The time for which a reader's pages are kept without a tab, so that everything is still loaded after a reload or a
 * closed lid.
 */
const IDLE_MS = 5 * 60_000;
const SWEEP_MS = 30_000;
/**
 * The interval of the check whether a reader may read the whole cluster: a change of rights takes effect within five
 * minutes.
 */
const RIGHTS_MS = 4 * 60_000;

export interface ReaderPages {
  /** The reader's pages, one for each cluster; undefined if too many readers have open tabs. */
  pagesOf(identity: Identity): readonly Page[] | undefined;
  /** Ends the reader's streams; browsers that are still signed in open them again. */
  interrupt(identity: Identity): void;
  /** Ends all streams and drops all caches: sessions or clusters have changed. */
  closeAll(): void;
  close(): void;
}

interface ReaderPagesOptions {
  /** A client for each cluster, which impersonates the reader. */
  connect(identity: Identity): readonly { name: string; client: KubeClient; share: ShareObject }[];
  /** The namespaces to read for readers who can't read the whole cluster. */
  namespaces: readonly string[];
  /** The address that ends the session; undefined if there is none. */
  signOut: string | undefined;
  now(): number;
}

interface OpenPages {
  pages: readonly Page[];
  clients: readonly KubeClient[];
  /** Whether the reader may read each whole cluster; undefined: unknown. */
  readsAll: Promise<readonly (boolean | undefined)[]>;
  usedAt: number;
  checkedAt: number;
}

/** The reader's hub: one stream has all clusters. */
const hubOf = ({ pages }: OpenPages) => pages[0]!.feed.hub;

export function createReaderPages({ connect, namespaces, signOut, now }: ReaderPagesOptions): ReaderPages {
  const open = new Map<string, OpenPages>();
  const close = (key: string, { pages, clients }: OpenPages) => {
    open.delete(key);
    closePages(pages);
    for (const client of clients) client.close();
  };
  const closeAll = () => {
    for (const [key, each] of open) close(key, each);
  };
  const idlePages = () => [...open].filter(([, each]) => hubOf(each).size === 0);
  const makeRoom = () => {
    const [oldest] = idlePages().sort(([, a], [, b]) => a.usedAt - b.usedAt);
    if (oldest) close(...oldest);
  };
  /** Closes pages that read too much or too little since the reader's rights have changed; browsers open them again. */
  const checkRights = async (key: string, each: OpenPages) => {
    each.checkedAt = now();
    const [before, after] = await Promise.all([each.readsAll, Promise.all(each.clients.map(mayReadAll))]);
    const isChanged = after.some((all, index) => all !== undefined && all !== (before[index] ?? true));
    if (isChanged && open.get(key) === each) close(key, each);
  };
  const sweep = setInterval(() => {
    for (const [key, each] of idlePages()) if (now() - each.usedAt > IDLE_MS) close(key, each);
    for (const [key, each] of open) if (now() - each.checkedAt > RIGHTS_MS) void checkRights(key, each);
  }, SWEEP_MS);
  sweep.unref();
  return {
    pagesOf(identity) {
      const key = identityKey(identity);
      const before = open.get(key);
      if (before) {
        before.usedAt = now();
        return before.pages;
      }
      if (open.size >= MAX_READERS) makeRoom();
      if (open.size >= MAX_READERS) return undefined;
      const clusters = connect(identity);
      const clients = clusters.map(({ client }) => client);
      const hello = { server: '', user: identity.user, ...(signOut && { signOut }) };
      const pages = createPages(
        clusters.map(({ name, client, share }) => ({
          client,
          share,
          hello: { ...hello, context: name },
          fallback: namespaces[0]!,
          now,
        })),
      );
      const readsAll = clients.map(mayReadAll);
      for (const [index, { feed }] of pages.entries()) {
        void readsAll[index]!.then((all) => feed.start(all === false ? namespaces : undefined));
      }
      open.set(key, { pages, clients, readsAll: Promise.all(readsAll), usedAt: now(), checkedAt: now() });
      return pages;
    },
    interrupt(identity) {
      const found = open.get(identityKey(identity));
      if (found) hubOf(found).close();
    },
    closeAll,
    close() {
      clearInterval(sweep);
      closeAll();
    },
  };
}

/** Whether the reader may read the whole cluster; undefined if the API server does not answer. */
function mayReadAll(client: KubeClient): Promise<boolean | undefined> {
  const { group, resource } = KINDS.Rollout;
  return client.mayI({ verb: 'list', group, resource, namespace: '', name: '' }).catch(() => undefined);
}
