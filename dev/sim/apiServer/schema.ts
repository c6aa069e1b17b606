/** What a CustomResourceDefinition does to a write: defaults, pruning, its schema and its rules in CEL. */
import { Ajv, type ValidateFunction } from 'ajv';
import addFormats from 'ajv-formats';
import type { AnyObject } from '../../client/send.ts';
import { compile, type Expression } from './cel.ts';

type Schema = Record<string, any>;

interface Rule {
  holds: Expression;
  /** Compares with the value before; silent where there is none. */
  isTransition: boolean;
  message: string;
}

const ajv = new Ajv({ strict: false, validateFormats: true });
addFormats.default(ajv);
const rules = new WeakMap<object, Rule[]>();

export class CustomResource {
  readonly #schema: Schema;
  readonly #isValid: ValidateFunction;

  constructor(definition: AnyObject) {
    this.#schema = definition.spec.versions[0].schema.openAPIV3Schema;
    this.#isValid = ajv.compile(this.#schema);
  }

  /** The object with its defaults, and without what the schema does not know. */
  prepare(object: AnyObject): AnyObject {
    const { apiVersion, kind, metadata } = object;
    const rest = { ...object, metadata: {} };
    return { ...(shaped(rest, this.#schema) as AnyObject), apiVersion, kind, metadata };
  }

  /** A sentence for each thing that is wrong. */
  problems(object: AnyObject, before: AnyObject | undefined): string[] {
    if (!this.#isValid({ ...object, metadata: {} })) {
      return (this.#isValid.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
    }
    return broken(object, before, this.#schema, '');
  }
}

function shaped(value: unknown, schema: Schema): unknown {
  if (Array.isArray(value)) return schema.items ? value.map((item) => shaped(item, schema.items)) : value;
  if (typeof value !== 'object' || value === null) return value;
  const { properties, additionalProperties } = schema;
  if (!properties) {
    if (typeof additionalProperties !== 'object') return value;
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, shaped(each, additionalProperties)]));
  }
  const keeps = schema['x-kubernetes-preserve-unknown-fields'] === true;
  const entries = Object.entries(value).filter(([key, each]) => {
    const isNull = each === null && properties[key]?.nullable !== true;
    return (keeps || Object.hasOwn(properties, key)) && !isNull;
  });
  const result: Record<string, unknown> = Object.fromEntries(
    entries.map(([key, each]) => [key, properties[key] ? shaped(each, properties[key]) : each]),
  );
  for (const [key, { default: initial }] of Object.entries<Schema>(properties)) {
    if (initial !== undefined && !Object.hasOwn(result, key)) result[key] = structuredClone(initial);
  }
  return result;
}

function rulesOf(schema: Schema): Rule[] {
  const known = rules.get(schema);
  if (known) return known;
  const made = (schema['x-kubernetes-validations'] ?? []).map(({ rule, message }: Schema) => ({
    holds: compile(rule),
    isTransition: /\boldSelf\b/.test(rule),
    message: message ?? rule,
  }));
  rules.set(schema, made);
  return made;
}

/** Lists are compared as a whole: an item has no value before. */
function broken(value: unknown, before: unknown, schema: Schema, path: string): string[] {
  const problems = rulesOf(schema)
    .filter(({ isTransition }) => !isTransition || before !== undefined)
    .filter(({ holds }) => !holds({ self: value, oldSelf: before }))
    .map(({ message }) => `${path}: ${message}`);
  if (Array.isArray(value)) {
    if (!schema.items) return problems;
    return [...problems, ...value.flatMap((item, i) => broken(item, undefined, schema.items, `${path}[${i}]`))];
  }
  if (typeof value !== 'object' || value === null) return problems;
  const within = (key: string) =>
    schema.properties?.[key] ??
    (typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined);
  const inside = Object.entries(value).flatMap(([key, each]) => {
    const inner = within(key);
    return inner ? broken(each, (before as Schema | undefined)?.[key], inner, `${path}.${key}`) : [];
  });
  return [...problems, ...inside];
}
