/** Versions as Flux's library, Masterminds/semver, reads and orders them. */

/** A bigint if it may be too large for a number. The two compare, but are never equal by `===`. */
type Numeral = number | bigint;

export interface Version {
  /** Major, minor, patch. */
  numbers: readonly [Numeral, Numeral, Numeral];
  /** The parts between dots: numbers are read as such, except beyond 64 bits. */
  prerelease: readonly (Numeral | string)[];
  /** Whether an ImagePolicy may select it: three numbers, no leading zeros, one `v` at most (fluxcd/pkg/version). */
  strict: boolean;
}

/** The largest number of Flux's library, which has 64 bits. */
const MAX_NUMBER = 2n ** 64n - 1n;
/** Characters of a version. */
const MAX_LENGTH = 256;
/** Digits of a number that is exact without being a bigint. */
const MAX_SMALL_DIGITS = 15;

const NUMBER = '(\\d+)';
const WORDS = '[0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*';
/** Nearly all versions have this form, and there may be thousands. */
const USUAL = /^v?(0|[1-9]\d{0,14})\.(0|[1-9]\d{0,14})\.(0|[1-9]\d{0,14})$/;
const VERSION = new RegExp(`^v?${NUMBER}(?:\\.${NUMBER})?(?:\\.${NUMBER})?(?:-(${WORDS}))?(?:\\+${WORDS})?$`);

/**
 * The version in a text; undefined if the text is not a version.
 * Missing numbers are 0, and leading zeros do not count, as in NewVersion of Flux's library.
 */
export function parseVersion(text: string): Version | undefined {
  const usual = USUAL.exec(text);
  if (usual) return { numbers: [Number(usual[1]), Number(usual[2]), Number(usual[3])], prerelease: [], strict: true };
  const match = text.length <= MAX_LENGTH ? VERSION.exec(text) : null;
  if (!match) return undefined;
  const [, major, minor, patch, words] = match;
  const digits = [major!, minor ?? '0', patch ?? '0'];
  const numbers = digits.map(numeral) as [Numeral, Numeral, Numeral];
  const parts = words?.split('.') ?? [];
  if (numbers.some((number) => number > MAX_NUMBER) || parts.some(hasLeadingZero)) return undefined;
  return { numbers, prerelease: parts.map(part), strict: patch !== undefined && !digits.some(hasLeadingZero) };
}

/** The order of two versions: negative if a comes before b. Build metadata does not count. */
export function compareVersions(a: Version, b: Version): number {
  for (let i = 0; i < 3; i++) {
    const order = compare(a.numbers[i]!, b.numbers[i]!);
    if (order !== 0) return order;
  }
  const [left, right] = [a.prerelease, b.prerelease];
  // A version comes after its prereleases.
  if (left.length === 0 || right.length === 0) return right.length - left.length;
  for (let i = 0; i < Math.min(left.length, right.length); i++) {
    const order = comparePart(left[i]!, right[i]!);
    if (order !== 0) return order;
  }
  return left.length - right.length;
}

/** The order of two parts of prereleases: numbers come before words. */
function comparePart(a: Numeral | string, b: Numeral | string): number {
  return compare(typeof a === 'string', typeof b === 'string') || compare(a, b);
}

function compare<Value extends Numeral | string | boolean>(a: Value, b: Value): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function part(word: string): Numeral | string {
  const number = /^\d+$/.test(word) ? numeral(word) : undefined;
  return number !== undefined && number <= MAX_NUMBER ? number : word;
}

function numeral(digits: string): Numeral {
  return digits.length <= MAX_SMALL_DIGITS ? Number(digits) : BigInt(digits);
}

function hasLeadingZero(word: string): boolean {
  return /^0\d+$/.test(word);
}
