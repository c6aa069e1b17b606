/** What judges look at: each version that was stored, and the writes that stored them. */
import type { AnyObject } from '../client/send.ts';

interface StoredVersion {
  /** `/registry/GROUP/PLURAL/NAMESPACE/NAME` */
  key: string;
  /** The resourceVersion; that of a deletion is on no object. */
  revision: number;
  /** undefined: deleted. */
  object: AnyObject | undefined;
}

/** A version and when it was seen: it was stored then or earlier. */
export interface SeenVersion extends StoredVersion {
  seenMs: number;
}

/** Places are positions in the log of the API server, which writes in the order in which things happen to it. */
export interface Write {
  user: string;
  verb: string;
  code: number;
  /** Where it says that it has received it; its clock at that moment. */
  receivedAt: number;
  receivedMs: number;
  answeredAt: number;
  answeredMs: number;
  /** The resourceVersion that it answered. */
  revision?: number;
  /** The reason with which somebody bypassed a Gate. */
  bypass?: string;
  /** It was a server-side apply. */
  isApply?: boolean;
  /** The annotations that it set or removed. */
  annotations?: Record<string, string | null>;
}

export interface Writes {
  /** Answered writes of an object, in the order of the answers. */
  of(key: string): readonly Write[];
  /** The write that stored a revision of an object; none where the API server died before it answered. */
  writerOf(key: string, revision: number): Write | undefined;
  /** Places where writes of the object were received that were never answered. */
  unanswered(key: string): readonly number[];
  /** The first place that shows the revision or a later one: what is received after it came after that revision was stored. */
  shownAt(revision: number): number;
}
