/** Label selectors: matching, and their text for a list call. The rules are those of apimachinery. */
import type { LabelSelector, LabelSelectorRequirement } from '../../api/kubernetes.ts';
import { memoizeByObject } from '../collection/memo.ts';
import type { FieldProblem } from './fieldProblem.ts';

/** A selector that does not compile. `field`: the path in the selector, such as `matchExpressions[0].operator`. */
export class SelectorError extends Error {
  /** The HTTP status of an uncaught error: the CRD of the object could not reject this selector. */
  readonly status = 400;
  readonly field: string;
  readonly value: unknown;
  readonly reason: string;
  constructor(field: string, value: unknown, reason: string) {
    super(`${field}: ${JSON.stringify(value)} ${reason}`);
    this.name = 'SelectorError';
    this.field = field;
    this.value = value;
    this.reason = reason;
  }
}

type Labels = Readonly<Record<string, string>>;

const NAME = /^[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$/;
const PREFIX = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/;

/**
 * Whether the labels match; true for an absent or empty selector.
 * Throws SelectorError if the selector is invalid, even if the labels could not match.
 */
export function matchesSelector(selector: LabelSelector | undefined, labels: Labels | undefined): boolean {
  return compileSelector(selector)(labels);
}

type Matcher = (labels: Labels | undefined) => boolean;

const EVERYTHING: LabelSelector = {};

/** The matcher of each selector: one Gate is matched against thousands of objects. */
const matcherOfSelector = memoizeByObject((selector: LabelSelector): Matcher => {
  checkSelector(selector);
  return matcherOf(selector);
});

/** A matcher for many objects: the selector is checked once. Throws SelectorError. */
export function compileSelector(selector: LabelSelector = EVERYTHING): Matcher {
  return matcherOfSelector(selector);
}

/** The most keys of a selector that are all checked. With more, only the object's own and the required keys are. */
const FEW_KEYS = 512;

/** A matcher whose cost doesn't grow with both the labels and the conditions: tenants write both. */
function matcherOf({ matchLabels = {}, matchExpressions = [] }: LabelSelector): Matcher {
  const allowed = new Map<string, ReadonlySet<string>>(
    Object.entries(matchLabels).map(([key, value]) => [key, new Set([value])]),
  );
  const present = new Set(allowed.keys());
  const absent = new Set<string>();
  const forbidden = new Map<string, Set<string>>();
  for (const { key, operator, values = [] } of matchExpressions) {
    if (operator === 'DoesNotExist') absent.add(key);
    else if (operator === 'NotIn') {
      const known = forbidden.get(key) ?? new Set();
      for (const value of values) known.add(value);
      forbidden.set(key, known);
    } else {
      present.add(key);
      const known = allowed.get(key);
      if (operator === 'In') allowed.set(key, new Set(known ? values.filter((value) => known.has(value)) : values));
    }
  }
  const allows = (key: string, value: string) =>
    !absent.has(key) && !forbidden.get(key)?.has(value) && (allowed.get(key)?.has(value) ?? true);
  const keys = [...new Set([...present, ...absent, ...forbidden.keys()])];
  return (labels = {}) => {
    const isMet = (key: string) => (Object.hasOwn(labels, key) ? allows(key, labels[key]!) : !present.has(key));
    if (keys.length <= FEW_KEYS) return keys.every(isMet);
    const own = Object.keys(labels);
    return present.size <= own.length && own.every(isMet) && [...present].every(isMet);
  };
}

/** The selector as text: `app=foo,tier in (a,b),!legacy`; empty if it matches everything. Throws SelectorError. */
export function toSelectorString(selector: LabelSelector | undefined): string {
  checkSelector(selector);
  const equal = Object.entries(selector?.matchLabels ?? {}).map(([key, value]) => `${key}=${value}`);
  return [...equal, ...(selector?.matchExpressions ?? []).map(requirementText)].join(',');
}

/** The first problem of the selector in the field `path`; empty if it compiles. */
export function selectorProblems(selector: LabelSelector | undefined, path: string): FieldProblem[] {
  try {
    checkSelector(selector);
    return [];
  } catch (error) {
    if (!(error instanceof SelectorError)) throw error;
    return [{ field: `${path}.${error.field}`, value: error.value, reason: error.reason }];
  }
}

/** Checks a selector. Throws SelectorError for the first part that does not compile. */
function checkSelector(selector: LabelSelector | undefined): void {
  for (const [key, value] of Object.entries(selector?.matchLabels ?? {})) {
    checkLabelKey(key, 'matchLabels');
    checkValue(value, `matchLabels[${key}]`);
  }
  (selector?.matchExpressions ?? []).forEach(checkRequirement);
}

function requirementText({ key, operator, values }: LabelSelectorRequirement): string {
  const list = `(${[...(values ?? [])].sort().join(',')})`;
  switch (operator) {
    case 'In':
      return `${key} in ${list}`;
    case 'NotIn':
      return `${key} notin ${list}`;
    case 'Exists':
      return key;
    default:
      return `!${key}`;
  }
}

function checkRequirement({ key, operator, values }: LabelSelectorRequirement, index: number): void {
  const at = `matchExpressions[${index}]`;
  checkLabelKey(key, `${at}.key`);
  const count = values?.length ?? 0;
  if (operator === 'In' || operator === 'NotIn') {
    if (count === 0)
      throw new SelectorError(`${at}.values`, values ?? [], `must not be empty for the operator ${operator}`);
    values!.forEach((value, i) => {
      checkValue(value, `${at}.values[${i}]`);
    });
  } else if (operator === 'Exists' || operator === 'DoesNotExist') {
    if (count > 0) throw new SelectorError(`${at}.values`, values, `must be empty for the operator ${operator}`);
  } else {
    throw new SelectorError(`${at}.operator`, operator, 'is not one of In, NotIn, Exists, DoesNotExist');
  }
}

function checkLabelKey(key: unknown, field: string): void {
  const [name, prefix, ...rest] = typeof key === 'string' ? key.split('/').reverse() : [];
  const legal =
    name !== undefined &&
    NAME.test(name) &&
    rest.length === 0 &&
    (prefix === undefined || (prefix.length <= 253 && PREFIX.test(prefix)));
  if (!legal) throw new SelectorError(field, key, 'is not a label key');
}

function checkValue(value: unknown, field: string): void {
  const legal = typeof value === 'string' && (value === '' || NAME.test(value));
  if (!legal)
    throw new SelectorError(field, value, 'is not a label value (at most 63 letters, digits, "-", "_" and ".")');
}
