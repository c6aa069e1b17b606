/** A label selector as `kubectl -l` takes it, `team=shop,tier!=test,zone in (a,b),!legacy`, as the API stores it. */
import { selectorProblems } from '../../../core/kube/selector.ts';
import type { Selects } from './freeze.ts';

type Selector = NonNullable<Selects['labelSelector']>;
type Requirement = NonNullable<Selector['matchExpressions']>[number];

const SET = /^(\S+)\s+(in|notin)\s+\(([^()]*)\)$/i;
const EQUAL = /^([^\s=!]+)\s*(==|=|!=)\s*(\S*)$/;

/** undefined for what does not parse. Nothing selects everything. */
export function parseSelector(text: string): Selector | undefined {
  const matchLabels: Record<string, string> = {};
  const matchExpressions: Requirement[] = [];
  for (const part of splitOutside(text)) {
    const [, setKey, operator, list] = SET.exec(part) ?? [];
    const [, key, sign, value = ''] = EQUAL.exec(part) ?? [];
    if (setKey) {
      const values = list!.split(',').map((each) => each.trim());
      matchExpressions.push({ key: setKey, operator: operator!.toLowerCase() === 'in' ? 'In' : 'NotIn', values });
    } else if (key && sign === '!=') matchExpressions.push({ key, operator: 'NotIn', values: [value] });
    else if (key) matchLabels[key] = value;
    else if (/^!\S+$/.test(part)) matchExpressions.push({ key: part.slice(1), operator: 'DoesNotExist' });
    else if (/^\S+$/.test(part)) matchExpressions.push({ key: part, operator: 'Exists' });
    else return undefined;
  }
  const selector: Selector = {
    ...(Object.keys(matchLabels).length > 0 && { matchLabels }),
    ...(matchExpressions.length > 0 && { matchExpressions }),
  };
  return selectorProblems(selector, '').length > 0 ? undefined : selector;
}

/** At the commas that are not between parentheses. */
function splitOutside(text: string): string[] {
  const parts = [''];
  let depth = 0;
  for (const letter of text) {
    if (letter === '(') depth += 1;
    if (letter === ')') depth -= 1;
    if (letter === ',' && depth === 0) parts.push('');
    else parts[parts.length - 1] += letter;
  }
  return parts.map((part) => part.trim()).filter((part) => part !== '');
}
