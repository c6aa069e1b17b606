/** The order in which an ImagePolicy ranks tags. Source: Flux ImagePolicy API, `spec.policy`. */
import type { ImagePolicy } from '../../api/flux.ts';
import { compileExtract } from './extract.ts';
import { compareVersions, parseVersion } from './versionOrder.ts';

/** Positive when a is newer than b, 0 when equal, undefined when the policy cannot rank one of them. */
export type Ranking = (a: string, b: string) => number | undefined;

export function rankingOf(policy: ImagePolicy | undefined): Ranking {
  const extract = compileExtract(policy?.spec?.filterTags);
  const rank = rule(policy?.spec?.policy);
  if (!extract || !rank) return () => undefined;
  return (a, b) => {
    const left = extract(a);
    const right = extract(b);
    return left === undefined || right === undefined ? undefined : rank(left, right);
  };
}

function rule(policy: NonNullable<ImagePolicy['spec']>['policy']): Ranking | undefined {
  if (policy?.semver) return bySemver;
  if (policy?.numerical) return directed(byNumber, policy.numerical.order);
  if (policy?.alphabetical) return directed(byText, policy.alphabetical.order);
  return undefined;
}

/** Flux picks the last of the sorted list: with `desc` that is the smallest. */
function directed(ranking: Ranking, order: 'asc' | 'desc' | undefined): Ranking {
  return order === 'desc' ? (a, b) => ranking(b, a) : ranking;
}

function bySemver(a: string, b: string): number | undefined {
  const left = parseVersion(a);
  const right = parseVersion(b);
  return left && right ? compareVersions(left, right) : undefined;
}

function byNumber(a: string, b: string): number | undefined {
  const left = Number(a);
  const right = Number(b);
  if (a.trim() === '' || b.trim() === '' || Number.isNaN(left) || Number.isNaN(right)) return undefined;
  return left === right ? 0 : left - right;
}

function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
