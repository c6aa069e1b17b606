/**
 * Lists of the API server in pages of limited size: tenants can create many large objects, and a page is parsed as a
 * whole.
 */
import type { KubeObject } from '../../api/kubernetes.ts';
import { SERVER_LIMITS } from '../http/serverLimits.ts';
import { isTooLarge } from './apiError.ts';
import type { Request } from './connection.ts';
import { withQuery } from './paths.ts';

/** The part of `pageBytes` that a page aims for, because objects differ in size. */
const FILL = 1 / 2;
const MOST_OBJECTS = 500;
/** The largest growth factor from one page to the next, and the factor by which a repeated page shrinks. */
const STEP = 4;

export interface List<T> {
  apiVersion?: string;
  kind?: string;
  metadata?: { continue?: string; resourceVersion?: string };
  items: T[] | null;
}

interface ListRequest extends Pick<Request, 'accept' | 'signal' | 'withoutFieldOwners'> {
  path: string;
  query: Record<string, string | undefined>;
  /** The number of objects in the first page, unless they are too large. */
  first: number;
}

/**
 * The pages of a list, each with the bytes of its JSON. The size of earlier objects determines how many the next page
 * requests. A page that is too large is requested again with fewer objects; one object always fits.
 */
export async function* listPages<T extends KubeObject<any, any>>(
  send: <R>(request: Request) => Promise<R>,
  { path, query, first, ...options }: ListRequest,
): AsyncGenerator<{ list: List<T>; bytes: number }> {
  let count = first;
  let next: string | undefined;
  for (;;) {
    let bytes = 0;
    const request: Request = {
      ...options,
      path: withQuery(path, { ...query, limit: String(count), continue: next }),
      maxBytes: SERVER_LIMITS.pageBytes,
      measured: (size) => {
        bytes = size;
      },
    };
    let list: List<T>;
    try {
      list = await send<List<T>>(request);
    } catch (error) {
      if (!isTooLarge(error) || count === 1) throw error;
      count = Math.ceil(count / STEP);
      continue;
    }
    next = list.metadata?.continue || undefined;
    count = nextCount(count, list.items?.length ?? 0, bytes);
    yield { list, bytes };
    if (!next) return;
  }
}

function nextCount(count: number, objects: number, bytes: number): number {
  if (objects === 0 || bytes === 0) return count;
  const fitting = Math.floor((objects / bytes) * SERVER_LIMITS.pageBytes * FILL);
  return Math.max(1, Math.min(fitting, count * STEP, MOST_OBJECTS));
}
