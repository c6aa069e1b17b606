/**
 * ImagePolicy's `spec.filterTags`: a Go regular expression and a template. The part it extracts is what the policy orders by.
 *
 * Go's expressions run in linear time, JavaScript's need not. Patterns come from users, so those that could make a
 * backtracking matcher slow are not evaluated; their tags keep the order of discovery.
 */
export type Extract = (tag: string) => string | undefined;

const MAX_PATTERN = 256;
const MAX_UNBOUNDED = 4;

/** undefined when the pattern cannot be evaluated safely; the function gives undefined for a tag that does not match. */
export function compileExtract(filter: { pattern?: string; extract?: string } | undefined): Extract | undefined {
  if (!filter?.pattern) return (tag) => tag;
  const expression = compile(filter.pattern);
  if (!expression) return undefined;
  const { extract } = filter;
  return (tag) => {
    const match = expression.exec(tag);
    if (!match) return undefined;
    return extract ? expand(extract, match) : tag;
  };
}

function compile(pattern: string): RegExp | undefined {
  if (pattern.length > MAX_PATTERN || !isTame(pattern)) return undefined;
  const flags = /^\(\?([is]+)\)/.exec(pattern);
  const source = (flags ? pattern.slice(flags[0].length) : pattern)
    .replaceAll('(?P<', '(?<')
    .replace(/\\A/g, '^')
    .replace(/\\z/g, '$');
  try {
    return new RegExp(source, flags?.[1]);
  } catch {
    return undefined;
  }
}

/** No repetition inside a repeated group, few unbounded repetitions, no backreference. Stricter than it need be. */
function isTame(pattern: string): boolean {
  const plain = pattern
    .replace(/\\[1-9k]/g, '\u0000')
    .replace(/\\./g, 'x')
    .replace(/\[\^?\]?[^\]]*\]/g, 'x');
  if (plain.includes('\u0000') || /\)[*+{]/.test(plain)) return false;
  return (plain.match(/[*+]|\{\d+,\d*\}/g) ?? []).length <= MAX_UNBOUNDED;
}

/** Go's Regexp.Expand: `$name`, `${name}`, `$1`; unknown names are empty, `$$` is a dollar. */
function expand(template: string, match: RegExpExecArray): string {
  return template.replace(/\$(?:\$|\{(\w+)\}|(\w+))/g, (whole, braced?: string, bare?: string) => {
    const name = braced ?? bare;
    if (name === undefined) return whole === '$$' ? '$' : '';
    return (/^\d+$/.test(name) ? match[Number(name)] : match.groups?.[name]) ?? '';
  });
}
