/**
 * The query to send to Prometheus.
 * `{{ version }}` and the like stand for values of the one Rollout that watches the check. They are allowed inside
 * quotes only and are escaped there, so that no value can change the query around it.
 */
import type { Rollout } from '../../../api/types.ts';
import { LIMITS } from '../../limits.ts';

const VARIABLES = ['namespace', 'name', 'version', 'previousVersion'] as const;
type Variable = (typeof VARIABLES)[number];
type Values = Record<Variable, string>;

type Rendered = { query: string } | { problem: string };

/** Limit for the text between `{{` and `}}`, spaces included. */
const MAX_VARIABLE_CHARACTERS = 32;

/**
 * The query with the values of its Rollout.
 * @param watching the Rollouts of the check's namespace whose selector finds it
 */
export function renderQuery(template: string, watching: readonly Rollout[]): Rendered {
  const rendered = template.includes('{{') ? fillIn(template, valuesOf(watching)) : { query: template };
  if ('problem' in rendered || rendered.query.length <= LIMITS.metricQuery) return rendered;
  return { problem: `spec.prometheus.query is longer than ${LIMITS.metricQuery} characters (limit metricQuery)` };
}

function valuesOf(watching: readonly Rollout[]): Values | { problem: string } {
  const [rollout] = watching;
  if (!rollout) {
    const todo = 'give the check the labels of the spec.healthCheckSelector of a Rollout of its namespace';
    return { problem: `spec.prometheus.query has variables, and no Rollout watches this check: ${todo}` };
  }
  if (watching.length > 1) {
    const which = `${watching.length} Rollouts watch this check`;
    return { problem: `spec.prometheus.query has variables, and ${which}: give each Rollout a check of its own` };
  }
  const { metadata, status } = rollout;
  const [head, before] = status?.history ?? [];
  if (!head) {
    return { problem: `spec.prometheus.query has variables, and Rollout '${metadata.name}' has deployed nothing yet` };
  }
  return {
    namespace: metadata.namespace ?? '',
    name: metadata.name ?? '',
    version: head.version.tag,
    previousVersion: before?.version.tag ?? '',
  };
}

function fillIn(template: string, values: Values | { problem: string }): Rendered {
  let query = '';
  /** The end of the string or comment at this place: a quote, or a line feed. */
  let until: string | undefined;
  for (let at = 0; at < template.length; ) {
    if (template.startsWith('{{', at)) {
      const length = template.slice(at + 2, at + 2 + MAX_VARIABLE_CHARACTERS).indexOf('}}');
      const name = template.slice(at + 2, at + 2 + Math.max(length, 0)).trim();
      if (length < 0 || !isQueryVariable(name)) return { problem: unknownVariableText(name) };
      if (until !== '"' && until !== "'") return { problem: unquotedText(name) };
      if ('problem' in values) return values;
      query += escapeValue(values[name], until);
      at += length + 4;
      continue;
    }
    const char = template[at]!;
    // A backslash has no meaning between backticks and in comments.
    const width = char === '\\' && (until === '"' || until === "'") ? 2 : 1;
    if (char === until) until = undefined;
    else if (until === undefined && '"\'`'.includes(char)) until = char;
    else if (until === undefined && char === '#') until = '\n';
    query += template.slice(at, at + width);
    at += width;
  }
  return { query };
}

function isQueryVariable(name: string): name is Variable {
  return (VARIABLES as readonly string[]).includes(name);
}

function unknownVariableText(name: string): string {
  const known = VARIABLES.map((each) => `{{ ${each} }}`).join(', ');
  return `spec.prometheus.query has the unknown variable {{ ${name} }}; known: ${known}`;
}

function unquotedText(name: string): string {
  return `spec.prometheus.query has {{ ${name} }} outside of quotes: write it inside a string, as in version="{{ ${name} }}"`;
}

/** The value inside a PromQL string, with Go's escapes. Only the string's own quote may be escaped in it. */
function escapeValue(value: string, quote: string): string {
  return [...value.toWellFormed()]
    .map((char) => {
      if (char === '\\' || char === quote) return `\\${char}`;
      const code = char.codePointAt(0)!;
      return code < 0x20 ? `\\x${code.toString(16).padStart(2, '0')}` : char;
    })
    .join('');
}
