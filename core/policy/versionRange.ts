/**
 * Ranges in `policy.semver.range` of an ImagePolicy, as Flux's library reads them (Masterminds/semver, constraints.go).
 * Each comparator becomes plain comparisons. Forms that npm's semver reads differently are read as the library does.
 */
import { compareVersions, parseVersion, type Version } from './semanticVersion.ts';

/** Whether the range contains the version. */
type VersionRange = (version: Version) => boolean;

/** The limits of Flux's library. */
const MAX_LENGTH = 512;
const MAX_ALTERNATIVES = 32;

const OPERATORS = '!=|>=|=>|<=|=<|~>|=|>|<|~|\\^|';
const NUMBER = '[0-9|xX*]+';
const WORDS = '[0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*';
const VERSION = `v?${NUMBER}(?:\\.${NUMBER})?(?:\\.${NUMBER})?(?:-${WORDS})?(?:\\+${WORDS})?`;
const HYPHENATED = new RegExp(`\\s*(${VERSION})\\s+-\\s+(${VERSION})\\s*`, 'g');
const COMPARATOR = new RegExp(`(${OPERATORS})\\s*(${VERSION})`, 'y');
const SEPARATOR = /\s*,\s*|\s+/y;
const PARTS = new RegExp(`^v?(${NUMBER})(?:\\.(${NUMBER}))?(?:\\.(${NUMBER}))?(-${WORDS})?(?:\\+${WORDS})?$`);

interface Comparator {
  /** Bounds that a version must all meet. */
  bounds: readonly Bound[];
  /** Set if a version matches when it does not meet all bounds. */
  not?: boolean;
  /** A version with another prerelease passes `!=1.2.x`. */
  exceptPrerelease?: string;
  hasPrerelease: boolean;
}

interface Bound {
  operator: '>' | '>=' | '<' | '<=' | '=';
  version: Version;
}

/** The range in a text; undefined if the text is not a range. */
export function parseRange(text: string): VersionRange | undefined {
  if (text.length > MAX_LENGTH) return undefined;
  const alternatives = text.replace(HYPHENATED, (_, from, to) => `>= ${from}, <= ${to} `).split('||');
  if (alternatives.length > MAX_ALTERNATIVES) return undefined;
  const groups = alternatives.map(parseGroup);
  if (groups.some((group) => group === undefined)) return undefined;
  return (version) => groups.some((group) => group!(version));
}

/** The range of comparators that must all match. It includes prereleases only if a comparator names a prerelease. */
function parseGroup(text: string): VersionRange | undefined {
  const comparators = tokens(text.trim())?.map(([operator, version]) => comparatorOf(operator, version));
  if (!comparators || comparators.some((comparator) => comparator === undefined)) return undefined;
  const takesPrereleases = comparators.some((comparator) => comparator!.hasPrerelease);
  const tests = comparators.map((comparator) => testOf(comparator!));
  return (version) => (version.prerelease.length === 0 || takesPrereleases) && tests.every((test) => test(version));
}

function tokens(text: string): [operator: string, version: string][] | undefined {
  const found: [string, string][] = [];
  for (let at = 0; ; ) {
    COMPARATOR.lastIndex = at;
    const match = COMPARATOR.exec(text);
    if (!match) return undefined;
    found.push([match[1]!, match[2]!]);
    at += match[0].length;
    if (at === text.length) return found;
    SEPARATOR.lastIndex = at;
    const separator = SEPARATOR.exec(text);
    if (!separator) return undefined;
    at += separator[0].length;
  }
}

function comparatorOf(operator: string, text: string): Comparator | undefined {
  const [, major = '', minor, patch, words = ''] = PARTS.exec(text) ?? [];
  const wild = wildcardOf(major, minor, patch);
  const lowest = { major: '0.0.0', minor: `${major}.0.0`, patch: `${major}.${minor}.0` };
  const version = parseVersion(wild === undefined ? text : `${lowest[wild]}${words}`);
  if (!version) return undefined;
  const [bounds, not] = boundsOf(operator, version, wild);
  const exceptPrerelease = operator === '!=' && wild === 'patch' ? version.prerelease.join('.') : undefined;
  const hasPrerelease = version.prerelease.length > 0;
  return { bounds, not, hasPrerelease, ...(exceptPrerelease !== undefined && { exceptPrerelease }) };
}

