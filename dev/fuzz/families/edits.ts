/** What somebody changes on a Flux object in one write. */
import fc from 'fast-check';
import type { AnyObject } from '../world/apiServer.ts';

export const GATES = 'gate.fluxcd.io/gates';
export const REASON = 'gate.fluxcd.io/bypass-reason';

export interface Edit {
  /** Keys from the object's root. */
  path: string[];
  /** Absent: taken away. */
  value?: unknown;
}

const set = (path: string[], values: fc.Arbitrary<unknown>): fc.Arbitrary<Edit> =>
  values.map((value) => (value === undefined ? { path } : { path, value }));
const annotation = (key: string, ...values: (string | undefined)[]) =>
  set(['metadata', 'annotations', key], fc.constantFrom(...values));

const ROLLOUTS = ['app', 'web', 'absent', 'app,web', 'A!', undefined, undefined];
const VERSIONS = ['1.0.0', '1.1.0', '1.2.0', '9.9.9', '', undefined];

const json = fc.jsonValue({ maxDepth: 4 });
const awkward = fc.constantFrom('__proto__', 'constructor', 'toString', 'é\u0000\ud800', 'a/b~c', '', 'x'.repeat(300));

const marks = fc.oneof(
  annotation(GATES, 'a', 'b', 'a,b', 'ops/freeze', 'a, ops/freeze', 'absent', 'a/b/c', '', undefined, undefined),
  annotation('rollout.kuberik.com/substitute.APP.from', ...ROLLOUTS),
  annotation('rollout.kuberik.com/substitute.WEB.from', ...ROLLOUTS),
  annotation('rollout.kuberik.com/rollout', ...ROLLOUTS),
  annotation('rollout.kuberik.com/substitute', 'APP', 'not a variable', '__proto__', undefined),
);
const forgeries = fc.oneof(
  annotation(
    'gate.fluxcd.io/state',
    'open',
    'closed: shop/a',
    'bypassed: shop/a',
    'bypassed: shop/a,shop/b,ops/freeze',
    'passing: shop/a,shop/b,ops/freeze',
    'opening: 2026-03-27T10:00:00Z',
    undefined,
  ),
  annotation('gate.fluxcd.io/suspended', 'true', 'false', 'unset', 'nonsense', undefined),
  annotation('gate.fluxcd.io/selected-by', 'ops/freeze', 'shop/b', 'absent/absent', undefined),
  annotation('rollout.kuberik.com/deployed', 'app=7/9.9.9/uid-app', 'app=1/1.0.0/uid-app', undefined),
  annotation('gate.fluxcd.io/bypassed-by', '2026-03-27T10:00:00Z developer', '2026-03-27T10:00:00Z admin', undefined),
);
const content = fc.oneof(
  set(['spec', 'path'], fc.constantFrom('./a', './b', undefined)),
  set(['spec', 'interval'], fc.constantFrom('10m', '10m0s', '600s', '5m', undefined)),
  set(['spec', 'suspend'], fc.constantFrom(true, false, undefined)),
  set(['spec', 'postBuild', 'substitute', 'APP'], fc.constantFrom(...VERSIONS)),
  set(['spec', 'postBuild', 'substitute', 'WEB'], fc.constantFrom(...VERSIONS)),
  set(
    ['spec', 'postBuild'],
    fc.constantFrom(undefined, null, {}, { substitute: null }, { substitute: { APP: '9.9.9' } }),
  ),
  set(['spec', 'ref', 'tag'], fc.constantFrom(...VERSIONS)),
  set(['spec', 'ref'], fc.constantFrom(undefined, { semver: '*' }, { digest: 'sha256:0', tag: '1.0.0' })),
  set(['spec', 'values'], json),
  fc.tuple(awkward, json).map(([key, value]) => ({ path: ['spec', 'values', key], value })),
  set(['spec', 'replicas'], fc.constantFrom(1, 2, 2 ** 53, -0, 1e308, undefined)),
);
const surroundings = fc.oneof(
  set(['metadata', 'labels', 'tier'], fc.constantFrom('production', 'test', undefined)),
  set(['metadata', 'labels', 'kustomize.toolkit.fluxcd.io/name'], fc.constantFrom('apps', undefined)),
  set(
    ['metadata', 'ownerReferences'],
    fc.constantFrom(undefined, [], [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'gone', uid: 'uid-gone' }]),
  ),
  set(['metadata', 'finalizers'], fc.constantFrom(undefined, ['finalizers.fluxcd.io'])),
  annotation('note', 'one', 'two', undefined),
);

export const edits: fc.Arbitrary<Edit[]> = fc.array(
  fc.oneof(
    { weight: 5, arbitrary: content },
    { weight: 4, arbitrary: marks },
    { weight: 2, arbitrary: forgeries },
    { weight: 2, arbitrary: surroundings },
  ),
  { maxLength: 5 },
);

/** A copy with the edits made. Where a map is in the way of a deeper key, or null, it is made. */
export function edited(object: AnyObject, list: readonly Edit[]): AnyObject {
  const copy = structuredClone(object);
  for (const { path, value } of list) {
    let at: any = copy;
    for (const key of path.slice(0, -1)) {
      if (!Object.hasOwn(at, key) || typeof at[key] !== 'object' || at[key] === null || Array.isArray(at[key]))
        put(at, key, {});
      at = at[key];
    }
    const last = path.at(-1)!;
    if (value === undefined) delete at[last];
    else put(at, last, structuredClone(value));
  }
  return copy;
}

/** As JSON.parse does: `__proto__` is a key like any other. */
function put(map: object, key: string, value: unknown): void {
  Object.defineProperty(map, key, { value, writable: true, enumerable: true, configurable: true });
}
