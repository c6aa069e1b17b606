import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import * as annotations from '../../api/annotations.ts';
import { ARTIFACT_KINDS, GOVERNED_KINDS, KINDS } from '../../api/kinds.ts';
import { objectIn, objectsBelow, ROOT } from './files.ts';

const governed = GOVERNED_KINDS.map(({ group, resource }) => `${group}/${resource}`).sort();

describe('every governed kind of Flux', () => {
  it.each([
    ['webhooks/mutating.yaml', 'flux.'],
    ['webhooks/mutating.yaml', 'flux-metacontroller.'],
    ['webhooks/mutating.yaml', 'flux-unmarked.'],
    ['webhooks/mutating.yaml', 'flux-ungoverned.'],
    ['webhooks/validating.yaml', 'flux.'],
  ])('is in the Flux rules of %s, %s, in any version', (file, webhook) => {
    const { rules } = objectIn(file).webhooks.find(({ name }: { name: string }) => name.startsWith(webhook));
    const covered = rules.flatMap(({ apiGroups, resources }: any) =>
      resources.map((r: string) => `${apiGroups[0]}/${r}`),
    );
    expect(covered.sort()).toEqual(governed);
    for (const { apiVersions } of rules) expect(apiVersions).toEqual(['*']);
  });

  it('is bounded in size, with its status', () => {
    const { resourceRules } = objectIn('policies/object-sizes.yaml').spec.matchConstraints;
    const covered = resourceRules.flatMap(({ apiGroups, resources }: any) =>
      resources.map((r: string) => `${apiGroups[0]}/${r}`),
    );
    expect(covered.sort()).toEqual(governed.flatMap((each) => [each, `${each}/status`]).sort());
  });

  it('may have our annotations beside as many as a user may write', () => {
    const uncounted = [...oursIn('object-sizes.kuberik.com'), annotations.BYPASS_REASON];
    expect(uncounted.sort()).toEqual([...annotations.UNCOUNTED_ON_FLUX_OBJECTS].sort());
  });

  it('has a status that only Flux may write', () => {
    const { resourceRules } = objectIn('policies/flux-status.yaml').spec.matchConstraints;
    const covered = resourceRules.flatMap(({ apiGroups, resources }: any) =>
      resources.map((r: string) => `${apiGroups[0]}/${r}`),
    );
    // An ImagePolicy isn't governed, but its status decides what a Rollout deploys.
    const trusted = [...governed, `${KINDS.ImagePolicy.group}/${KINDS.ImagePolicy.resource}`];
    expect(covered.sort()).toEqual(trusted.map((each) => `${each}/status`).sort());
  });

  it.each(['flux-', 'hold-'])('is decorated by %s*, one controller for each Flux component', (prefix) => {
    const flux = objectsBelow('controllers').filter(({ metadata }) => metadata.name.startsWith(prefix));
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
    for (const { group, resource } of GOVERNED_KINDS) {
      const granted = verbsOn(name, group, resource);
      expect(granted, resource).toEqual(expect.arrayContaining(verbs));
      expect(granted, resource).not.toContain('delete');
    }
  });

  it.each(['status', 'finalizers'])('lets Metacontroller write its %s', (part) => {
    for (const { group, resource } of GOVERNED_KINDS) {
      expect(verbsOn('rollout-hooks-metacontroller', group, `${resource}/${part}`), resource).toContain('update');
    }
  });

  it('can be named in spec.selects.kinds of a Gate, as Rollouts can, and no others', () => {
    const [version] = objectIn('crds/gating.toolkit.fluxcd.io_gates.yaml').spec.versions;
    const { kinds } = version.schema.openAPIV3Schema.properties.spec.properties.selects.properties;
    expect(kinds.items.enum).toEqual([...GOVERNED_KINDS.map(({ kind }) => kind), KINDS.Rollout.kind]);
  });
});

describe('every kind in api/kinds.ts', () => {
  const crds = objectsBelow('crds').map(({ spec }) => ({
    kind: spec.names.kind,
    group: spec.group,
    versions: spec.versions.map(({ name }: { name: string }) => name),
    resource: spec.names.plural,
  }));

  it('of ours is the one in its CRD', () => {
    const ours = Object.values(KINDS).filter(({ group }) => crds.some((crd) => crd.group === group));
    const byKind = (a: { kind: string }, b: { kind: string }) => (a.kind < b.kind ? -1 : 1);
    expect([...ours].sort(byKind)).toEqual([...crds].sort(byKind));
  });

  it('that hooks get with their parent is limited in size, with its status', () => {
    const policy = objectsBelow('policies').find(({ metadata }) => metadata.name === 'rollout-sizes.kuberik.com')!;
    const covered = policy.spec.matchConstraints.resourceRules.flatMap(({ apiGroups, resources }: any) =>
      resources.map((resource: string) => `${apiGroups[0]}/${resource}`),
    );
    const bounded = [KINDS.Rollout, KINDS.RolloutGate, KINDS.HealthCheck, KINDS.Gate];
    expect(covered.sort()).toEqual(
      bounded.flatMap(({ group, resource }) => [`${group}/${resource}`, `${group}/${resource}/status`]).sort(),
    );
  });

  it('that hooks get with their parent may have each annotation that rollout-hooks defines beside its own', () => {
    const keys = Object.entries(annotations).flatMap(([name, value]) => {
      return typeof value === 'string' && !/_(LABEL|PREFIX)/.test(name) ? [value] : [];
    });
    const ours = keys.filter((key) => /^(rollout\.kuberik\.com|([a-z]+\.)?gate\.fluxcd\.io)\//.test(key));
    expect(oursIn('rollout-sizes.kuberik.com').sort()).toEqual(ours.sort());
  });

  it('that Kustomizations apply is related by Metacontroller, and read by the hook server', () => {
    for (const { group, resource } of ARTIFACT_KINDS) {
      expect(verbsOn('rollout-hooks-metacontroller', group, resource), resource).toContain('watch');
      expect(verbsOn('rollout-hooks', group, resource), resource).toContain('get');
    }
  });
});

it('no other file spells the version or the resource of a kind', () => {
  const resources = Object.values(KINDS).map(({ resource }) => resource);
  const spelled = new RegExp(`'[a-z.]*(fluxcd\\.io|kuberik\\.com)/v\\d|resource: '(${resources.join('|')})'`);
  const files = globSync('{api,core,hooks,webhooks,receiver,server}/**/*.ts', { cwd: ROOT });
  const found = files.filter((file) => file !== 'api/kinds.ts' && spelled.test(readFileSync(join(ROOT, file), 'utf8')));
  expect(files.length).toBeGreaterThan(100);
  expect(found).toEqual([]);
});

/** The annotations that a policy of sizes does not count. */
function oursIn(policy: string): string[] {
  const { variables } = objectsBelow('policies').find(({ metadata }) => metadata.name === policy)!.spec;
  const { expression } = variables.find(({ name }: { name: string }) => name === 'ours');
  return JSON.parse(expression.replaceAll("'", '"'));
}

function verbsOn(role: string, group: string, resource: string): string[] {
  const { rules } = objectsBelow('rbac').find(
    ({ kind, metadata }) => kind === 'ClusterRole' && metadata.name === role,
  )!;
  return rules
    .filter((rule: any) => rule.apiGroups.includes(group) && rule.resources.includes(resource))
    .flatMap((rule: any) => rule.verbs);
}
