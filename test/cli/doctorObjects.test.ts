/** Checks of the doctor about Flux objects and HealthChecks. */
import { describe, expect, it } from 'vitest';
import {
  checkFluxObjects,
  managedFieldFindings,
  unboundFindings,
  waitedGateFindings,
} from '../../cli/doctor/checkFluxObjects.ts';
import { checkHealthChecks, metricFindings } from '../../cli/doctor/checkHealthChecks.ts';
import { objectOf } from '../support/objects.ts';

describe('a Kustomization that applies a Gate', () => {
  const of = (spec: object, ...ids: string[]) =>
    objectOf('Kustomization', {
      metadata: { namespace: 'flux-system', name: 'fleet' },
      spec,
      status: { inventory: { entries: ids.map((id) => ({ id, v: 'v1alpha1' })) } },
    } as never);
  const GATE = 'shop_freeze_gating.toolkit.fluxcd.io_Gate';
  const ROLLOUT_GATE = 'shop_qa_kuberik.com_RolloutGate';
  const expr = { apiVersion: 'gating.toolkit.fluxcd.io/v1alpha1', kind: 'Gate', current: 'true' };

  it.each<[string, object, string[], string | undefined]>([
    ['waits for it', { wait: true }, [GATE, ROLLOUT_GATE], 'applies Gate shop/freeze, RolloutGate shop/qa:'],
    ['says when one is ready', { wait: true, healthCheckExprs: [expr] }, [GATE], undefined],
    ['says it of Gates only', { wait: true, healthCheckExprs: [expr] }, [ROLLOUT_GATE], 'applies RolloutGate shop/qa:'],
    ['does not wait', {}, [GATE], undefined],
    ['applies something else', { wait: true }, ['shop_web_apps_Deployment'], undefined],
  ])('%s', (_, spec, ids, text) => {
    const found = waitedGateFindings([of(spec, ...ids) as never]);
    expect(found).toMatchObject(text === undefined ? [] : [{ level: 'problem', text: expect.stringContaining(text) }]);
    expect(found).toHaveLength(text === undefined ? 0 : 1);
  });
});

describe('a Rollout that no Flux object is bound to', () => {
  const web = (spec: object = {}) =>
    objectOf('Rollout', {
      metadata: { namespace: 'shop', name: 'web' },
      spec: { releasesImagePolicy: { name: 'web' }, ...spec },
    } as never);
  const object = (kind: 'Kustomization' | 'OCIRepository' | 'HelmRelease', annotations: Record<string, string>) =>
    objectOf(kind, { metadata: { namespace: 'shop', name: 'web', annotations }, spec: {} } as never);
  const provider = (url: string) => ({ apiVersion: 'v1', kind: 'P', metadata: {}, spec: { url } });
  const BOUND = { 'rollout.kuberik.com/rollout': 'web' };

  it.each<[string, object[], object[], object, boolean]>([
    ['is a finding', [], [], {}, true],
    ['has a HelmRelease that tracks it', [object('HelmRelease', BOUND)], [], {}, false],
    ['sets a tag', [object('OCIRepository', BOUND)], [], {}, false],
    [
      'has only an object that is bound to another one',
      [object('OCIRepository', { ...BOUND, [Object.keys(BOUND)[0]!]: 'api' })],
      [],
      {},
      true,
    ],
    ['gives its version to a ResourceSet', [], [provider('https://x.svc:9443/inputs/shop/web')], {}, false],
    ['is not the one of the ResourceSet', [], [provider('https://x.svc:9443/inputs/shop/api')], {}, true],
    ['keeps a ConfigMap', [], [], { releaseConfigMap: { name: 'web' } }, false],
  ])('%s', (_, objects, providers, spec, isFound) => {
    const found = unboundFindings([web(spec)], objects as never, providers as never);
    expect(found).toMatchObject(
      isFound ? [{ text: 'No Flux object is bound to these Rollouts, so none gets their versions: shop/web' }] : [],
    );
  });
});

