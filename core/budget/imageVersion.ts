/** The versions of images that a budget compares, and values by version. */
import type { Rollout } from '../../api/types.ts';
import { refKey } from '../kube/names.ts';
import { policyRef } from '../policy/imagePolicy.ts';

interface Entry<T> {
  id: string;
  digest: string | undefined;
  value: T;
  place: number;
}

/** The entries of one tag, by digest (if it is known) and by id. */
interface Index<T> {
  unknown: Map<string, Entry<T>>;
  byDigest: Map<string, Map<string, Entry<T>>>;
}

/** The longest list that is searched; longer ones have an index. */
const SEARCHED_ENTRIES = 8;

/** Values by version. All must be added before the first lookup. Indexed, because a tag may have had many digests. */
export class ByVersion<T> {
  readonly #images = new Map<string, Map<string, Entry<T>[]>>();
  readonly #indexes = new Map<readonly Entry<T>[], Index<T>>();

  /** Adds a value of the owner `id`. Each owner has one value for a version: the first. */
  add({ image, tag, digest }: ImageVersion, id: string, value: T): void {
    const tags = this.#images.get(image) ?? new Map<string, Entry<T>[]>();
    if (tags.size === 0) this.#images.set(image, tags);
    const entries = tags.get(tag);
    const entry = { id, digest, value, place: entries?.length ?? 0 };
    if (entries) entries.push(entry);
    else tags.set(tag, [entry]);
  }

  /** The value that was added first for this version. */
  first(version: ImageVersion): T | undefined {
    const entries = this.#entriesOf(version);
    if (entries.length <= SEARCHED_ENTRIES || !version.digest)
      return entries.find((each) => isSameDigest(each, version))?.value;
    const { unknown, byDigest } = this.#indexOf(entries);
    const [a] = unknown.values();
    const [b] = byDigest.get(version.digest)?.values() ?? [];
    return (a && b && a.place > b.place ? b : (a ?? b))?.value;
  }

  /** All values of this version. */
  of(version: ImageVersion): T[] {
    const entries = this.#entriesOf(version);
    if (!version.digest) return [...firstOfEach(entries).values()].map(({ value }) => value);
    const { unknown } = this.#indexOf(entries);
    return [...unknown.values(), ...this.#others(entries, version.digest)].map(({ value }) => value);
  }

  /** The number of owners with this version. */
  count(version: ImageVersion): number {
    const entries = this.#entriesOf(version);
    if (!version.digest) return firstOfEach(entries).size;
    return this.#indexOf(entries).unknown.size + this.#others(entries, version.digest).length;
  }

  #others(entries: readonly Entry<T>[], digest: string): Entry<T>[] {
    const { unknown, byDigest } = this.#indexOf(entries);
    return [...(byDigest.get(digest)?.values() ?? [])].filter(({ id }) => !unknown.has(id));
  }

  #entriesOf({ image, tag }: ImageVersion): readonly Entry<T>[] {
    return this.#images.get(image)?.get(tag) ?? [];
  }

  #indexOf(entries: readonly Entry<T>[]): Index<T> {
    const known = this.#indexes.get(entries);
    if (known) return known;
    const byDigest = Map.groupBy(entries, ({ digest }) => digest ?? '');
    const index = {
      unknown: firstOfEach(byDigest.get('') ?? []),
      byDigest: new Map([...byDigest].map(([digest, each]) => [digest, firstOfEach(each)])),
    };
    this.#indexes.set(entries, index);
    return index;
  }
}

function firstOfEach<T>(entries: readonly Entry<T>[]): Map<string, Entry<T>> {
  const byId = new Map<string, Entry<T>>();
  for (const entry of entries) if (!byId.has(entry.id)) byId.set(entry.id, entry);
  return byId;
}

/** A function that finds in constant time whether a version is one of these. */
export function isOneOf(versions: readonly ImageVersion[]): (version: ImageVersion) => boolean {
  const known = new ByVersion<true>();
  for (const version of versions) known.add(version, '', true);
  return (version) => known.first(version) !== undefined;
}

/**
 * A version of one image. Applications with different images share neither failures nor waves, even under one budget
 * and with equal tags.
 */
export interface ImageVersion {
  image: string;
  tag: string;
  digest?: string;
}

/** The image of a Rollout's releases; while it is unknown, the name of the ImagePolicy. */
export function imageOf(rollout: Rollout): string {
  const ref = policyRef(rollout);
  return rollout.status?.image ?? (ref ? `ImagePolicy ${refKey(ref)}` : '');
}

/** The key of a version, without the digest, which may be unknown. */
export function versionKey({ image, tag }: ImageVersion): string {
  return `${image}:${tag}`;
}

/** Whether both are the same version. If both digests are known, a moved tag is another version. */
export function isSameImage(a: ImageVersion, b: ImageVersion): boolean {
  return a.image === b.image && a.tag === b.tag && isSameDigest(a, b);
}

export function isSameDigest(a: { digest?: string }, b: { digest?: string }): boolean {
  return !a.digest || !b.digest || a.digest === b.digest;
}
