import { describe, expect, it } from 'vitest';
import { objectOf } from '../support/objects.ts';
import { type Manifest, objectsBelow } from './files.ts';
import { isOurs, problemsOf } from './schema.ts';

const crds = objectsBelow('crds');

const columnsOf = (crd: Manifest) =>
  crd.spec.versions[0].additionalPrinterColumns?.map(({ name }: { name: string }) => name);
const crdOf = (plural: string) => crds.find(({ spec }) => spec.names.plural === plural) as Manifest;

function nodesOf(schema: any, path = ''): { path: string; schema: any }[] {
  const children = [
    ...Object.entries<any>(schema.properties ?? {}).map(([key, value]) => [`${path}.${key}`, value] as const),
    ...(schema.items ? [[`${path}[]`, schema.items] as const] : []),
  ];
  return [{ path, schema }, ...children.flatMap(([at, child]) => nodesOf(child, at))];
}

it.each(crds.map((crd) => [crd.metadata.name, crd] as const))('%s is not pruned by Flux or Helm', (_, crd) => {
  expect(crd.metadata.annotations).toEqual({
    'kustomize.toolkit.fluxcd.io/prune': 'disabled',
    'helm.sh/resource-policy': 'keep',
  });
});

describe('CRD schemas', () => {
  it.each(crds.map((crd) => [crd.spec.names.singular, crd] as const))(
    'explain %s: kubectl explain has a sentence for the kind and for each field, however deep',
    (_, crd) => {
      const { description, properties } = crd.spec.versions[0].schema.openAPIV3Schema;
      const fields = ['spec', 'status']
        .filter((part) => properties[part])
        .flatMap((part) => nodesOf(properties[part], part));
      const named = fields.filter(({ path }) => !path.endsWith('[]'));
      expect(description).toBeTruthy();
      // In a flow mapping a comma would end the text: the rest would be a key that the API server refuses.
      expect(named.filter(({ schema }) => !/\.$/.test(schema.description)).map(({ path }) => path)).toEqual([]);
    },
  );

  it('keep observedGeneration for each composite parent: Metacontroller writes it, and would write for ever', () => {
    const parents = objectsBelow('controllers').flatMap(({ spec }) => spec.parentResource?.resource ?? []);
    expect(parents.length).toBeGreaterThan(0);
    for (const parent of parents) {
      const { properties } = crdOf(parent).spec.versions[0].schema.openAPIV3Schema;
      expect(properties.status.properties, parent).toHaveProperty('observedGeneration');
    }
  });

  it("show the Go controller's columns first, in its order", () => {
    const theirs = ['Version', 'Message', 'BakeStatus', 'BakeTime', 'Gates', 'Available', 'Age', 'Ready', 'Status'];
    expect(columnsOf(crdOf('rollouts')).slice(0, theirs.length)).toEqual(theirs);
    for (const plural of ['rolloutschedules', 'clusterrolloutschedules']) {
      expect(columnsOf(crdOf(plural)).slice(0, 4)).toEqual(['Action', 'Active', 'Matching', 'Age']);
    }
  });

  it('have at most 64 rules in a calendar: to find its next change takes the cube of their number', () => {
    const calendars = crds.flatMap((crd) => {
      const { spec } = crd.spec.versions[0].schema.openAPIV3Schema.properties;
      return spec ? nodesOf(spec, crd.spec.names.kind).filter(({ path }) => path.endsWith('.rules')) : [];
    });
    const bounds = Object.fromEntries(calendars.map(({ path, schema }) => [path, schema.maxItems]));
    expect(bounds).toEqual({
      'Gate.schedule.rules': 64,
      'RolloutSchedule.rules': 64,
      'ClusterRolloutSchedule.rules': 64,
    });
  });

  it.each(['rolloutschedules', 'rolloutbudgets'])(
    'have the same status in %s of a namespace and of the cluster',
    (plural) => {
      const status = (name: string) =>
        nodesOf(crdOf(name).spec.versions[0].schema.openAPIV3Schema.properties.status).map(({ path }) => path);
      expect(status(`cluster${plural}`)).toEqual(status(plural));
    },
  );

  it('let RolloutGates be listed by their Rollout', () => {
    const [{ selectableFields }] = crdOf('rolloutgates').spec.versions;
    expect(selectableFields).toEqual([{ jsonPath: '.spec.rolloutRef.name' }]);
  });
});

