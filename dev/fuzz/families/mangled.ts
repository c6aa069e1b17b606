/**
 * Request bodies with values of wrong types, missing or far too large: they may be refused, but must not crash a route.
 */
import fc from 'fast-check';
import { isMap } from '../../../core/kube/json.ts';
import { callRoute, expectThat, ROUTES, type reviewOf, serve } from './routes.ts';
import { sampleBodies } from './samples.ts';

interface Damage {
  /** Index of the damaged value among all values of the body. */
  at: number;
  value?: unknown;
  /** A key to add to that value, instead of replacing it. */
  key?: string;
}

interface Mangled {
  path: string;
  body: number;
  damages: Damage[];
}

const deep = (depth: number) => {
  let value: unknown = 1;
  for (let i = 0; i < depth; i++) value = i % 2 ? [value] : { a: value };
  return value;
};

const junk = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    undefined,
    true,
    false,
    0,
    -1,
    1e308,
    2 ** 53 + 2,
    '',
    ' ',
    '\u0000',
    '\ud800',
    'é'.repeat(100),
    [],
    {},
    [null],
    [[]],
    [{}],
    { a: null },
  ),
  fc.constantFrom<unknown>(
    '__proto__',
    'constructor',
    'x'.repeat(5000),
    ','.repeat(3000),
    '1.0.0',
    '9999-12-31T23:59:59Z',
    '+010000-01-01T00:00:00Z',
    '9999999h',
    '-1h',
    'shop/a',
    'a,b,c',
  ),
  fc.constantFrom<unknown>(
    Array.from({ length: 500 }, (_, i) => i),
    Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`k${i}`, `${i}`])),
    deep(50),
    deep(1500),
  ),
  fc.jsonValue({ maxDepth: 3 }),
);

const damage: fc.Arbitrary<Damage> = fc
  .record({
    at: fc.nat(2000),
    value: junk,
    key: fc.option(
      fc.constantFrom(
        '__proto__',
        'constructor',
        'toString',
        'hasOwnProperty',
        'length',
        'annotations',
        'metadata',
        'spec',
        'status',
        '',
      ),
      { nil: undefined, freq: 4 },
    ),
  })
  .map(({ key, ...rest }) => ({ ...rest, ...(key !== undefined && { key }) }));

export const mangled: fc.Arbitrary<Mangled> = fc.record({
  path: fc.constantFrom(...ROUTES.keys()),
  body: fc.nat(100),
  damages: fc.array(damage, { minLength: 1, maxLength: 4 }),
});

export async function checkMangled({ path, body, damages }: Mangled): Promise<void> {
  const samples = sampleBodies(path);
  const { request, stored } = samples[body % samples.length]!;
  const sent: object = JSON.parse(request);
  for (const each of damages) spoil(sent, each);
  serve({ now: Date.parse('2026-03-27T10:00:00Z'), objects: stored });
  const answer = await callRoute(ROUTES.get(path)!, sent);
  if (!('body' in answer) || !path.startsWith('/admission/')) return;
  const { response } = answer.body;
  expectThat(typeof response?.allowed === 'boolean', "the answer has no boolean 'allowed'", { answer });
  expectThat(
    response.uid === (sent as ReturnType<typeof reviewOf>).request?.uid,
    'the answer is about another request',
    { answer },
  );
}

type Place = { parent: any; key: string };

/** Every value of the body. Not recursive, since an inserted value may be deeper than the stack. */
function places(root: object): Place[] {
  const found: Place[] = [];
  const todo: object[] = [root];
  for (let parent = todo.pop(); parent !== undefined; parent = todo.pop()) {
    for (const key of Object.keys(parent)) {
      const value = (parent as any)[key];
      found.push({ parent, key });
      if (typeof value === 'object' && value !== null) todo.push(value);
    }
  }
  return found;
}

function spoil(root: object, { at, value, key }: Damage): void {
  const all = places(root);
  if (all.length === 0) return;
  const { parent, key: where } = all[at % all.length]!;
  if (key === undefined) {
    if (value === undefined) delete parent[where];
    else define(parent, where, value);
  } else if (isMap(parent[where])) define(parent[where], key, value);
}

function define(map: object, key: string, value: unknown): void {
  Object.defineProperty(map, key, {
    value: structuredClone(value),
    writable: true,
    enumerable: true,
    configurable: true,
  });
}
