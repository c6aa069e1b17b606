/** A CustomResourceDefinition: defaulting, pruning, schema validation and CEL rules. */
import { Ajv, type ValidateFunction } from 'ajv';
import addFormats from 'ajv-formats';
import type { AnyObject } from '../../client/send.ts';
import { compile, type Expression } from './cel.ts';
import { settled } from './values.ts';

type Schema = Record<string, any>;

interface Rule {
  holds: Expression;
  /** Whether the rule compares with the old value, and is skipped without one. */
  isTransition: boolean;
  message: string;
}

const ajv = new Ajv({ strict: false, validateFormats: true });
addFormats.default(ajv);
ajv.addKeyword({
  keyword: 'x-kubernetes-list-type',
  validate: (type: string, list: unknown) =>
    type !== 'set' || new Set(list as unknown[]).size === (list as unknown[]).length,
});
const rules = new WeakMap<object, Rule[]>();

export class CustomResource {
  readonly #schema: Schema;
  /** Validators of spec and status, which skip a part that hasn't changed. */
  readonly #parts: readonly (readonly [name: string, isValid: ValidateFunction])[];

  constructor(definition: AnyObject) {
    this.#schema = definition.spec.versions[0].schema.openAPIV3Schema;
    const { apiVersion: _, kind: __, metadata: ___, ...parts } = this.#schema.properties;
    this.#parts = Object.entries(parts).map(([name, schema]) => [name, ajv.compile(schema as Schema)]);
  }

  /** The object with defaults, without fields that the schema doesn't have. */
  prepare(object: AnyObject): AnyObject {
    const { apiVersion, kind, metadata } = object;
    const rest = { ...object, metadata: {} };
    return { ...(shaped(rest, this.#schema) as AnyObject), apiVersion, kind, metadata };
  }

  /** Validation errors. */
  problems(object: AnyObject, before: AnyObject | undefined): string[] {
    const missing = (this.#schema.required ?? []).filter((key: string) => object[key] === undefined);
    const wrong = this.#parts
      .filter(([key]) => object[key] !== undefined && object[key] !== before?.[key])
      .flatMap(([key, isValid]) =>
        isValid(object[key])
          ? []
          : (isValid.errors ?? []).map((error) => `/${key}${error.instancePath} ${error.message}`),
      );
    const problems = [...missing.map((key: string) => `must have ${key}`), ...wrong];
    return problems.length > 0 ? problems : violatedRules(object, before, this.#schema, '');
  }
}

/** Frozen values that already have the shape of the schema. */
const shapes = new WeakMap<object, Schema>();

function shaped(value: unknown, schema: Schema): unknown {
  if (typeof value !== 'object' || value === null || shapes.get(value) === schema) return value;
  const result = settled(reshaped(value, schema));
  shapes.set(result as object, schema);
  return result;
}

function reshaped(value: object, schema: Schema): unknown {
  if (Array.isArray(value)) return schema.items ? value.map((item) => shaped(item, schema.items)) : value;
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

/** Messages of violated CEL rules. Items of lists have no old value. */
function violatedRules(value: unknown, before: unknown, schema: Schema, path: string): string[] {
  if (value === before && typeof value === 'object') return [];
  const problems = rulesOf(schema)
    .filter(({ isTransition }) => !isTransition || before !== undefined)
    .filter(({ holds }) => !holds({ self: value, oldSelf: before }))
    .map(({ message }) => `${path}: ${message}`);
  if (Array.isArray(value)) {
    if (!schema.items) return problems;
    return [...problems, ...value.flatMap((item, i) => violatedRules(item, undefined, schema.items, `${path}[${i}]`))];
  }
  if (typeof value !== 'object' || value === null) return problems;
  const within = (key: string) =>
    schema.properties?.[key] ??
    (typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined);
  const inside = Object.entries(value).flatMap(([key, each]) => {
    const inner = within(key);
    return inner ? violatedRules(each, (before as Schema | undefined)?.[key], inner, `${path}.${key}`) : [];
  });
  return [...problems, ...inside];
}
