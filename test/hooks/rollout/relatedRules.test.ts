import { describe, expect, it } from 'vitest';
import { object } from './call.ts';
import { gateRules, rules, selecting } from './sync.ts';

const fleet = (namespace: string) => {
  const found = object('kuberik.com/v1alpha1', 'RolloutBudget', 'fleet', { maxConcurrent: 1 });
  return { ...found, metadata: { name: 'fleet', namespace } };
};
const central = selecting('central', 'opened', { namespaceSelector: {} }, 'ops');
const everywhere = object('kuberik.com/v1alpha1', 'ClusterRolloutBudget', 'all', { maxConcurrent: 1 });

describe('customize', () => {
  it('relates the objects that the plan reads, each by name or label', async () => {
    const spec = {
      gates: [{ name: 'freeze' }, { name: 'b', namespace: 'ops' }],
      healthCheckSelector: { matchLabels: { app: 'app' } },
    };
    const ofGrants = {
      apiVersion: 'kuberik.com/v1alpha1',
      labelSelector: {
        matchExpressions: [{ key: expect.stringMatching(/^[0-9a-f]{16}\.slot\./), operator: 'Exists' }],
      },
    };
    const objects = [central, fleet('team-a'), everywhere];
    expect(await rules(spec, { objects })).toEqual({
      clusterrolloutbudgets: ofGrants,
      rolloutbudgets: { ...ofGrants, namespace: 'team-a' },
      imagepolicies: { apiVersion: 'image.toolkit.fluxcd.io/v1', namespace: 'team-a', names: ['policy'] },
      rolloutgates: {
        apiVersion: 'kuberik.com/v1alpha1',
        namespace: 'team-a',
        labelSelector: { matchLabels: { 'rollout.kuberik.com/rollout-name': 'app' } },
      },
      fluxbindings: {
        apiVersion: 'kuberik.com/v1alpha1',
        namespace: 'team-a',
        labelSelector: { matchExpressions: [{ key: 'app.rollout.kuberik.com/bound', operator: 'Exists' }] },
      },
      healthchecks: {
        apiVersion: 'kuberik.com/v1alpha1',
        namespace: 'team-a',
        labelSelector: { matchLabels: { app: 'app' } },
      },
      gates: { apiVersion: 'gating.toolkit.fluxcd.io/v1alpha1', namespace: 'ops', names: ['b'] },
      namespaces: { apiVersion: 'v1', names: ['team-a'] },
    });
  });

  it.each([
    ['budgets', 'one of the cluster', [everywhere], ['clusterrolloutbudgets']],
    ['budgets', 'one of its namespace', [fleet('team-a')], ['rolloutbudgets']],
    ['budgets', 'one of another namespace', [fleet('b')], []],
    ['the Namespace', 'a Gate that selects by namespace', [central], ['namespaces']],
    ['the Namespace', 'a Gate that selects in its own', [selecting('weekend', 'opened')], []],
  ])('has a rule for %s only where something needs it: %s', async (_, __, objects, wanted) => {
    const found = Object.keys(await rules({}, { objects }));
    expect(found.sort()).toEqual(['fluxbindings', 'gates', 'imagepolicies', 'rolloutgates', ...wanted].sort());
  });

  it('relates Gates that may select it by label: the answer is cached, so it can’t list Gates that are created later', async () => {
    const label = (value: string) => ({ matchLabels: { 'gate.fluxcd.io/selects-rollouts': value } });
    expect(await gateRules({ gates: [{ name: 'freeze' }] })).toEqual([
      { labelSelector: label('') },
      { namespace: 'team-a', labelSelector: label('own-namespace') },
      { namespace: 'team-a', names: ['freeze'] },
    ]);
    expect(await gateRules({})).toHaveLength(2);
  });

  it('relates the older ImagePolicy if only that is served, and none if Flux has none', async () => {
    const older = await rules({}, { serves: (v) => v.endsWith('v1beta2') });
    expect(older.imagepolicies).toMatchObject({ apiVersion: 'image.toolkit.fluxcd.io/v1beta2' });
    expect(await rules({}, { serves: () => false })).not.toHaveProperty('imagepolicies');
  });

  it.each([
    ['no ImagePolicy is named', { releasesImagePolicy: {} }, 'imagepolicies'],
    ['there is no selector', { healthCheckSelector: {} }, 'healthchecks'],
    ['the selector does not compile', { healthCheckSelector: { matchLabels: { 'a b': 'c' } } }, 'healthchecks'],
  ])('leaves a rule out when %s: an empty one means all', async (_title, spec, resource) => {
    expect(await rules(spec)).not.toHaveProperty(resource);
  });

  it('relates no HealthCheck of other namespaces: one without consent must not make a request too large', async () => {
    const { healthchecks } = await rules({ healthCheckSelector: { selector: {}, namespaceSelector: {} } });
    expect(healthchecks).toEqual({ apiVersion: 'kuberik.com/v1alpha1', namespace: 'team-a', labelSelector: {} });
  });

  it('has label values that fit, for names of 253 characters', async () => {
    const { rolloutgates, fluxbindings } = await rules({}, {}, 'a'.repeat(253));
    expect(Object.values(rolloutgates!.labelSelector!.matchLabels!)[0]!.length).toBeLessThanOrEqual(63);
    expect(fluxbindings!.labelSelector!.matchExpressions![0]!.key.split('/')[0]!.length).toBeLessThanOrEqual(253);
  });
});
