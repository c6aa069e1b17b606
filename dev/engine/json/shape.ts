/** Checks of JSON, put together from small ones. Null stands for an absent field everywhere. */
import { isJsonObject } from './json.ts';

export class ShapeError extends Error {}

/** Checks one value; `path` says where it is. Throws ShapeError. */
export type Check = (value: unknown, path: string) => void;

export const anything: Check = () => {};
export const text = typed('string');
export const number = typed('number');
export const flag = typed('boolean');

function typed(type: 'string' | 'number' | 'boolean'): Check {
  return (value, path) => {
    if (typeof value !== type) throw new ShapeError(`${path}: expected a ${type}, found ${shown(value)}`);
  };
}

export function oneOf(...values: unknown[]): Check {
  return (value, path) => {
    if (!values.includes(value))
      throw new ShapeError(`${path}: expected ${values.join(' or ')}, found ${shown(value)}`);
  };
}

export function listOf(check: Check): Check {
  return (value, path) => {
    if (!Array.isArray(value)) throw new ShapeError(`${path}: expected a list, found ${shown(value)}`);
    for (const [index, item] of value.entries()) check(item, `${path}[${index}]`);
  };
}

export function mapOf(check: Check): Check {
  return (value, path) => {
    if (!isJsonObject(value)) throw new ShapeError(`${path}: expected an object, found ${shown(value)}`);
    for (const [key, item] of Object.entries(value)) {
      if (item !== null) check(item, `${path}.${key}`);
    }
  };
}

/** Refuses every other field, and the absence of what is required. */
export function fieldsOf<Fields extends Record<string, Check>>(
  fields: Fields,
  ...required: (keyof Fields & string)[]
): Check {
  return (value, path) => {
    if (!isJsonObject(value)) throw new ShapeError(`${path || 'answer'}: expected an object, found ${shown(value)}`);
    const within = (key: string) => (path ? `${path}.${key}` : key);
    for (const [key, item] of Object.entries(value)) {
      const check = Object.hasOwn(fields, key) ? fields[key] : undefined;
      if (!check) throw new ShapeError(`unknown field ${JSON.stringify(within(key))}`);
      if (item !== null) check(item, within(key));
    }
    for (const key of required) fields[key]!(value[key] ?? undefined, within(key));
  };
}

export const kubeObject: Check = (value, path) => {
  if (!isJsonObject(value)) throw new ShapeError(`${path}: expected an object, found ${shown(value)}`);
  text(value.kind, `${path}.kind`);
  text(value.apiVersion, `${path}.apiVersion`);
  const metadata = value.metadata;
  if (!isJsonObject(metadata)) throw new ShapeError(`${path}.metadata: expected an object, found ${shown(metadata)}`);
  mapOf(text)(metadata.labels ?? {}, `${path}.metadata.labels`);
  mapOf(text)(metadata.annotations ?? {}, `${path}.metadata.annotations`);
};

export const labelSelector = fieldsOf({
  matchLabels: mapOf(text),
  matchExpressions: listOf(fieldsOf({ key: text, operator: text, values: listOf(text) })),
});

function shown(value: unknown): string {
  return value === undefined ? 'nothing' : JSON.stringify(value).slice(0, 80);
}
