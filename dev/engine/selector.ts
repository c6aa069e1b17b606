/** Label selectors, compiled once and matched often. */
import type { LabelSelector } from '../../api/kubernetes.ts';

export type Labels = Record<string, string> | undefined;

export interface CompiledSelector {
  matches(labels: Labels): boolean;
  /** A label that every match has: `key=value` or `key`. Undefined when the selector requires none. */
  anchor: string | undefined;
}

const KEY = /^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
const VALUE = /^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/;

interface Requirement {
  test(labels: Labels): boolean;
  anchor?: string;
}

/** No selector, like an empty one, matches everything. Throws on a key, operator or value the API machinery refuses. */
export function compileSelector(selector: LabelSelector | null | undefined): CompiledSelector {
  const requirements = [
    ...Object.entries(selector?.matchLabels ?? {}).map(([key, value]) => requirement(key, 'In', [value])),
    ...(selector?.matchExpressions ?? []).map(({ key, operator, values }) => requirement(key, operator, values ?? [])),
  ];
  const anchors = requirements.flatMap(({ anchor }) => anchor ?? []);
  return {
    matches: (labels) => requirements.every(({ test }) => test(labels)),
    anchor: anchors.find((anchor) => anchor.includes('=')) ?? anchors[0],
  };
}

function requirement(key: string, operator: string, values: string[]): Requirement {
  if (!KEY.test(key)) throw new Error(`label selector: ${JSON.stringify(key)} is not a label key`);
  const wrong = values.find((value) => !VALUE.test(value));
  if (wrong !== undefined) throw new Error(`label selector: ${JSON.stringify(wrong)} is not a value for label ${key}`);
  const takesValues = operator === 'In' || operator === 'NotIn';
  if (takesValues && values.length === 0) throw new Error(`label selector: ${operator} of ${key} needs values`);
  const set = new Set(values);
  switch (operator) {
    case 'In':
      return {
        test: (labels) => labels?.[key] !== undefined && set.has(labels[key]),
        anchor: values.length === 1 ? `${key}=${values[0]}` : key,
      };
    case 'NotIn':
      return { test: (labels) => labels?.[key] === undefined || !set.has(labels[key]) };
    case 'Exists':
    case 'DoesNotExist':
      if (values.length > 0) throw new Error(`label selector: ${operator} of ${key} takes no values`);
      return operator === 'Exists'
        ? { test: (labels) => labels?.[key] !== undefined, anchor: key }
        : { test: (labels) => labels?.[key] === undefined };
    default:
      throw new Error(`label selector: ${JSON.stringify(operator)} is not one of In, NotIn, Exists, DoesNotExist`);
  }
}
