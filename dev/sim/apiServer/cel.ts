/**
 * As much of CEL as manifests/ has in match conditions, policies and CRDs: values are JSON, all numbers are alike, and every expression is dynamic.
 * An expression that uses more is a SyntaxError when it is compiled, and a CelError when it runs.
 */
import { jsonEqual } from '../../engine/json/json.ts';

export type Scope = Record<string, unknown>;
export type Expression = (scope: Scope) => any;

class CelError extends Error {}

/** `none` has no value. Fields of an optional are optionals. */
class Optional {
  readonly value: any;
  readonly isSet: boolean;
  constructor(isSet: boolean, value?: unknown) {
    this.isSet = isSet;
    this.value = value;
  }
}
const NONE = new Optional(false);

const TOKEN =
  /\s*(?:(\/\/[^\n]*)|(\d+(?:\.\d+)?)|('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")|([A-Za-z_]\w*)|(&&|\|\||==|!=|<=|>=|\.\?|\[\?|[-+*/%!<>?:.,()[\]{}]))/y;

interface Token {
  kind: 'number' | 'text' | 'name' | 'sign' | 'end';
  text: string;
}

function tokensOf(source: string): Token[] {
  const tokens: Token[] = [];
  const text = source.trimEnd();
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.length) {
    const at = TOKEN.lastIndex;
    const found = TOKEN.exec(text);
    if (!found) throw new SyntaxError(`CEL: ${JSON.stringify(text.slice(at, at + 30))} is not understood`);
    const [, comment, number, literal, name, sign] = found;
    if (comment !== undefined) continue;
    if (number !== undefined) tokens.push({ kind: 'number', text: number });
    else if (literal !== undefined) tokens.push({ kind: 'text', text: unquoted(literal) });
    else if (name !== undefined) tokens.push({ kind: 'name', text: name });
    else tokens.push({ kind: 'sign', text: sign! });
  }
  return [...tokens, { kind: 'end', text: '' }];
}

const ESCAPES: Record<string, string> = { n: '\n', t: '\t', r: '\r' };
const unquoted = (literal: string) => literal.slice(1, -1).replace(/\\(.)/g, (_, char) => ESCAPES[char] ?? char);

const BINARY: [string, (a: any, b: any) => unknown][][] = [
  [
    ['==', (a, b) => isEqual(a, b)],
    ['!=', (a, b) => !isEqual(a, b)],
    ['<=', (a, b) => a <= b],
    ['>=', (a, b) => a >= b],
    ['<', (a, b) => a < b],
    ['>', (a, b) => a > b],
    ['in', (a, b) => isIn(a, b)],
  ],
  [
    ['+', (a, b) => (Array.isArray(a) ? [...a, ...b] : a + b)],
    ['-', (a, b) => a - b],
  ],
  [
    ['*', (a, b) => a * b],
    ['/', (a, b) => Math.trunc(a / b)],
    ['%', (a, b) => a % b],
  ],
];

/** @throws SyntaxError */
export function compile(source: string): Expression {
  return new Parser(tokensOf(source)).whole();
}

class Parser {
  readonly #tokens: Token[];
  #at = 0;

  constructor(tokens: Token[]) {
    this.#tokens = tokens;
  }

  whole(): Expression {
    const result = this.#ternary();
    if (this.#next.kind !== 'end') throw new SyntaxError(`CEL: ${this.#next.text} is not expected here`);
    return result;
  }

  get #next(): Token {
    return this.#tokens[this.#at]!;
  }

  #accept(...signs: string[]): string | undefined {
    const { kind, text } = this.#next;
    if (kind === 'text' || kind === 'number' || !signs.includes(text)) return undefined;
    this.#at++;
    return text;
  }

  #expect(sign: string): void {
    if (!this.#accept(sign)) throw new SyntaxError(`CEL: ${sign} is missing before ${this.#next.text}`);
  }

  #ternary(): Expression {
    const test = this.#or();
    if (!this.#accept('?')) return test;
    const yes = this.#ternary();
    this.#expect(':');
    const no = this.#ternary();
    return (scope) => (test(scope) ? yes(scope) : no(scope));
  }

  #or(): Expression {
    let left = this.#and();
    while (this.#accept('||')) left = either(left, this.#and(), true);
    return left;
  }

  #and(): Expression {
    let left = this.#binary(0);
    while (this.#accept('&&')) left = either(left, this.#binary(0), false);
    return left;
  }

  #binary(level: number): Expression {
    const operators = BINARY[level];
    if (!operators) return this.#unary();
    let left = this.#binary(level + 1);
    for (;;) {
      const sign = this.#accept(...operators.map(([name]) => name));
      if (sign === undefined) return left;
      const [, apply] = operators.find(([name]) => name === sign)!;
      const [a, b] = [left, this.#binary(level + 1)];
      left = (scope) => apply(a(scope), b(scope));
    }
  }

  #unary(): Expression {
    if (this.#accept('!')) {
      const of = this.#unary();
      return (scope) => !of(scope);
    }
    if (this.#accept('-')) {
      const of = this.#unary();
      return (scope) => -of(scope);
    }
    return this.#member();
  }

  #member(): Expression {
    let of = this.#primary();
    for (;;) {
      const sign = this.#accept('.', '.?', '[', '[?');
      if (sign === undefined) return of;
      const before = of;
      if (sign === '[' || sign === '[?') {
        const key = this.#ternary();
        this.#expect(']');
        of = (scope) => select(before(scope), key(scope), sign === '[?');
        continue;
      }
      const name = this.#name();
      if (sign === '.' && this.#accept('(')) of = this.#call(before, name);
      else of = (scope) => select(before(scope), name, sign === '.?');
    }
  }

  #name(): string {
    const { kind, text } = this.#next;
    if (kind !== 'name') throw new SyntaxError(`CEL: ${text} is not a name`);
    this.#at++;
    return text;
  }

  #arguments(close: string): Expression[] {
    const list: Expression[] = [];
    while (!this.#accept(close)) {
      list.push(this.#ternary());
      if (!this.#accept(',')) {
        this.#expect(close);
        break;
      }
    }
    return list;
  }

  #call(of: Expression, name: string): Expression {
    const macro = MACROS[name];
    if (macro) {
      const variable = this.#name();
      this.#expect(',');
      const body = this.#ternary();
      this.#expect(')');
      return (scope) => {
        const inner = Object.create(scope) as Scope;
        return macro(itemsOf(of(scope)), (item) => {
          inner[variable] = item;
          return body(inner);
        });
      };
    }
    const given = this.#arguments(')');
    const method = METHODS[name];
    return (scope) => {
      const receiver = of(scope);
      const values = given.map((each) => each(scope));
      if (typeof receiver?.[name] === 'function' && Object.hasOwn(receiver, name)) return receiver[name](...values);
      if (!method) throw new CelError(`no function ${name}`);
      return method(receiver, ...values);
    };
  }

  #primary(): Expression {
    const { kind, text } = this.#next;
    if (kind === 'number' || kind === 'text') {
      this.#at++;
      const value = kind === 'number' ? Number(text) : text;
      return () => value;
    }
    if (this.#accept('(')) {
      const inner = this.#ternary();
      this.#expect(')');
      return inner;
    }
    if (this.#accept('[')) {
      const items = this.#arguments(']');
      return (scope) => items.map((item) => item(scope));
    }
    if (this.#accept('{')) return this.#map();
    const name = this.#name();
    if (Object.hasOwn(LITERALS, name)) return () => LITERALS[name];
    if (name === 'has' && this.#accept('(')) return this.#has();
    if (this.#accept('(')) {
      const given = this.#arguments(')');
      const call = FUNCTIONS[name];
      if (!call) throw new SyntaxError(`CEL: no function ${name}`);
      return (scope) => call(...given.map((each) => each(scope)));
    }
    return (scope) => {
      if (!(name in scope)) throw new CelError(`no variable ${name}`);
      return scope[name];
    };
  }

  #has(): Expression {
    const of = this.#ternary();
    this.#expect(')');
    return (scope) => {
      try {
        return of(scope) !== undefined;
      } catch (error) {
        if (error instanceof CelError) return false;
        throw error;
      }
    };
  }

  #map(): Expression {
    const entries: [Expression, Expression][] = [];
    while (!this.#accept('}')) {
      const key = this.#ternary();
      this.#expect(':');
      entries.push([key, this.#ternary()]);
      if (!this.#accept(',')) {
        this.#expect('}');
        break;
      }
    }
    return (scope) => Object.fromEntries(entries.map(([key, value]) => [key(scope), value(scope)]));
  }
}

