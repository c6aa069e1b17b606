import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../../api/kubernetes.ts';
import type { Resource } from '../../../../dev/client/resources.ts';
import { ObjectStore } from '../../../../dev/engine/cluster/store.ts';
import type { RelatedRule } from '../../../../dev/engine/hooks/answers.ts';
import { compileRule, select } from '../../../../dev/engine/related/relatedRule.ts';

const things: Resource = {
  apiVersion: 'x/v1',
  name: 'things',
  kind: 'Thing',
  namespaced: true,
  hasStatusSubresource: true,
};
const globals: Resource = { ...things, name: 'globals', kind: 'Global', namespaced: false };

function object(key: string, labels?: Record<string, string>): KubeObject {
  const [namespace, name] = key.includes('/') ? key.split('/') : [undefined, key];
  return { apiVersion: 'x/v1', kind: 'Thing', metadata: { namespace, name, labels } };
}

const objects = [
  object('dev/a', { app: 'shop' }),
  object('dev/b'),
  object('prod/a', { app: 'shop', tier: 'front' }),
  object('prod/c', { app: 'bank' }),
];
const namespaces: Record<string, Record<string, string> | undefined> = { dev: undefined, prod: { env: 'production' } };
const namespaceLabels = (name: string) => (name in namespaces ? namespaces[name] : null);

const shop = { matchLabels: { app: 'shop' } };
const production = { matchLabels: { env: 'production' } };

const cases: { rule: Partial<RelatedRule>; found: string[] }[] = [
  { rule: {}, found: ['dev/a', 'dev/b', 'prod/a', 'prod/c'] },
  { rule: { names: [] }, found: ['dev/a', 'dev/b', 'prod/a', 'prod/c'] },
  { rule: { names: ['a'] }, found: ['dev/a', 'prod/a'] },
  { rule: { namespace: 'dev' }, found: ['dev/a', 'dev/b'] },
  { rule: { namespace: 'dev', names: [] }, found: ['dev/a', 'dev/b'] },
  { rule: { namespace: 'dev', names: ['a', 'missing'] }, found: ['dev/a'] },
  { rule: { namespace: 'nowhere', names: ['a'] }, found: [] },
  { rule: { labelSelector: {} }, found: ['dev/a', 'dev/b', 'prod/a', 'prod/c'] },
  { rule: { labelSelector: shop }, found: ['dev/a', 'prod/a'] },
  { rule: { labelSelector: shop, namespace: 'prod' }, found: ['prod/a'] },
  { rule: { namespaceSelector: {} }, found: ['dev/a', 'dev/b', 'prod/a', 'prod/c'] },
  { rule: { namespaceSelector: production }, found: ['prod/a', 'prod/c'] },
  { rule: { namespaceSelector: production, labelSelector: shop }, found: ['prod/a'] },
  {
    rule: { namespace: null, names: null, labelSelector: null, namespaceSelector: production },
    found: ['prod/a', 'prod/c'],
  },
];

const key = ({ metadata }: KubeObject) => `${metadata.namespace}/${metadata.name}`;
const compile = (rule: Partial<RelatedRule>) =>
  compileRule({ apiVersion: 'x/v1', resource: 'things', ...rule }, things);

describe('related rules', () => {
  it.each(cases)('$rule means $found', ({ rule, found }) => {
    const store = new ObjectStore();
    for (const one of objects) store.put(one);
    expect([...select(compile(rule), store, namespaceLabels)].map(key).sort()).toEqual(found);
  });

  it.each(cases)('an event of one of $found matches $rule', ({ rule, found }) => {
    expect(objects.filter((one) => compile(rule).matches(one, namespaceLabels)).map(key)).toEqual(found);
  });

  it.each<[Partial<RelatedRule>, Resource, RegExp]>([
    [{ names: ['a'], labelSelector: shop }, things, /names cannot be combined/],
    [{ names: ['a'], labelSelector: {} }, things, /names cannot be combined/],
    [{ names: ['a'], namespaceSelector: {} }, things, /names cannot be combined/],
    [{ namespace: 'dev', namespaceSelector: {} }, things, /namespace cannot be combined with namespaceSelector/],
    [{ namespaceSelector: {} }, globals, /namespaceSelector needs a namespaced resource/],
    [{ labelSelector: { matchExpressions: [{ key: 'a', operator: 'Like' }] } }, things, /"Like" is not one of/],
  ])('%j is refused', (rule, target, message) => {
    expect(() => compileRule({ apiVersion: 'x/v1', resource: target.name, ...rule }, target)).toThrow(message);
  });

  it('a namespace has no effect on a cluster-scoped resource', () => {
    const rule = compileRule({ apiVersion: 'x/v1', resource: 'globals', namespace: 'dev', names: ['a'] }, globals);
    const store = new ObjectStore();
    store.put(object('a'));
    expect([...select(rule, store, namespaceLabels)]).toHaveLength(1);
  });

  it('an object in an unknown namespace matches no namespaceSelector', () => {
    expect(compile({ namespaceSelector: {} }).matches(object('gone/a'), namespaceLabels)).toBe(false);
  });
});
