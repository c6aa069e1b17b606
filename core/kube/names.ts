/** Names of objects: as keys, in annotations, and shortened to fit into a label or a name. */
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import type { KubeObject, NamespacedName } from '../../api/kubernetes.ts';
import { LIMITS } from '../limits.ts';

/** Kubernetes' limits, in characters. */
const MAX_LABEL_VALUE = 63;
const MAX_OBJECT_NAME = 253;

/** Namespace and name of an object, empty if it has none. */
export function identityOf({ metadata }: Pick<KubeObject, 'metadata'>): NamespacedName {
  return { namespace: metadata.namespace ?? '', name: metadata.name ?? '' };
}

/** Key of an object: `namespace/name`; the name alone if there is no namespace. */
export function refKey({ namespace, name }: NamespacedName): string {
  return namespace ? `${namespace}/${name}` : name;
}

/** The references, each once. */
export function uniqueRefs<T extends NamespacedName>(refs: readonly T[]): T[] {
  return [...new Map(refs.map((ref) => [refKey(ref), ref])).values()];
}

/** The objects, sorted by `refKey`. */
export function sortedByKey<T extends Pick<KubeObject, 'metadata'>>(objects: readonly T[]): T[] {
  return [...byRefKey(objects)].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, object]) => object);
}

/** The references that the others don't contain. */
export function without<T extends NamespacedName>(refs: readonly T[], others: readonly NamespacedName[]): T[] {
  const known = new Set(others.map(refKey));
  return refs.filter((ref) => !known.has(refKey(ref)));
}

/** The objects, keyed by `refKey`. */
export function byRefKey<T extends Pick<KubeObject, 'metadata'>>(objects: readonly T[]): Map<string, T> {
  return new Map(objects.map((object) => [refKey(identityOf(object)), object]));
}

/** The group of an apiVersion; empty for the core group. */
export function groupOf(apiVersion: string): string {
  const slash = apiVersion.indexOf('/');
  return slash < 0 ? '' : apiVersion.slice(0, slash);
}

/** Whether the object has this kind, in any version. */
export function isKind(
  { apiVersion, kind }: { apiVersion: string; kind: string },
  known: { group: string; kind: string },
): boolean {
  return kind === known.kind && groupOf(apiVersion) === known.group;
}

/**
 * The parts of a list in an annotation, `a, ns/b`, trimmed; undefined if there are more than the limit.
 * An annotation may have 256 kB.
 */
export function splitNames(text: string): string[] | undefined {
  const parts: string[] = [];
  for (let from = 0; from <= text.length; ) {
    if (parts.length === LIMITS.namesInAnnotation) return undefined;
    const comma = text.indexOf(',', from);
    const end = comma < 0 ? text.length : comma;
    parts.push(text.slice(from, end).trim());
    from = end + 1;
  }
  return parts;
}

const OBJECT_NAME = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/;

/**
 * Whether an object may have this name: a DNS subdomain. The length is checked first, because the pattern takes
 * quadratic time.
 */
export function isObjectName(name: string): boolean {
  return name.length <= MAX_OBJECT_NAME && OBJECT_NAME.test(name);
}

/** Whether a Namespace can have this name: without dots, and shorter. */
export function isNamespaceName(name: string): boolean {
  return name.length <= 63 && !name.includes('.') && isObjectName(name);
}

/** 16 hex digits of SHA-256: the same text gives the same hash on every machine. */
export function shortHash(text: string): string {
  return bytesToHex(sha256(utf8ToBytes(text))).slice(0, 16);
}

/**
 * The beginning of an object name: the text with a hyphen for each run of other characters, at most `most` characters.
 */
export function namePrefix(text: string, most: number): string {
  return text
    .slice(0, most)
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/-$/, '');
}

/** A number from 0 to 1 that depends on the uid alone, to spread work that many objects would do at one time. */
export function uidFraction(uid = ''): number {
  return Number.parseInt(shortHash(uid).slice(0, 4), 16) / 0xffff;
}

/** The name if it fits into a label value, else its beginning and a hash. */
export function labelValue(name: string): string {
  if (name.length <= MAX_LABEL_VALUE) return name;
  return `${name.slice(0, MAX_LABEL_VALUE - 17).replace(/[^a-z0-9]+$/, '')}-${shortHash(name)}`;
}

/**
 * An object name made of parts; if it is too long, a hash replaces its end.
 * Only names with a hash have the full length: otherwise a user could give an object the name that the hash of another
 * one makes.
 */
export function objectName(...parts: string[]): string {
  const name = parts.join('-').toLowerCase();
  if (name.length < MAX_OBJECT_NAME) return name;
  const begin = name.slice(0, MAX_OBJECT_NAME - 17).replace(/[^a-z0-9]+$/, (end) => '-'.repeat(end.length));
  return `${begin}-${shortHash(name)}`;
}