const rollout = (spec: object) =>
  objectOf('Rollout', 'app', { spec: { releasesImagePolicy: { name: 'app' }, ...spec } });

const NO_TAGS = ['1.1.0;$(touch /tmp/x)', '1.1.0\n', '\u001b[2J', '-x', 'a/b', '1.0.0+build', 'x'.repeat(129)];

describe('a Rollout', () => {
  it.each([
    [
      'the short selector of the README',
      { healthCheckSelector: { matchLabels: { app: 'a' } }, releaseUpdateInterval: '5m' },
    ],
    ['the long selector', { healthCheckSelector: { selector: { matchLabels: { app: 'a' } }, namespaceSelector: {} } }],
    ['several units in a duration', { bakeTime: '1h30m', deployTimeout: '1.5h' }],
    ['an empty policy reference', { releasesImagePolicy: {} }],
    ['a tag', { wantedVersion: '1.2.0-rc.1_x', initialVersion: 'v1', rollback: { barrier: 'x'.repeat(128) } }],
    ['an empty version, which is none', { wantedVersion: '', initialVersion: '', rollback: { barrier: '' } }],
  ])('may have %s', (_, spec) => {
    expect(problemsOf(rollout(spec))).toEqual([]);
  });

  it.each([
    ['a duration without a unit', { bakeTime: '10' }],
    ['a duration in days', { bakeTime: '1d' }],
    ['no history', { versionHistoryLimit: 0 }],
    ['a field that does not exist', { minBakeTime: '1m' }],
    ['another way to fail', { onFailure: 'Retry' }],
    ['a policy whose name no object can have', { releasesImagePolicy: { name: 'x'.repeat(254) } }],
    ['a policy in a namespace that can’t exist', { releasesImagePolicy: { name: 'app', namespace: 'x'.repeat(64) } }],
    ['more than 20 upstream Rollouts', { after: Array.from({ length: 21 }, (_, i) => ({ name: `s${i}` })) }],
    ['an upstream Rollout that baked less than nothing', { after: [{ name: 's', bakedFor: '-1h' }] }],
    ['an upstream Rollout that matches by its size', { after: [{ name: 's', match: 'size' }] }],
    ...NO_TAGS.flatMap((tag): [string, object][] => [
      [`wantedVersion ${JSON.stringify(tag)}`, { wantedVersion: tag }],
      [`initialVersion ${JSON.stringify(tag)}`, { initialVersion: tag }],
      [`the barrier ${JSON.stringify(tag)}`, { rollback: { barrier: tag } }],
    ]),
  ])('may not have %s', (_, spec) => {
    expect(problemsOf(rollout(spec))).not.toEqual([]);
  });
});

describe('a RolloutGate', () => {
  const listed = (version: string, list: 'allowedVersions' | 'rejectedVersions') =>
    problemsOf(
      objectOf('RolloutGate', 'qa', { spec: { passing: true, rolloutRef: { name: 'app' }, [list]: [version] } }),
    ).length === 0;

  it.each(['allowedVersions', 'rejectedVersions'] as const)(
    '%s take what the Go controller takes, except control characters and what no terminal shows',
    (list) => {
      expect(['1.2.0', '1.2.0+build.5', 'sha256:abc', '', 'release 4'].map((each) => listed(each, list))).not.toContain(
        false,
      );
      expect(
        ['1.2.0\n', '\u001b[2J', '1\u009b2J', '1\u202e0', 'x'.repeat(257)].map((each) => listed(each, list)),
      ).not.toContain(true);
    },
  );
});

it.each<[string, { class?: string; thresholdRange?: object }, string]>([
  ['another class', { class: 'kustomization' }, 'prometheus needs class: prometheus'],
  ['no bound', { thresholdRange: {} }, 'needs min, max or both'],
  ['bounds the wrong way round', { thresholdRange: { min: 2, max: 1 } }, 'min must not be above max'],
])('a HealthCheck with a query may not have %s', (_, { class: name = 'prometheus', ...bounds }, text) => {
  const prometheus = { provider: 'prometheus', query: 'up', thresholdRange: { max: 1 }, ...bounds };
  const check = objectOf('HealthCheck', 'app', { spec: { class: name, prometheus } });
  expect(problemsOf(check)).toEqual([expect.stringContaining(text)]);
});

