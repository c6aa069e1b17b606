/**
 * The tags that an ImagePolicy could select, and their order, by its present `spec.policy` and `spec.filterTags`.
 * Source: the ImagePolicy API of Flux.
 */
import type { ImagePolicy } from '../../api/flux.ts';
import { memoize, memoizeByObject } from '../collection/memo.ts';
import { shortened } from '../text/oneLine.ts';
import { compareVersions, parseVersion, type Version } from './semanticVersion.ts';
import { compileExtract } from './tagFilter.ts';
import { parseRange } from './versionRange.ts';

export interface PolicyRules {
  /** Why the policy cannot select the tag; undefined if it can. */
  rejection(tag: string): string | undefined;
  /**
   * Positive if a is newer than b, 0 if they are equal, undefined if the policy cannot rank one of them.
   * A semver policy cannot select `20260301`, which as a version would be newer than all others.
   * @param loosely whether to rank such a tag as a version all the same
   */
  rank(a: string, b: string, loosely?: boolean): number | undefined;
}

/** One kind of policy. `text` is the part of a tag that `filterTags` extracts. */
interface Rule<Value> {
  read(text: string): Value | undefined;
  rejection(text: string, value: Value | undefined): string | undefined;
  compare(a: Value, b: Value): number;
  /** Whether the policy could never select the value, which is ranked only loosely. */
  isLoose?(value: Value): boolean;
}

/** The rules of each policy: a decision uses them several times, for thousands of tags. */
const rulesOfPolicy = memoizeByObject<ImagePolicy, PolicyRules>(compileRules);

/** The rules of a policy. Without a policy no tag is rejected and none is ranked. */
export function policyRules(policy: ImagePolicy | undefined): PolicyRules {
  return policy ? rulesOfPolicy(policy) : compileRules(undefined);
}

function compileRules(policy: ImagePolicy | undefined): PolicyRules {
  const { filterTags, policy: kind } = policy?.spec ?? {};
  const extract = compileExtract(filterTags);
  if ('problem' in extract) {
    const rejection = `the policy's filterTags.pattern ${quoted(filterTags?.pattern)} cannot be used: ${extract.problem}`;
    return { rejection: () => rejection, rank: () => undefined };
  }
  const rule = ruleOf(kind);
  // compileExtract memoizes the tags of two Rollouts. If more share a pattern, they evict each other's entries.
  const extracted = memoize(extract);
  const value = memoize((tag: string) => {
    const text = extracted(tag);
    return text === undefined ? undefined : rule?.read(text);
  });
  return {
    rejection(tag) {
      const text = extracted(tag);
      if (text === undefined) return `the policy's filterTags.pattern ${quoted(filterTags?.pattern)} does not match it`;
      return rule?.rejection(text, value(tag));
    },
    rank(a, b, loosely = false) {
      const [left, right] = [value(a), value(b)];
      if (left === undefined || right === undefined) return undefined;
      const isLoose = rule?.isLoose?.(left) || rule?.isLoose?.(right);
      return isLoose && !loosely ? undefined : rule?.compare(left, right);
    },
  };
}

function ruleOf(kind: NonNullable<ImagePolicy['spec']>['policy']): Rule<any> | undefined {
  if (kind?.semver) return bySemver(kind.semver.range ?? '');
  if (kind?.numerical) return inOrder(byNumber, kind.numerical.order);
  if (kind?.alphabetical) return inOrder(byText, kind.alphabetical.order);
  return undefined;
}

function bySemver(text: string): Rule<Version> {
  const range = parseRange(text);
  return {
    read: parseVersion,
    compare: compareVersions,
    isLoose: ({ strict }) => !strict,
    rejection(value, version) {
      if (!range) return `the policy's range ${quoted(text)} does not parse`;
      if (!version?.strict) return `${quoted(value)} is not a semantic version`;
      return range(version) ? undefined : `${value} is not in the policy's range ${quoted(text)}`;
    },
  };
}

/** A number as Go's ParseFloat reads it, in characters that a tag may have. */
const NUMBER = /^(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

const byNumber: Rule<number> = {
  read: (text) => (NUMBER.test(text) ? Number(text) : undefined),
  compare: (a, b) => (a === b ? 0 : a - b),
  rejection: (text, value) => (value === undefined ? `${quoted(text)} is not a number` : undefined),
};

const byText: Rule<string> = {
  read: (text) => text,
  compare: (a, b) => (a < b ? -1 : a > b ? 1 : 0),
  rejection: () => undefined,
};

/**
 * The rule, with values compared in the order of the policy. Flux selects the last tag of the sorted list: with `desc`,
 * the smallest value.
 */
function inOrder<Value>(rule: Rule<Value>, order: 'asc' | 'desc' | undefined): Rule<Value> {
  return order === 'desc' ? { ...rule, compare: (a, b) => rule.compare(b, a) } : rule;
}

/** Characters of a text in a message. */
const MAX_QUOTED = 200;

function quoted(text = ''): string {
  return `'${shortened(text, MAX_QUOTED)}'`;
}