it.each([
  ['buckets', 'Bucket', { 'gate.fluxcd.io/gate': 'freeze', 'gate.fluxcd.io/gates': 'freeze' }, 'gate.fluxcd.io/gate'],
  ['rollouts', 'Rollout', { 'rollout.kuberik.com/force-deply': '1' }, 'rollout.kuberik.com/force-deply'],
  ['gates', 'Gate', { 'close.gate.fluxcd.io/requestAt': '' }, 'close.gate.fluxcd.io/requestAt'],
  ['rolloutgates', 'RolloutGate', { 'rollout.kuberik.com/aprove': '1' }, 'rollout.kuberik.com/aprove'],
] as const)('an annotation with our prefix that means nothing on %s is a finding', async (of, kind, given, key) => {
  const annotations = { ...given, team: 'a' };
  const { kind: _, ...found } = objectOf(kind, { metadata: { namespace: 'shop', name: 'b', annotations } } as never);
  const client = {
    list: async ({ resource }: { resource: string }) => (resource === of ? [found] : []),
    resources: async () => [],
  };
  const findings = await checkFluxObjects({ client } as never);
  expect(findings.filter(({ about }) => about === 'Annotations')).toMatchObject([
    { level: 'problem', text: `${kind} shop/b has annotations that have no effect: ${key}` },
  ]);
});

describe('a HealthCheck of class kustomization', () => {
  const check = objectOf('HealthCheck', {
    metadata: { namespace: 'shop', name: 'web', annotations: { 'healthcheck.kuberik.com/kustomization': 'web' } },
    spec: { class: 'kustomization' },
  });
  const entries = [
    { id: 'shop_web_apps_Deployment', v: 'v1' },
    { id: 'shop_web_flagger.app_Canary', v: 'v1beta1' },
    { id: 'shop_password__Secret', v: 'v1' },
  ];
  const kustomization = (spec: object = {}) =>
    objectOf('Kustomization', {
      metadata: { namespace: 'shop', name: 'web' },
      spec,
      status: { inventory: { entries } },
    } as never);
  const RESOURCES: Record<string, object[]> = {
    'apps/v1': [{ kind: 'Deployment', name: 'deployments' }],
    'flagger.app/v1beta1': [{ kind: 'Canary', name: 'canaries' }],
    v1: [{ kind: 'Secret', name: 'secrets' }],
  };
  const refusal = Object.assign(new Error('no'), { code: 403 });
  const found = async (of: object, may: ((attributes: any) => boolean) | undefined) => {
    const client = {
      list: async ({ resource }: { resource: string }) =>
        ({ healthchecks: [check], kustomizations: [of] })[resource as 'healthchecks'] ?? [],
      resources: async (apiVersion: string) => RESOURCES[apiVersion] ?? [],
      create: async (_: unknown, { spec }: any) => {
        if (!may) throw refusal;
        return { object: { status: { allowed: may(spec.resourceAttributes) } } };
      },
    };
    return checkHealthChecks({ client, namespace: 'shop' } as never);
  };
  const forbidden = {
    level: 'problem',
    text: "The hook server isn't allowed to read canaries.flagger.app, so these HealthChecks are never Healthy: shop/web",
  };

  it.each<[string, object, (attributes: any) => boolean, object[]]>([
    [
      'is fine if the hook server may read all its objects, Secrets aside',
      kustomization(),
      ({ resource }) => resource !== 'secrets',
      [],
    ],
    ['is a finding if it may not', kustomization(), ({ group }) => group === 'apps', [forbidden]],
    [
      'may be allowed in its namespace only',
      kustomization(),
      ({ group, namespace }) => group === 'apps' || namespace === 'shop',
      [],
    ],
    ['is fine if its objects are in another cluster', kustomization({ kubeConfig: {} }), () => false, []],
    [
      'is fine if Flux evaluates the others',
      kustomization({ wait: true, healthCheckExprs: [{ apiVersion: 'flagger.app/v1beta1', kind: 'Canary' }] }),
      ({ group }) => group === 'apps',
      [],
    ],
  ])('%s', async (_, of, may, findings) => {
    expect(await found(of, may)).toMatchObject(findings);
  });
});