/** The first wildcard of a version. */
type Wild = 'major' | 'minor' | 'patch' | undefined;

function wildcardOf(major: string, minor: string | undefined, patch: string | undefined): Wild {
  if (isWild(major)) return 'major';
  if (isWild(minor)) return 'minor';
  return isWild(patch) ? 'patch' : undefined;
}

function boundsOf(operator: string, version: Version, wild: Wild): [bounds: Bound[], not: boolean] {
  const [major, minor, patch] = version.numbers.map(BigInt) as [bigint, bigint, bigint];
  const exact: Bound[] = [{ operator: '=', version }];
  const from: Bound = { operator: '>=', version };
  const before = (...numbers: [bigint, bigint, bigint]): Bound => ({ operator: '<', version: edge(numbers) });
  const onwards = (...numbers: [bigint, bigint, bigint]): Bound => ({ operator: '>=', version: edge(numbers) });
  const nextMajor = [major + 1n, 0n, 0n] as const;
  const nextMinor = [major, minor + 1n, 0n] as const;
  const isZero = major === 0n && minor === 0n && patch === 0n;
  switch (operator) {
    case '!=':
      if (wild === 'minor') return [[onwards(major, 0n, 0n), before(...nextMajor)], true];
      return wild === 'patch' ? [[onwards(major, minor, 0n), before(...nextMinor)], true] : [exact, true];
    case '>':
      if (wild === 'minor') return [[onwards(...nextMajor)], false];
      return wild === 'patch' ? [[onwards(...nextMinor)], false] : [[{ operator: '>', version }], false];
    case '<':
      return [[{ operator: '<', version }], false];
    case '>=':
    case '=>':
      return [[from], false];
    case '<=':
    case '=<':
      if (wild === 'minor') return [[before(...nextMajor)], false];
      // `<=*` is `<0.1.0` to the library.
      return wild === undefined ? [[{ operator: '<=', version }], false] : [[before(...nextMinor)], false];
    case '^':
      if (major > 0n || wild === 'minor') return [[from, before(...nextMajor)], false];
      if (minor > 0n || wild === 'patch') return [[from, before(...nextMinor)], false];
      // `^*` is `^0.0.0` to the library.
      return [[from, before(0n, 0n, patch + 1n)], false];
    case '':
    case '=':
      if (wild === undefined) return [exact, false];
  }
  // `~`, `~>`, and a wildcard without an operator. `~0.0.0` has no upper bound.
  if (isZero && (wild === undefined || wild === 'major')) return [[from], false];
  return [[from, wild === 'minor' ? before(...nextMajor) : before(...nextMinor)], false];
}

/** The least of all versions with these numbers, which has the prerelease 0. */
function edge(numbers: readonly [bigint, bigint, bigint]): Version {
  const version: Version = { numbers, prerelease: ['0'], strict: true };
  return parseVersion(`${numbers.join('.')}-0`) ?? version;
}

function testOf({ bounds, not = false, exceptPrerelease }: Comparator): VersionRange {
  const holds = (version: Version) =>
    bounds.every((bound) => HOLDS[bound.operator](compareVersions(version, bound.version)));
  return (version) => {
    const passes = exceptPrerelease !== undefined && version.prerelease.join('.') !== exceptPrerelease;
    return passes || holds(version) !== not;
  };
}

const HOLDS: Record<Bound['operator'], (order: number) => boolean> = {
  '>': (order) => order > 0,
  '>=': (order) => order >= 0,
  '<': (order) => order < 0,
  '<=': (order) => order <= 0,
  '=': (order) => order === 0,
};

function isWild(part: string | undefined): boolean {
  return part === undefined || part === 'x' || part === 'X' || part === '*';
}
