/** Sizes that manifests/policies and CRDs allow: test/cluster/freezePath.test.ts has what needs an API server. */
import { describe, expect, it } from 'vitest';
import type { KindName } from '../../api/kinds.ts';
import type { AnyObject } from '../../dev/client/send.ts';
import { requestOf } from '../../dev/fakes/requests.ts';
import { enforcePolicies } from '../../dev/sim/apiServer/admission.ts';
import { objectOf } from '../support/objects.ts';
import { problemsOf } from './schema.ts';

const of = (kind: KindName, metadata: object = {}, spec: object = {}): AnyObject =>
  objectOf(kind as 'Gate', { metadata: { namespace: 'shop', name: 'app', ...metadata }, spec } as never) as AnyObject;
const refused = (object: AnyObject, oldObject: AnyObject | null = null) =>
  expect(() => enforcePolicies(requestOf({ object, oldObject })));
const map = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`x/${i}`, '']));
const text = (size: number, character = 'y') => ({ annotations: { 'x/a': character.repeat(size) } });
const variable = (value: string) => ({ postBuild: { substitute: { A: value } } });

describe('of an object of a governed kind too large', () => {
  it.each(['Kustomization', 'OCIRepository'] as const)('are annotations that leave no room for ours: %s', (kind) => {
    const large = of(kind, text(140_000));
    refused(large).toThrow(
      /metadata.annotations take 140003 bytes, and at most 131072 leave room for what a closed gate/,
    );
    refused(large, of(kind)).toThrow(/at most 131072/);
    refused(large, large).not.toThrow();
  });

  it.each([
    ['plain', 'z'.repeat(600_000)],
    ['characters that Go writes as six bytes', '<'.repeat(100_000)],
    ['control characters', '\u0001'.repeat(200_000)],
    ['line separators', '\u2028'.repeat(200_000)],
  ])('is a spec that leaves no room for ours: %s', (_, value) => {
    refused(of('Kustomization', {}, variable(value))).toThrow(
      /leave room for what a closed gate writes on it: make it/,
    );
  });

  it('is a HelmRelease full of numbers, which JSON writes longer than they are counted', () => {
    const values = { numbers: Array.from({ length: 30_000 }, () => 2.2250738585072014e-308) };
    refused(of('HelmRelease', {}, { values })).toThrow(/at most 245760 leave room/);
  });

  it('are more labels than 512, and more annotations', () => {
    refused(of('Kustomization', { labels: map(513) })).toThrow(/metadata.labels has 513 entries, and at most 512/);
    refused(of('Kustomization', { annotations: map(513) })).toThrow(/metadata.annotations has 513 entries/);
    refused(of('Kustomization', { labels: map(512), annotations: map(512) })).not.toThrow();
  });
});

describe('of an object that is related to others too large', () => {
  it.each([
    ['Rollout', text(20_000, '<')],
    ['Gate', text(70_000)],
    ['RolloutGate', text(70_000)],
    ['HealthCheck', text(70_000)],
  ] as const)('are 65536 bytes: %s', (kind, metadata) => {
    refused(of(kind, metadata)).toThrow(/at most 65536 are allowed/);
  });

  it('are more annotations than 512', () => {
    refused(of('HealthCheck', { annotations: map(513) })).toThrow(/has 513 entries, and at most 512/);
  });

  it('is the message of a HealthCheck', () => {
    const check = { ...of('HealthCheck'), status: { message: 'm'.repeat(16_385) } };
    expect(problemsOf(check).join()).toContain('16384');
  });
});