describe('an object whose version a Rollout sets, applied by a Kustomization', () => {
  const labels = {
    'kustomize.toolkit.fluxcd.io/name': 'fleet',
    'kustomize.toolkit.fluxcd.io/namespace': 'flux-system',
  };
  const setBy = (...managers: string[]) =>
    objectOf('Kustomization', {
      metadata: {
        namespace: 'shop',
        name: 'web',
        labels,
        annotations: { 'rollout.kuberik.com/substitute.APP.from': 'web' },
        managedFields: [
          { manager: 'metacontroller', operation: 'Update', fieldsV1: FIELD },
          ...managers.map((manager) => ({ manager, operation: 'Apply', fieldsV1: FIELD })),
        ],
      },
      spec: {},
    } as never);
  const FIELD = { 'f:spec': { 'f:postBuild': { 'f:substitute': { 'f:APP': {} } } } };
  const pinned = setBy('kustomize-controller');
  const fleet = (...ignore: object[]) =>
    objectOf('Kustomization', { metadata: { namespace: 'flux-system', name: 'fleet' }, spec: { ignore } } as never);
  const paths = ['/spec/postBuild/substitute/APP', '/spec/suspend'];
  const KEPT = 'no version would be reset';
  const reset = (manager: string) =>
    `1 of 1 objects would get the version of an apply if admission were removed: Kustomization shop/web (${manager});`;
  const byFlux = reset('kustomize-controller');

  it.each<[string, object[], string, object?]>([
    ['that ignores nothing', [], byFlux],
    ['that does not set it', [], KEPT, setBy()],
    ['that ignores the field', [{ paths }], KEPT],
    [
      'that ignores a field which its earlier applier still owns',
      [{ paths }],
      reset('argocd'),
      setBy('kustomize-controller', 'argocd'),
    ],
    ['that ignores it of this object', [{ paths, target: { kind: 'Kustomization', name: 'web' } }], KEPT],
    ['that ignores it of a pattern', [{ paths, target: { name: 'we.*' } }], KEPT],
    ['that ignores it of another', [{ paths, target: { name: 'api' } }], byFlux],
    ['that ignores another field', [{ paths: ['/spec/suspend'] }], byFlux],
  ])('%s', (_, rules, text, object = pinned) => {
    const all = [object, fleet(...rules)] as never;
    expect(managedFieldFindings(all, all)).toMatchObject([{ level: 'fine', text: expect.stringContaining(text) }]);
  });

  it('that is in a namespace which is not checked is not counted', () => {
    expect(managedFieldFindings([pinned] as never, [])).toMatchObject([{ text: expect.stringContaining(KEPT) }]);
  });

  it.each<[string, object[], object[]]>([
    ['is to have the version in Git', [], []],
    [
      'does not get it where the field is ignored',
      [{ paths }],
      [
        {
          level: 'problem',
          text: 'Kustomization shop/web gets its version from Git (spec.writeBack), but spec.ignore of Kustomization flux-system/fleet keeps the old one',
        },
      ],
    ],
  ])('of a Rollout that writes back %s', (_, rules, expected) => {
    const rollout = objectOf('Rollout', {
      metadata: { namespace: 'shop', name: 'web' },
      spec: { writeBack: { imagePolicy: 'web-deployed' } },
    } as never);
    const found = managedFieldFindings(
      [pinned, fleet(...rules)] as never,
      [pinned, fleet(...rules)] as never,
      [rollout] as never,
    );
    expect(found).toMatchObject(expected);
  });
});

describe('a HealthCheck of class prometheus', () => {
  const prometheus = { provider: 'main', query: 'up', thresholdRange: { min: 1 } };
  const check = (spec: object) =>
    objectOf('HealthCheck', {
      metadata: { namespace: 'shop', name: 'errors' },
      spec: { class: 'prometheus', ...spec },
    });
  const provider = (namespaceSelector?: object) =>
    objectOf('MetricProvider', {
      metadata: { name: 'main' },
      spec: { address: 'http://x', namespaceSelector } as { address: string; namespaceSelector: object },
    });
  const SHOP = [{ metadata: { name: 'shop', labels: { team: 'a' } } }];

  const NOT_SELECTED =
    'HealthCheck shop/errors queries MetricProvider main, whose spec.namespaceSelector does not select namespace shop: the HealthCheck is never Healthy';
  const INVALID = { matchExpressions: [{ key: 'team', operator: 'Maybe' }] };
  it.each([
    ['may query it', { prometheus }, [provider({ matchLabels: { team: 'a' } })], SHOP, []],
    [
      'of a namespace that nobody may look at',
      { prometheus },
      [provider({ matchLabels: { team: 'b' } })],
      undefined,
      [],
    ],
    ['is reported by others', {}, [], SHOP, []],
    [
      'names none that exists',
      { prometheus },
      [],
      SHOP,
      ['HealthCheck shop/errors queries MetricProvider main, which does not exist: the HealthCheck is never Healthy'],
    ],
    ['may not query it', { prometheus }, [provider({ matchLabels: { team: 'b' } })], SHOP, [NOT_SELECTED]],
    ['may not, where nobody may', { prometheus }, [provider()], SHOP, [NOT_SELECTED]],
    ['may not, where that makes no sense', { prometheus }, [provider(INVALID)], SHOP, [NOT_SELECTED]],
  ])('%s', (_, spec, providers, namespaces, texts) => {
    expect(metricFindings([check(spec)], providers, namespaces).map(({ text }) => text)).toEqual(texts);
  });
});
