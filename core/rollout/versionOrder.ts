/**
 * Version comparison as Masterminds/semver does it (Flux's library): a leading `v` and missing minor or patch numbers
 * are accepted, leading zeros too. npm's semver refuses those, so it is of no use here.
 */
export interface Version {
  /** Major, minor, patch as digits without leading zeros: numbers may be longer than a double holds. */
  core: readonly [string, string, string];
  prerelease: readonly string[];
}

const VERSION = /^v?(\d+)(?:\.(\d+))?(?:\.(\d+))?(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+[0-9A-Za-z.-]+)?$/;

/** undefined when the text is no version. */
export function parseVersion(text: string): Version | undefined {
  const match = VERSION.exec(text);
  if (!match) return undefined;
  const [, major, minor, patch, prerelease] = match;
  return {
    core: [digits(major!), digits(minor ?? '0'), digits(patch ?? '0')],
    prerelease: prerelease?.split('.') ?? [],
  };
}

/** Negative when a comes before b. Build metadata does not count. */
export function compareVersions(a: Version, b: Version): number {
  for (let i = 0; i < 3; i++) {
    const order = compareDigits(a.core[i]!, b.core[i]!);
    if (order !== 0) return order;
  }
  return comparePrereleases(a.prerelease, b.prerelease);
}

function comparePrereleases(a: readonly string[], b: readonly string[]): number {
  if (a.length === 0 || b.length === 0) return Number(a.length === 0) - Number(b.length === 0);
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    const order = compareIdentifiers(a[i]!, b[i]!);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

/** Numbers come before words. */
function compareIdentifiers(a: string, b: string): number {
  const aIsNumber = /^\d+$/.test(a);
  const bIsNumber = /^\d+$/.test(b);
  if (aIsNumber && bIsNumber) return compareDigits(digits(a), digits(b));
  if (aIsNumber !== bIsNumber) return aIsNumber ? -1 : 1;
  return compareText(a, b);
}

function compareDigits(a: string, b: string): number {
  return a.length - b.length || compareText(a, b);
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function digits(text: string): string {
  return text.replace(/^0+(?=\d)/, '');
}
