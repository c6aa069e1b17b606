import { describe, expect, it } from 'vitest';
import { SCHEMAS } from '../../api/generated/schemas.ts';
import { sharingFindings, sizeFindings } from '../../cli/doctor/checkBudgets.ts';
import {
  checkFluxObjects,
  managedFieldFindings,
  unboundFindings,
  waitedGateFindings,
} from '../../cli/doctor/checkFluxObjects.ts';
import { checkHealthChecks, metricFindings } from '../../cli/doctor/checkHealthChecks.ts';
import { olderFindings, type Schema, schemaFindings } from '../../cli/doctor/checkKinds.ts';
import { checkRights } from '../../cli/doctor/checkRights.ts';
import { writeBackFindings } from '../../cli/doctor/checkWriteBack.ts';
import { call } from '../support/command.ts';
import { objectOf } from '../support/objects.ts';
import { apiServer, json, status } from './apiServer.ts';

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

it.each([
  ['every right', true, { level: 'fine' }],
  ['no right', false, { level: 'problem', text: expect.stringContaining('list rollouts, list rolloutgates') }],
])('the check of rights, with %s', async (_, allowed, finding) => {
  const client = { list: async () => [], create: async () => ({ object: { status: { allowed } } }) };
  const [found] = await checkRights({ client } as never);
  expect(found).toMatchObject(finding);
});

it('what the user has no right to read is neither fine nor a finding', async () => {
  const { kubeconfig } = await apiServer((_, response, url) => {
    if (url.pathname === '/version') return json(response, { gitVersion: 'v1.36.0', minor: '36' });
    if (url.pathname === '/apis') return json(response, { groups: [] });
    return status(response, 403, 'Forbidden', 'not for you');
  });
  const { code, out, err } = await call('doctor', { env: { KUBECONFIG: kubeconfig } });
  const lines = out.trimEnd().split('\n');
  expect(lines.filter((line) => !line.startsWith('○'))).toEqual(['✔ API server: v1.36.0']);
  expect([code, err]).toEqual([0, `No findings; ${lines.length - 1} not checked.\n`]);
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
      isFound ? [{ text: '1 Rollout with no bound object, so their versions are deployed nowhere: shop/web' }] : [],
    );
  });
});

