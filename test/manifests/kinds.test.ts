import { describe, expect, it } from 'vitest';
import { GOVERNED_KINDS } from '../../api/flux.ts';
import { objectIn, objectsBelow } from './support/files.ts';

const governed = GOVERNED_KINDS.map(({ group, resource }) => `${group}/${resource}`).sort();

describe('every governed kind of Flux', () => {
  it.each([
    ['webhooks/mutating.yaml', 'flux.'],
    ['webhooks/mutating.yaml', 'flux-created.'],
    ['webhooks/validating.yaml', 'flux.'],
  ])('is in the Flux rules of %s, %s, in any version', (file, webhook) => {
    const { rules } = objectIn(file).webhooks.find(({ name }: { name: string }) => name.startsWith(webhook));
    const covered = rules.flatMap(({ apiGroups, resources }: any) =>
      resources.map((r: string) => `${apiGroups[0]}/${r}`),
    );
    expect(covered.sort()).toEqual(governed);
    for (const { apiVersions } of rules) expect(apiVersions).toEqual(['*']);
  });

  it('is decorated, one controller for each Flux component', () => {
    const flux = objectsBelow('controllers').filter(({ metadata }) => metadata.name.startsWith('flux-'));
    const decorated = flux.flatMap(({ spec }) =>
      spec.resources.map(({ apiVersion, resource }: any) => `${apiVersion.split('/')[0]}/${resource}`),
    );
    expect(decorated.sort()).toEqual(governed);
    for (const { spec } of flux) expect(new Set(spec.resources.map(({ apiVersion }: any) => apiVersion)).size).toBe(1);
  });

  it.each([
    ['rollout-hooks', ['get', 'list']],
    ['rollout-hooks-metacontroller', ['get', 'list', 'watch', 'update', 'patch']],
  ])('may be used by ClusterRole %s, and not deleted', (name, verbs) => {
    const role = objectsBelow('rbac').find(({ kind, metadata }) => kind === 'ClusterRole' && metadata.name === name);
    for (const { group, resource } of GOVERNED_KINDS) {
      const granted = role?.rules
        .filter((rule: any) => rule.apiGroups.includes(group) && rule.resources.includes(resource))
        .flatMap((rule: any) => rule.verbs);
      expect(granted, resource).toEqual(expect.arrayContaining(verbs));
      expect(granted, resource).not.toContain('delete');
    }
  });
});
