/** The input of the oracle: every stored version, and the writes that stored them. */
import type { AnyObject } from '../client/send.ts';

interface StoredVersion {
  /** `/registry/GROUP/PLURAL/NAMESPACE/NAME` */
  key: string;
  /** The resourceVersion. A deletion has one that no object carries. */
  revision: number;
  /** undefined after a deletion. */
  object: AnyObject | undefined;
}

/** A stored version, and a time at which or before which it was stored. */
export interface SeenVersion extends StoredVersion {
  seenMs: number;
}

/**
 * A write that the API server answered. `receivedAt` and `answeredAt` are positions in its log, which is in the order
 * of events.
 */
export interface Write {
  user: string;
  verb: string;
  code: number;
  /** The position of the receipt, and the API server's time then. */
  receivedAt: number;
  receivedMs: number;
  answeredAt: number;
  answeredMs: number;
  /** The resourceVersion in the answer. */
  revision?: number;
  /** The reason that bypassed a Gate. */
  bypass?: string;
  /** Whether the API server stored the write without the answer of each webhook. */
  isUngoverned?: boolean;
  /** Whether the write was a server-side apply. */
  isApply?: boolean;
  /** Annotations that the write set, or removed (null). */
  annotations?: Record<string, string | null>;
}

export interface Writes {
  /** Answered writes of an object, in the order of the answers. */
  of(key: string): readonly Write[];
  /** The write that stored a revision of an object; undefined if the API server died before it answered. */
  writerOf(key: string, revision: number): Write | undefined;
  /** Positions at which writes of the object were received that were never answered. */
  unanswered(key: string): readonly number[];
  /**
   * The first position that shows the revision or a later one. A write received after it came after that revision was
   * stored.
   */
  shownAt(revision: number): number;
}

/** Answered writes by object and by the revision that they stored. Add them in the order of the answers. */
export function indexWrites(): Pick<Writes, 'of' | 'writerOf'> & { add(key: string, write: Write): void } {
  const byKey = new Map<string, Write[]>();
  const byRevision = new Map<string, Write>();
  return {
    add(key, write) {
      byKey.set(key, byKey.get(key) ?? []);
      byKey.get(key)!.push(write);
      // A write that changes nothing is answered with the revision of an earlier write, after that one.
      const at = `${key}@${write.revision}`;
      if (write.revision !== undefined && !byRevision.has(at)) byRevision.set(at, write);
    },
    of: (key) => byKey.get(key) ?? [],
    writerOf: (key, revision) => byRevision.get(`${key}@${revision}`),
  };
}