/** `||` and `&&`: an error on one side does not matter where the other side decides. */
function either(left: Expression, right: Expression, decides: boolean): Expression {
  return (scope) => {
    let failure: unknown;
    try {
      if (Boolean(left(scope)) === decides) return decides;
    } catch (error) {
      failure = error;
    }
    const result = Boolean(right(scope));
    if (failure !== undefined && result !== decides) throw failure;
    return result;
  };
}

function select(of: any, key: any, isOptional: boolean): unknown {
  if (of instanceof Optional) return of.isSet ? select(of.value, key, true) : NONE;
  const has = typeof of === 'object' && of !== null && Object.hasOwn(of, key);
  if (isOptional) return has ? new Optional(true, of[key]) : NONE;
  if (!has) throw new CelError(`no such key: ${key}`);
  return of[key];
}

function isEqual(a: unknown, b: unknown): boolean {
  if (a instanceof Optional && b instanceof Optional) return a.isSet === b.isSet && isEqual(a.value, b.value);
  return jsonEqual(a, b);
}

function isIn(item: any, of: any): boolean {
  return Array.isArray(of) ? of.some((each) => isEqual(each, item)) : Object.hasOwn(of, item);
}

const itemsOf = (of: any): any[] => (Array.isArray(of) ? of : Object.keys(of));
const isThrown = Symbol('thrown');