it('a MetricProvider sends credentials by https only', () => {
  const problems = (scheme: string) => {
    const spec = { address: `${scheme}://prometheus`, namespaceSelector: {}, secretRef: { name: 'a' } };
    return problemsOf(objectOf('MetricProvider', { metadata: { name: 'prometheus' }, spec }));
  };
  expect(problems('http')).toEqual([expect.stringContaining('credentials are sent over https only')]);
  expect(problems('https')).toEqual([]);
});

it.each<[string, object, string]>([
  ['more than everybody', { maxConcurrent: '120%' }, 'maxConcurrent'],
  ['less than nobody', { maxConcurrent: -1 }, 'maxConcurrent'],
  ['neither a number nor a share', { maxConcurrent: 'many' }, 'maxConcurrent'],
  ['no failure at all', { maxFailures: 0 }, 'maxFailures'],
  ['a cooldown in days', { cooldown: '1d' }, 'cooldown'],
  [
    'a selector without values',
    { selector: { matchExpressions: [{ key: 'a', operator: 'In' }] } },
    'values are for In',
  ],
  ['a wave twice', { order: { label: 'ring', values: ['eu', 'eu'] } }, 'values'],
  ['a key that is none', { selector: { matchLabels: { 'a b': 'c' } } }, 'not a label key'],
])('a RolloutBudget may not have %s', (_, spec, text) => {
  const budget = objectOf('RolloutBudget', 'fleet', { spec: { selector: {}, maxConcurrent: 1, ...spec } });
  expect(problemsOf(budget).join()).toContain(text);
});

it.each([
  ['RolloutBudget', { revision: 7 }, 'stale status'],
  ['RolloutBudget', undefined, 'status must not be removed'],
  ['ClusterRolloutBudget', { revision: 7 }, 'stale status'],
  ['ClusterRolloutBudget', undefined, 'status must not be removed'],
] as const)('a %s takes no status from before the stored one: %j', (kind, status, text) => {
  const budget = (stored: object | undefined) => {
    const spec = { selector: {}, maxConcurrent: 1, ...(kind === 'ClusterRolloutBudget' && { namespaceSelector: {} }) };
    return objectOf(kind, { metadata: { name: 'fleet' }, spec, ...(stored && { status: stored }) } as never);
  };
  expect(problemsOf(budget(status && { ...status, waiting: 1 }), budget({ revision: 7 })).join()).toContain(text);
});

describe('a ClusterRolloutBudget', () => {
  const { spec } = crdOf('clusterrolloutbudgets').spec.versions[0].schema.openAPIV3Schema.properties;

  it('must name the namespaces that share it', () => {
    expect(spec.required).toContain('namespaceSelector');
  });

  it('returns a slot after a day, whatever bakeTime a tenant writes', () => {
    expect(spec.properties.slotTimeout.default).toBe('24h');
    expect(
      crdOf('rolloutbudgets').spec.versions[0].schema.openAPIV3Schema.properties.spec.properties.slotTimeout,
    ).not.toHaveProperty('default');
  });
});

describe('examples', () => {
  const examples = objectsBelow('examples').filter(isOurs);

  it('show every kind that users write', () => {
    const shown = new Set(examples.map(({ kind }) => kind));
    const written = crds.map(({ spec }) => spec.names.kind).filter((kind) => kind !== 'FluxBinding');
    expect([...shown].sort()).toEqual(written.sort());
  });

  it.each(examples.map((object) => [`${object.kind} ${object.metadata.name}`, object] as const))(
    '%s is valid',
    (_, object) => {
      expect(problemsOf(object)).toEqual([]);
    },
  );

  it('bind only roles that exist', () => {
    const roles = [
      ...objectsBelow('rbac'),
      ...objectsBelow('components/release-config-map'),
      ...objectsBelow('components/release-copies'),
      ...objectsBelow('components/health-jobs'),
      ...objectsBelow('components/write-back'),
      ...objectsBelow('examples'),
    ]
      .filter(({ kind }) => kind.endsWith('Role'))
      .map(({ metadata }) => metadata.name);
    const bindings = [...objectsBelow('examples'), ...objectsBelow('rbac')].filter(({ kind }) =>
      kind.endsWith('Binding'),
    );
    const bound = bindings.map(({ roleRef }) => roleRef?.name).filter((name) => name && name !== 'view');
    expect(roles).toEqual(expect.arrayContaining(bound));
  });
});
