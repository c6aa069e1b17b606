/**
 * Which tags an ImagePolicy, as its spec is now, could select, and in which order it ranks them.
 * Source: Flux ImagePolicy API, `spec.policy` and `spec.filterTags`.
 */
import type { ImagePolicy } from '../../api/flux.ts';
import { once } from '../memo.ts';
import { compareVersions, parseVersion, type Version } from './semanticVersion.ts';
import { compileExtract } from './tagFilter.ts';
import { parseRange } from './versionRange.ts';

export interface PolicyRules {
  /** Why the policy cannot select the tag; undefined when it can. */
  refusal(tag: string): string | undefined;
  /**
   * Positive when a is newer than b, 0 when equal, undefined when the policy cannot rank one of them.
   * `20260301` is no version to a semver policy, which could not select it: read as one it would be newer than all.
   * `loosely`: read as one all the same.
   */
  rank(a: string, b: string, loosely?: boolean): number | undefined;
}

/** How one kind of policy reads its part of a tag. */
interface Rule<Value> {
  read(text: string): Value | undefined;
  refusal(text: string, value: Value | undefined): string | undefined;
  compare(a: Value, b: Value): number;
  /** Whether it is ranked although the policy could never select it. */
  isLoose?(value: Value): boolean;
}

/** A decision asks several times, about thousands of tags. */
const known = new WeakMap<ImagePolicy, PolicyRules>();

/** Without a policy no tag is refused and none is ranked. */
export function policyRules(policy: ImagePolicy | undefined): PolicyRules {
  const found = policy && known.get(policy);
  if (found) return found;
  const rules = rulesOf(policy);
  if (policy) known.set(policy, rules);
  return rules;
}

function rulesOf(policy: ImagePolicy | undefined): PolicyRules {
  const { filterTags, policy: kind } = policy?.spec ?? {};
  const extract = compileExtract(filterTags);
  if ('problem' in extract) {
    const refusal = `the policy's filterTags.pattern ${quote(filterTags?.pattern)} cannot be used: ${extract.problem}`;
    return { refusal: () => refusal, rank: () => undefined };
  }
  const rule = ruleOf(kind);
  const filtered = filterTags?.pattern ? once(extract) : extract;
  const value = once((tag: string) => {
    const text = filtered(tag);
    return text === undefined ? undefined : rule?.read(text);
  });
  return {
    refusal(tag) {
      const text = filtered(tag);
      if (text === undefined) return `the policy's filterTags.pattern ${quote(filterTags?.pattern)} does not match it`;
      return rule?.refusal(text, value(tag));
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
  if (kind?.numerical) return directed(byNumber, kind.numerical.order);
  if (kind?.alphabetical) return directed(byText, kind.alphabetical.order);
  return undefined;
}

function bySemver(text: string): Rule<Version> {
  const range = parseRange(text);
  return {
    read: parseVersion,
    compare: compareVersions,
    isLoose: ({ strict }) => !strict,
    refusal(value, version) {
      if (!range) return `the policy's range ${quote(text)} does not parse`;
      if (!version?.strict) return `${quote(value)} is not a semantic version`;
      return range(version) ? undefined : `${value} is not in the policy's range ${quote(text)}`;
    },
  };
}

/** What Go's ParseFloat takes and a tag can be. */
const NUMBER = /^(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

const byNumber: Rule<number> = {
  read: (text) => (NUMBER.test(text) ? Number(text) : undefined),
  compare: (a, b) => (a === b ? 0 : a - b),
  refusal: (text, value) => (value === undefined ? `${quote(text)} is not a number` : undefined),
};

const byText: Rule<string> = {
  read: (text) => text,
  compare: (a, b) => (a < b ? -1 : a > b ? 1 : 0),
  refusal: () => undefined,
};

/** Flux picks the last of the sorted list: with `desc` that is the smallest. */
function directed<Value>(rule: Rule<Value>, order: 'asc' | 'desc' | undefined): Rule<Value> {
  return order === 'desc' ? { ...rule, compare: (a, b) => rule.compare(b, a) } : rule;
}

const MAX_QUOTED = 200;

function quote(text = ''): string {
  return `'${text.length > MAX_QUOTED ? `${text.slice(0, MAX_QUOTED)}…` : text}'`;
}
