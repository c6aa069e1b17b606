/**
 * `spec.filterTags` of an ImagePolicy: a Go regular expression, and a template for the part of a tag that is ranked.
 *
 * Tenants write these expressions. RE2JS is Go's regexp in JavaScript: the same syntax, the same limits of repetition
 * and nesting, and time linear in expression and tag.
 */
import { RE2JS } from 're2js';
import { Memo } from '../collection/memo.ts';
import { MAX_TAG_CHARACTERS } from '../kube/tag.ts';
import { LIMITS } from '../limits.ts';

/** The extracted part of a tag; undefined if the tag does not match. */
export type Extract = (tag: string) => string | undefined;

/** Characters of the part that is extracted from a tag. */
const MAX_EXTRACTED = 256;
const MAX_PATTERNS = 64;
/**
 * Memo entries for one pattern: all tags of two Rollouts that share it. Tags are read in sequence, and a smaller memo
 * would never have the next one.
 */
const MAX_TAGS = 2 * (LIMITS.availableReleases + LIMITS.history);

/** The compiled patterns: each decision extracts all tags again. LIMITS.patternSize and patternWork bound the cost. */
const extracts = new Memo<Extract | { problem: string }>(MAX_PATTERNS);

/** The function that extracts, or the problem of a pattern that can't be used: a clause. */
export function compileExtract(
  filter: { pattern?: string; extract?: string } | undefined,
): Extract | { problem: string } {
  const { pattern, extract = '' } = filter ?? {};
  if (!pattern) return (tag) => tag;
  if (pattern.length > LIMITS.pattern) return { problem: `it has more than ${LIMITS.pattern} characters` };
  if (extract.length > LIMITS.pattern) return { problem: `extract has more than ${LIMITS.pattern} characters` };
  return extracts.get(JSON.stringify([pattern, extract]), () => compile(pattern, extract));
}

function compile(pattern: string, extract: string): Extract | { problem: string } {
  let expression: RE2JS;
  try {
    expression = RE2JS.compile(pattern);
  } catch (error) {
    return { problem: (error as Error).message };
  }
  if (expression.programSize() > LIMITS.patternSize) {
    return { problem: `its repetitions make it longer than ${LIMITS.patternSize} instructions` };
  }
  if (extract !== '' && expression.programSize() * (expression.groupCount() + 1) > LIMITS.patternWork) {
    return {
      problem: `its instructions times its groups are more than ${LIMITS.patternWork}: use fewer groups, or (?:…)`,
    };
  }
  const results = new Memo<string | undefined>(MAX_TAGS);
  return (tag) =>
    tag.length > MAX_TAG_CHARACTERS ? undefined : results.get(tag, () => extractFrom(expression, extract, tag));
}

function extractFrom(expression: RE2JS, extract: string, tag: string): string | undefined {
  // A test without groups costs a fraction of a match with groups.
  if (extract === '') return expression.test(tag) ? tag : undefined;
  const match = expression.exec(tag) as RegExpExecArray | null;
  if (!match) return undefined;
  const text = expand(extract, match);
  return text.length <= MAX_EXTRACTED ? text : undefined;
}

const VARIABLE = /\$(?:\$|\{([\p{L}\p{Nd}_]+)\}|([\p{L}\p{Nd}_]+))/gu;
/** The number of a group. In Go, digits with a leading zero, or more than nine, are the name of a group. */
const NUMBER = /^(?:0|[1-9]\d{0,8})$/;

/** The template with its variables replaced, as Go's Regexp.Expand does: unknown names are empty, `$$` is a dollar. */
function expand(template: string, match: RegExpExecArray): string {
  return template.replace(VARIABLE, (_, braced?: string, bare?: string) => {
    const name = braced ?? bare;
    if (name === undefined) return '$';
    if (NUMBER.test(name)) return match[Number(name)] ?? '';
    return match.groups && Object.hasOwn(match.groups, name) ? (match.groups[name] ?? '') : '';
  });
}