it('an annotation with our prefix that means nothing on a Flux object is a finding', async () => {
  const annotations = { 'gate.fluxcd.io/gate': 'freeze', 'gate.fluxcd.io/gates': 'freeze', team: 'a' };
  const bucket = objectOf('Bucket', { metadata: { namespace: 'shop', name: 'b', annotations }, spec: {} } as never);
  const client = { list: async ({ resource }: { resource: string }) => (resource === 'buckets' ? [bucket] : []) };
  expect(await checkFluxObjects({ client } as never)).toMatchObject([
    { level: 'problem', text: 'Bucket shop/b has annotations that have no effect: gate.fluxcd.io/gate' },
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

describe('a budget of the cluster', () => {
  const of = (spec: object) =>
    objectOf('ClusterRolloutBudget', {
      metadata: { name: 'all' },
      spec: { selector: {}, maxConcurrent: 1, namespaceSelector: {}, ...spec },
    });
  const findings = (spec: object) => sharingFindings([of(spec)]).map(({ text }) => text);

  it('is fine if it selects namespaces', () => {
    expect(findings({ namespaceSelector: { matchLabels: { tier: 'prod' } } })).toEqual([]);
    const own = { metadata: { namespace: 'shop', name: 'fleet' }, spec: { selector: {}, maxConcurrent: 1 } };
    expect(sharingFindings([objectOf('RolloutBudget', own)])).toEqual([]);
  });

  it('that selects every namespace is a finding', () => {
    expect(findings({ namespaceSelector: {} })).toEqual([
      'ClusterRolloutBudget all selects every namespace: any user who may label a Rollout in one namespace can take slots and block versions in all',
    ]);
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

describe('the selection of a budget', () => {
  const MIB = 1024 * 1024;
  const labels = { app: 'web' };
  const rollouts = (count: number, mib: number, namespace = 'shop') =>
    Array.from({ length: count }, (_, i) =>
      objectOf('Rollout', {
        metadata: { namespace, name: `app-${i}`, labels, annotations: { note: 'x'.repeat(mib * MIB) } },
        spec: { releasesImagePolicy: { name: 'app' } },
      }),
    );
  const own = objectOf('RolloutBudget', {
    metadata: { namespace: 'shop', name: 'fleet' },
    spec: { selector: { matchLabels: labels }, maxConcurrent: 1 },
  });
  const ofCluster = objectOf('ClusterRolloutBudget', {
    metadata: { name: 'all' },
    spec: { selector: {}, namespaceSelector: { matchLabels: { tier: 'prod' } }, maxConcurrent: 1 },
  });
  const NAMESPACES = new Map([['shop', { tier: 'prod' }]]);
  const textOf = (...asked: Parameters<typeof sizeFindings>) => sizeFindings(...asked).map(({ text }) => text);

  it('is fine if it is small, of another namespace, or has other labels', () => {
    expect(textOf([own], rollouts(5, 1), NAMESPACES)).toEqual([]);
    expect(textOf([own, ofCluster], rollouts(8, 1, 'other'), NAMESPACES)).toEqual([]);
    const others = rollouts(8, 1).map((each) => ({ ...each, metadata: { ...each.metadata, labels: {} } }));
    expect(textOf([own], others, NAMESPACES)).toEqual([]);
  });

  it('is reported before and after it becomes too large', () => {
    expect(textOf([own], rollouts(6, 1), NAMESPACES)).toEqual([
      'The 6 Rollouts that RolloutBudget shop/fleet selects take 6.0 MiB together: a request to its hook can have at most 7.0 MiB',
    ]);
    expect(textOf([ofCluster], rollouts(8, 1), NAMESPACES)).toEqual([
      'The 8 Rollouts that ClusterRolloutBudget all selects take 8.0 MiB together, but a request to its hook can have at most 7.0 MiB: ' +
        'its hook answers 413, and no slot is granted',
    ]);
  });

  it('is unknown in Namespaces that can’t be read', () => {
    expect(textOf([ofCluster], rollouts(8, 1), undefined)).toEqual([]);
  });
});

describe('a CRD', () => {
  const known = SCHEMAS.Gate as { properties: Record<string, Schema> };
  const without = (field: string) => {
    const { [field]: _, ...spec } = known.properties.spec!.properties!;
    return { properties: { ...known.properties, spec: { properties: spec } } };
  };

  it('is fine with the fields that this command has', () => {
    expect(schemaFindings('Gate', 'gates', known)).toEqual([]);
  });

  it('that lacks a field is older, and one with another field is newer', () => {
    expect(schemaFindings('Gate', 'gates', without('window'))[0]?.text).toMatch(
      /is older than this command: it does not have spec\.window/,
    );
    const more = {
      properties: { ...known.properties, spec: { properties: { ...known.properties.spec!.properties, later: {} } } },
    };
    expect(schemaFindings('Gate', 'gates', more)[0]?.text).toMatch(
      /is newer than this command, which lacks spec\.later/,
    );
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
    `an apply sets the version of 1 of 1 objects, and would reset it if admission were removed: Kustomization shop/web (${manager});`;
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

describe('a Rollout that writes back', () => {
  const rollout = (spec: object = {}) =>
    objectOf('Rollout', {
      metadata: { namespace: 'shop', name: 'web' },
      spec: { releasesImagePolicy: { name: 'web' }, writeBack: { imagePolicy: 'web-deployed' }, ...spec },
      status: { history: [{ id: 1, version: { tag: '1.0.0' }, timestamp: '' }] },
    });
  const policy = (name: string, labels?: Record<string, string>) =>
    objectOf('ImagePolicy', { metadata: { namespace: 'shop', name, ...(labels && { labels }) } });
  const policies = [policy('web'), policy('web-deployed', { 'rollout.kuberik.com/rollout-name': 'web' })];
  const automation = (spec: object = {}, namespace = 'shop') =>
    objectOf('ImageUpdateAutomation', { metadata: { namespace, name: 'commit' }, spec: { ...spec } });
  const DERIVED = { matchExpressions: [{ key: 'rollout.kuberik.com/rollout-name', operator: 'Exists' }] };
  const fine = automation({ policySelector: DERIVED });
  const findings = (around: object, spec?: object) =>
    writeBackFindings({ rollouts: [rollout(spec)], policies, automations: [fine], ...around }).map(
      ({ level, text }) => `${level}: ${text}`,
    );
  const NOT_COMMITTED =
    'problem: Rollout shop/web writes back, but no ImageUpdateAutomation in shop with the strategy Setters selects ImagePolicy web-deployed: nothing is committed';

  it('is fine where an automation selects its ImagePolicy and not the one of the releases', () => {
    expect(findings({})).toEqual([]);
    expect(findings({ automations: [], policies: [] }, { writeBack: undefined })).toEqual([]);
  });

  it.each([
    ['there is none', []],
    ['it is in another namespace', [automation({}, 'flux-system')]],
    ['it has another strategy', [automation({ update: { strategy: 'Other' } })]],
    ['it selects others', [automation({ policySelector: { matchLabels: { team: 'a' } } })]],
    ['its selector does not compile', [automation({ policySelector: { matchLabels: { 'a b': 'a' } } })]],
  ])('is not committed by an automation where %s', (_, automations) => {
    expect(findings({ automations })).toEqual([NOT_COMMITTED]);
  });

  it('is not committed without its ImagePolicy', () => {
    expect(findings({ policies: [policies[0]] })).toEqual([
      'problem: Rollout shop/web writes back, but its ImagePolicy shop/web-deployed does not exist: nothing is committed',
    ]);
  });

  it('may be passed by a marker where the automation selects the ImagePolicy of the releases too', () => {
    const [text, ...others] = findings({ automations: [automation()] });
    expect(text).toMatch(
      /^unseen: whether a marker in Git names ImagePolicy shop\/web, which ImageUpdateAutomation shop\/commit selects too/,
    );
    expect(others).toEqual([]);
  });

  it('reports nothing about objects that can’t be read', () => {
    expect(findings({ policies: undefined, automations: undefined })).toEqual([]);
  });
});

describe('a kind of Flux', () => {
  const V1 = 'source.toolkit.fluxcd.io/v1';
  const BETA = 'source.toolkit.fluxcd.io/v1beta2';
  const OLDER = `problem: OCIRepository is served only as ${BETA}, but rollout-hooks reads ${V1}`;

  it.each<[string, Record<string, string[]>, string[]]>([
    ['in an older version only', { [V1]: ['GitRepository'], [BETA]: ['GitRepository', 'OCIRepository'] }, [OLDER]],
    ['in both', { [V1]: ['OCIRepository'], [BETA]: ['OCIRepository'] }, []],
    ['that is not installed', { [V1]: ['GitRepository'] }, []],
    ['of another group', { 'other/v1beta2': ['OCIRepository'] }, []],
  ])('%s', (_, served, problems) => {
    const found = olderFindings(new Map(Object.entries(served)));
    expect(found.map(({ level, text }) => `${level}: ${text}`)).toEqual(
      problems.map((text) => expect.stringContaining(text)),
    );
  });
});
