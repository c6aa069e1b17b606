/**
 * Versions as Flux's library, Masterminds/semver, reads and orders them.
 * npm's semver compares them: this file turns Flux's forms into those of npm.
 */
import { compare, SemVer } from 'semver';

/** A bigint if it may be too large for a number. The two compare, but are never equal by `===`. */
type Numeral = number | bigint;

export interface Version {
  /** Major, minor, patch. */
  numbers: readonly [Numeral, Numeral, Numeral];
  prerelease: readonly string[];
  /** Whether an ImagePolicy may select it: three numbers, no leading zeros, one `v` at most (fluxcd/pkg/version). */
  strict: boolean;
  /** The form of npm's semver; absent without a prerelease, and if npm's semver cannot hold the numbers. */
  plain?: SemVer;
}

/** The largest number of Flux's library, which has 64 bits. */
const MAX_NUMBER = 2n ** 64n - 1n;
/** Characters of a version. */
const MAX_LENGTH = 256;
/** npm's semver rejects numbers beyond 2^53; from here on they are replaced by their rank. */
const LARGE = 10n ** 15n;
/** Digits of a number that is smaller than LARGE. */
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
  const prerelease = words?.split('.') ?? [];
  if (numbers.some((number) => number > MAX_NUMBER) || prerelease.some(hasLeadingZero)) return undefined;
  const version: Version = { numbers, prerelease, strict: patch !== undefined && !digits.some(hasLeadingZero) };
  const isSmall = [...numbers, ...prerelease.filter(isNumber).map(numeral)].every((number) => number < LARGE);
  return isSmall ? { ...version, plain: new SemVer(npmText(version)) } : version;
}

/** The order of two versions: negative if a comes before b. Build metadata does not count. */
export function compareVersions(a: Version, b: Version): number {
  // Most versions differ here already, and thousands are sorted.
  for (let i = 0; i < 3; i++) {
    if (a.numbers[i]! < b.numbers[i]!) return -1;
    if (a.numbers[i]! > b.numbers[i]!) return 1;
  }
  if (a.prerelease.length === 0 && b.prerelease.length === 0) return 0;
  if (a.plain && b.plain) return compare(a.plain, b.plain);
  const texts = npmTexts([a, b]);
  return compare(texts[0]!, texts[1]!);
}

/** The versions in npm's form. Numbers that it cannot hold are replaced in all versions alike: their order stays. */
function npmTexts(versions: readonly Version[]): string[] {
  const all = versions.flatMap(({ numbers, prerelease }) => [...numbers, ...prerelease.filter(isNumber).map(numeral)]);
  const large = [...new Set(all.filter((number) => number >= LARGE))].sort((a, b) => (a < b ? -1 : 1));
  const ranks = new Map<Numeral, Numeral>(large.map((number, rank) => [number, LARGE + BigInt(rank)]));
  return versions.map((version) => npmText(version, (number) => ranks.get(number) ?? number));
}

function npmText({ numbers, prerelease }: Version, replace = (number: Numeral) => number): string {
  const words = prerelease.map((word) => {
    if (isNumber(word)) return String(replace(numeral(word)));
    // Flux's library reads digits beyond 64 bits as a word. A hyphen makes npm read them as a word too. A hyphen sorts
    // before any other character, so the order stays.
    return /^\d+$/.test(word) ? `${word}-` : word;
  });
  const core = numbers.map(replace).join('.');
  return words.length > 0 ? `${core}-${words.join('.')}` : core;
}

function numeral(digits: string): Numeral {
  return digits.length <= MAX_SMALL_DIGITS ? Number(digits) : BigInt(digits);
}

function isNumber(word: string): boolean {
  return /^\d+$/.test(word) && numeral(word) <= MAX_NUMBER;
}

function hasLeadingZero(word: string): boolean {
  return /^0\d+$/.test(word);
}
