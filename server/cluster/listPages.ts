/**
 * Lists of the API server in pages of limited bytes: tenants can make objects large and numerous, and a page is parsed
 * as a whole.
 */
import type { KubeObject } from '../../api/kubernetes.ts';
import { SERVER_LIMITS } from '../http/serverLimits.ts';
import { isTooLarge } from './apiError.ts';
import type { Request } from './connection.ts';
import { withQuery } from './paths.ts';

/** The part of `pageBytes` that a page should have: objects differ in size. */
const FILL = 1 / 2;
const MOST_OBJECTS = 500;
/** By how much the next page may have more objects, and by how much a repeated one has fewer. */
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
  /** Objects of the first page, unless these are too large. */
  first: number;
}

/**
 * The pages of a list, each with the bytes of its JSON. The number of objects in a page follows from the size of those
 * before. A page that is too large is requested again with fewer objects, of which one always fits.
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
