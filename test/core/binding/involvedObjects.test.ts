import { describe, expect, it } from 'vitest';
import type { ObjectName } from '../../../api/kubernetes.ts';
import { involvedObjectsOf, reportingObjects } from '../../../core/binding/involvedObjects.ts';
import { LIMITS } from '../../../core/limits.ts';
import { objectOf } from '../../support/objects.ts';

/** `Kustomization apps/web`. */
const named = (text: string): ObjectName => {
  const [, kind = '', namespace = '', name = ''] = /(\w+) (.*)\/(.*)/.exec(text)!;
  return { kind, namespace, name };
};
const textOf = ({ kind, namespace, name }: ObjectName) => `${kind} ${namespace}/${name}`;

describe('the reporting object of a Gate', () => {
  it.each([
    { rule: 'a Rollout for want of others', of: ['Rollout a/a', 'Bucket a/z'], is: ['Bucket a/z'] },
    { rule: 'the first by name', of: ['Kustomization a/z', 'Kustomization a/b'], is: ['Kustomization a/b'] },
    {
      rule: 'one in each namespace, its own first',
      of: ['Rollout a/a', 'Rollout z/z', 'Rollout home/h', 'Rollout z/y'],
      is: ['Rollout home/h', 'Rollout a/a', 'Rollout z/y'],
    },
    { rule: 'nobody where it holds nothing', of: [], is: [] },
  ])('is $rule, in whatever order they are listed', ({ of, is }) => {
    expect(involvedObjectsOf(of.map(named), 'home').map(textOf)).toEqual(is);
    expect(involvedObjectsOf(of.map(named).reverse(), 'home').map(textOf)).toEqual(is);
  });

  it(`is in at most ${LIMITS.notifiedNamespaces} namespaces, its own included`, () => {
    const many = Array.from({ length: 300 }, (_, i) => named(`Kustomization n${i}/web`));
    const involvedObjects = involvedObjectsOf([...many, named('Kustomization zz/web')], 'zz');
    expect(involvedObjects).toHaveLength(LIMITS.notifiedNamespaces);
    expect(involvedObjects[0]?.namespace).toBe('zz');
  });
});

describe('the reporting objects of a Rollout', () => {
  const bindingOf = (text: string) => {
    const { kind, namespace, name } = named(text);
    return objectOf('FluxBinding', {
      metadata: { name: `${kind}-${name}`.toLowerCase(), namespace },
      spec: { target: { apiVersion: 'v1', kind, name, uid: '' } },
    });
  };
  it.each([
    {
      rule: 'everything that applies its version, and not the source that brings it',
      of: ['OCIRepository a/web', 'Kustomization a/web', 'HelmRelease a/web', 'Kustomization a/jobs'],
      is: ['Kustomization a/jobs', 'Kustomization a/web', 'HelmRelease a/web'],
    },
    { rule: 'the source where nothing else is bound', of: ['OCIRepository a/web'], is: ['OCIRepository a/web'] },
    { rule: 'nobody where nothing is bound', of: [], is: [] },
  ])('is $rule', ({ of, is }) => {
    expect(reportingObjects(of.map(bindingOf)).map(textOf)).toEqual(is);
  });

  it(`are at most ${LIMITS.notifiedObjects}`, () => {
    const many = Array.from({ length: 30 }, (_, i) => bindingOf(`Kustomization a/web-${i}`));
    expect(reportingObjects(many)).toHaveLength(LIMITS.notifiedObjects);
  });
});
