/** Versions as Flux's library reads and orders them (Masterminds/semver). */

/** A bigint where it may be too large for a number. The two compare, but are never equal by `===`. */
type Numeral = number | bigint;

export interface Version {
  /** Major, minor, patch. */
  numbers: readonly [Numeral, Numeral, Numeral];
  /** Its parts: a number counts as a number where the library's 64 bits hold it. */
  prerelease: readonly (string | Numeral)[];
  /** Whether an ImagePolicy takes it: three numbers, no leading zeros, at most one leading `v` (fluxcd/pkg/version). */
  strict: boolean;
}

/** The library counts in 64 bits. */
const MAX = 2n ** 64n - 1n;
const MAX_LENGTH = 256;
/** Digits that a double holds exactly. */
const MAX_DIGITS = 15;

const NUMBER = '(\\d+)';
const WORDS = '[0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*';
/** Nearly all are so, and there may be thousands. */
const USUAL = /^v?(0|[1-9]\d{0,14})\.(0|[1-9]\d{0,14})\.(0|[1-9]\d{0,14})$/;
const VERSION = new RegExp(`^v?${NUMBER}(?:\\.${NUMBER})?(?:\\.${NUMBER})?(?:-(${WORDS}))?(?:\\+${WORDS})?$`);

/** undefined when the text is not a version. Missing numbers are 0 and leading zeros do not count, as in the library's NewVersion. */
export function parseVersion(text: string): Version | undefined {
  const usual = USUAL.exec(text);
  if (usual) return { numbers: [Number(usual[1]), Number(usual[2]), Number(usual[3])], prerelease: [], strict: true };
  const match = text.length <= MAX_LENGTH ? VERSION.exec(text) : null;
  if (!match) return undefined;
  const [, major, minor, patch, words] = match;
  const digits = [major!, minor ?? '0', patch ?? '0'];
  const numbers = digits.map(numeral) as [Numeral, Numeral, Numeral];
  const parts = words?.split('.') ?? [];
  if (numbers.some((number) => number > MAX) || parts.some(hasLeadingZero)) return undefined;
  const prerelease = parts.map((part) => (isNumber(part) ? numeral(part) : part));
  return { numbers, prerelease, strict: patch !== undefined && !digits.some(hasLeadingZero) };
}

/** Negative when a comes before b. Build metadata does not count. */
export function compareVersions(a: Version, b: Version): number {
  for (let i = 0; i < 3; i++) {
    if (a.numbers[i]! < b.numbers[i]!) return -1;
    if (a.numbers[i]! > b.numbers[i]!) return 1;
  }
  return comparePrereleases(a.prerelease, b.prerelease);
}

/** A release comes after its prereleases, a number before a word, and the shorter of two that begin alike before the longer. */
function comparePrereleases(a: Version['prerelease'], b: Version['prerelease']): number {
  if (a.length === 0 || b.length === 0) return b.length - a.length;
  for (let i = 0; i < a.length && i < b.length; i++) {
    const [one, other] = [a[i]!, b[i]!];
    if (one === other) continue;
    const isWord = typeof one === 'string';
    if (isWord !== (typeof other === 'string')) return isWord ? 1 : -1;
    return one < other ? -1 : 1;
  }
  return a.length - b.length;
}

function numeral(digits: string): Numeral {
  return digits.length <= MAX_DIGITS ? Number(digits) : BigInt(digits);
}

function isNumber(word: string): boolean {
  return /^\d+$/.test(word) && numeral(word) <= MAX;
}

function hasLeadingZero(word: string): boolean {
  return /^0\d+$/.test(word);
}
