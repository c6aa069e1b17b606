/**
 * The Common Expression Language of match conditions, policies and CRDs in manifests/: the library, and the functions
 * of Kubernetes that they use. A JSON number is a double to the library and an integer to Kubernetes, so `+` accepts
 * both.
 */
import { isDeepStrictEqual } from 'node:util';
import { Environment, type Optional } from '@marcbachmann/cel-js';
import type { Attributes } from './access.ts';

export type Scope = Record<string, unknown>;
export type Expression = (scope: Scope) => any;

/** `authorizer` in an expression, with the group, resource and verb that the expression has set so far. */
export class Authorizer {
  readonly requestResource: Authorizer;
  readonly #may: (named: Attributes) => boolean;
  readonly #named: Attributes;

  /** @param named the resource of the request */
  constructor(may: (named: Attributes) => boolean, named: Attributes) {
    this.requestResource = this;
    this.#may = may;
    this.#named = named;
  }

  with(more: Partial<Attributes>): Authorizer {
    return new Authorizer(this.#may, { ...this.#named, ...more });
  }

  allowed(): boolean {
    return this.#may(this.#named);
  }
}

const sum = (a: number | bigint, b: number | bigint) => Number(a) + Number(b);
const isSame = (a: Optional, b: Optional) =>
  a.hasValue() === b.hasValue() && (!a.hasValue() || isDeepStrictEqual(a.value(), b.value()));
const isSorted = (list: any[]) => list.every((each, i) => i === 0 || list[i - 1] <= each);
const replace = (text: string, from: string, to: string) => text.replaceAll(from, to);
/** `format` with `%s` only; values are written as JSON, since expressions only measure them. */
const format = (text: string, [...values]: unknown[]) => text.replaceAll('%s', () => JSON.stringify(values.shift()));

const environment = new Environment({
  unlistedVariablesAreDyn: true,
  enableOptionalTypes: true,
  homogeneousAggregateLiterals: false,
})
  .registerOperator('int + double: double', sum)
  .registerOperator('double + int: double', sum)
  .registerOperator('optional<dyn> == optional<dyn>: bool', isSame)
  .registerFunction('list.sum(): dyn', (list) => list.reduce(sum, 0))
  .registerFunction('list.isSorted(): bool', isSorted)
  .registerFunction('string.replace(string, string): string', replace)
  .registerFunction('string.format(list): string', format)
  .registerType('Authorizer', Authorizer)
  .registerFunction('Authorizer.group(string): Authorizer', (of: Authorizer, group) => of.with({ group }))
  .registerFunction('Authorizer.resource(string): Authorizer', (of: Authorizer, resource) => of.with({ resource }))
  .registerFunction('Authorizer.check(string): Authorizer', (of: Authorizer, verb) => of.with({ verb }))
  .registerFunction('Authorizer.allowed(): bool', (of: Authorizer) => of.allowed());

/** The expression with `has(a[0].b)` replaced: the library's has() allows no index. */
const withoutIndexInHas = (source: string) =>
  source.replaceAll(/\bhas\(([^()]*\][^()]*)\.(\w+)\)/g, '$1.?$2.hasValue()');

/** @throws for an invalid expression, or an unknown function */
export function compile(source: string): Expression {
  const expression = environment.parse(withoutIndexInHas(source));
  const { valid, error } = expression.check();
  if (!valid) throw error;
  return expression;
}
