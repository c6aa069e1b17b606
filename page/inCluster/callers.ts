/** Recognizes requests of the page itself: browsers send a cookie with requests of other pages too. */
import type { IncomingMessage } from 'node:http';
import { OTHER_ORIGIN, type PageRefusal } from '../guard.ts';

/** A header of the page's requests. Other origins can't send it: it takes a preflight, which is never answered. */
const PAGE_HEADER = 'x-rollouts-page';

/** Refuses requests of other origins. For every request that reads or changes the cluster. `origin`: the page's own. */
export function refuseStranger(
  { method, headers }: Pick<IncomingMessage, 'method' | 'headers'>,
  origin: string,
): PageRefusal | undefined {
  const { origin: given, 'sec-fetch-site': site } = headers;
  const isOther = given === undefined ? method !== 'GET' : given !== origin;
  const isElsewhere = site !== undefined && site !== 'same-origin';
  if (isOther || isElsewhere || headers[PAGE_HEADER] === undefined) return { status: 403, message: OTHER_ORIGIN };
  return undefined;
}

/**
 * Refuses requests that a browser makes for a part of a page, such as a picture, and not to open one. Other pages could
 * use up the limit of sign-ins by them. Clients that don't send the header are allowed.
 */
export function refuseEmbedded({ headers }: Pick<IncomingMessage, 'headers'>): PageRefusal | undefined {
  const destination = headers['sec-fetch-dest'];
  if (destination === undefined || destination === 'document') return undefined;
  return { status: 403, message: 'A sign-in starts only in a window of its own: open this address there.' };
}

/** The path to open after the sign-in: `text` if it is a path of the page, else the board. */
export function localPath(text: string | null, origin: string): string {
  if (!text?.startsWith('/') || text.length > 1000 || !URL.canParse(text, origin)) return '/';
  const url = new URL(text, origin);
  const isOwn = url.origin === origin && !url.pathname.startsWith('//') && !/^\/(api|sign-|signed-)/.test(url.pathname);
  return isOwn ? url.pathname + url.search : '/';
}

// Rate limits.

interface RateOptions {
  perSecond: number;
  /** Requests that are allowed at once. */
  burst: number;
  now: () => number;
}

/** The most stored keys; beyond it all counts start again. */
const MAX_KEYS = 10_000;

/** A function that returns whether one more request of a key is within the limit. */
export function createRateLimit({ perSecond, burst, now }: RateOptions): (key: string) => boolean {
  const buckets = new Map<string, { left: number; at: number }>();
  return (key) => {
    const at = now();
    const before = buckets.get(key) ?? { left: burst, at };
    const left = Math.min(burst, before.left + (Math.max(0, at - before.at) / 1000) * perSecond);
    if (buckets.size >= MAX_KEYS) buckets.clear();
    buckets.set(key, { left: left < 1 ? left : left - 1, at });
    return left >= 1;
  };
}
