/** Which requests come from the page itself: a cookie alone proves nothing, since browsers send it along with what other pages ask for. */
import type { IncomingMessage } from 'node:http';
import type { PageRefusal } from '../guard.ts';

/** No other origin can make a browser send it: that takes a preflight, which nobody here answers. */
export const PAGE_HEADER = 'x-rollouts-page';

const STRANGER = 'This server answers its own page only, and no page of another origin.';

/** For everything that tells of the cluster or changes it. `origin`: the page's own. */
export function refuseStranger(
  { method, headers }: Pick<IncomingMessage, 'method' | 'headers'>,
  origin: string,
): PageRefusal | undefined {
  const { origin: given, 'sec-fetch-site': site } = headers;
  const isOther = given === undefined ? method !== 'GET' : given !== origin;
  const isElsewhere = site !== undefined && site !== 'same-origin';
  if (isOther || isElsewhere || headers[PAGE_HEADER] === undefined) return { status: 403, message: STRANGER };
  return undefined;
}

/** A path of the page to go to after the sign-in; anything else is the board. */
export function localPath(text: string | null, origin: string): string {
  if (!text?.startsWith('/') || text.length > 1000 || !URL.canParse(text, origin)) return '/';
  const url = new URL(text, origin);
  const isOwn = url.origin === origin && !url.pathname.startsWith('//') && !/^\/(api|sign-|signed-)/.test(url.pathname);
  return isOwn ? url.pathname + url.search : '/';
}

// How often one may ask.

interface RateOptions {
  perSecond: number;
  /** At once. */
  burst: number;
  now: () => number;
}

/** Keys that are remembered; with more, all begin anew. */
const MOST_KEYS = 10_000;

/** Answers whether one more is within the limit, by key. */
export function createRateLimit({ perSecond, burst, now }: RateOptions): (key: string) => boolean {
  const buckets = new Map<string, { left: number; at: number }>();
  return (key) => {
    const at = now();
    const before = buckets.get(key) ?? { left: burst, at };
    const left = Math.min(burst, before.left + (Math.max(0, at - before.at) / 1000) * perSecond);
    if (buckets.size >= MOST_KEYS) buckets.clear();
    buckets.set(key, { left: left < 1 ? left : left - 1, at });
    return left >= 1;
  };
}