/** `all` and `exists` forgive errors of items as `&&` and `||` do. */
function quantified(items: any[], body: (item: any) => any, decides: boolean): boolean {
  let failure: any = isThrown;
  for (const item of items) {
    try {
      if (Boolean(body(item)) === decides) return decides;
    } catch (error) {
      failure = error;
    }
  }
  if (failure !== isThrown) throw failure;
  return !decides;
}

const MACROS: Record<string, (items: any[], body: (item: any) => any) => unknown> = {
  all: (items, body) => quantified(items, body, false),
  exists: (items, body) => quantified(items, body, true),
  exists_one: (items, body) => items.filter(body).length === 1,
  filter: (items, body) => items.filter(body),
  map: (items, body) => items.map(body),
};

const SURROGATE = /[\ud800-\udfff]/;

/** Of a text in code points. */
function sizeOf(of: any): number {
  if (typeof of === 'string') return SURROGATE.test(of) ? [...of].length : of.length;
  return of.length ?? Object.keys(of as object).length;
}

const METHODS: Record<string, (of: any, ...given: any[]) => unknown> = {
  size: sizeOf,
  matches: (text, pattern) => new RegExp(pattern).test(text),
  startsWith: (text, start) => text.startsWith(start),
  endsWith: (text, end) => text.endsWith(end),
  contains: (text, part) => text.includes(part),
  replace: (text, from, to) => text.replaceAll(from, to),
  split: (text, by) => text.split(by),
  join: (list, by) => list.join(by),
  sum: (list) => list.reduce((all: number, each: number) => all + each, 0),
  isSorted: (list) => list.every((each: any, i: number) => i === 0 || list[i - 1] <= each),
  format: (text, values) => {
    let at = 0;
    return text.replaceAll('%s', () => JSON.stringify(values[at++]));
  },
  hasValue: (of: Optional) => of.isSet,
  orValue: (of: Optional, other) => (of.isSet ? of.value : other),
  value: (of: Optional) => of.value,
};

const FUNCTIONS: Record<string, (...given: any[]) => unknown> = {
  size: sizeOf,
  bytes: (text) => Buffer.from(text),
  string: String,
  int: (of) => Math.trunc(Number(of)),
  double: Number,
  dyn: (of) => of,
  type: (of) => typeof of,
};

const LITERALS: Record<string, unknown> = { true: true, false: false, null: null };
