import { describe, expect, it } from 'vitest';
import { SCHEMAS } from '../../api/generated/schemas.ts';
import { sharingFindings, sizeFindings } from '../../cli/doctor/checkBudgets.ts';
import { olderFindings, type Schema, schemaFindings } from '../../cli/doctor/checkKinds.ts';
import { checkRights } from '../../cli/doctor/checkRights.ts';
import { writeBackFindings } from '../../cli/doctor/checkWriteBack.ts';
import { call } from '../support/command.ts';
import { objectOf } from '../support/objects.ts';
import { apiServer, json, status } from './apiServer.ts';

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
