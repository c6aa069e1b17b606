/** Checks of the doctor about the parts of the installation: Metacontroller, the hook server and the webhook. */
import { describe, expect, it } from 'vitest';
import { CONTROLLERS } from '../../api/generated/installed.ts';
import type { Gate } from '../../api/types.ts';
import {
  checkControllers,
  checkMetacontroller,
  checkServer,
  isTooOld,
  objectsBehind,
} from '../../cli/doctor/checkMetacontroller.ts';
import { checkRights } from '../../cli/doctor/checkRights.ts';
import { checkAdmission } from '../../cli/doctor/checkWebhooks.ts';
import { ApiError } from '../../server/cluster/apiError.ts';
import { objectOf } from '../support/objects.ts';

const NOW = Date.parse('2026-11-25T10:00:00Z');

/** An open Gate that was asked to close at that time. */
const closing = (at: string, opened: 'True' | 'False'): Gate => {
  const asked = gate(1, { observedGeneration: 1, conditions: [{ type: 'Opened', status: opened }] });
  asked.metadata.annotations = { 'close.gate.fluxcd.io/requestedAt': at };
  return asked;
};

const gate = (generation: number, status?: object, creationTimestamp = '2026-11-25T09:00:00Z'): Gate =>
  objectOf('Gate', {
    metadata: { namespace: 'shop', name: 'freeze', generation, creationTimestamp },
    spec: { default: 'opened' },
    ...(status && { status }),
  } as never);

describe('controllers that no Metacontroller runs', () => {
  it.each<[string, Gate, boolean]>([
    ['what is of another generation than its status', gate(2, { observedGeneration: 1 }), true],
    ['what has no status after a minute', gate(1), true],
    [
      'what should have changed minutes ago',
      gate(1, { observedGeneration: 1, nextTransition: '2026-11-25T09:58:00Z' }),
      true,
    ],
    ['what nobody has looked at after a minute', gate(1, { observedGeneration: -1 }), true],
    ['what nobody has looked at yet', gate(1, { observedGeneration: -1 }, '2026-11-25T09:59:50Z'), false],
    ['what has just been made', gate(1, undefined, '2026-11-25T09:59:50Z'), false],
    ['what is about to change', gate(1, { observedGeneration: 1, nextTransition: '2026-11-25T09:59:58Z' }), false],
    ['what was asked to close minutes ago', closing('2026-11-25T09:58:00Z', 'True'), true],
    ['what has just been asked to close', closing('2026-11-25T09:59:50Z', 'True'), false],
    ['what has closed', closing('2026-11-25T09:58:00Z', 'False'), false],
    ['what is as it should be', gate(1, { observedGeneration: 1 }), false],
  ])('%s: %o', (_, object, isBehind) => {
    expect(objectsBehind([object], NOW)).toEqual(isBehind ? ['Gate shop/freeze'] : []);
  });
});

describe('a tag that the ImagePolicy has selected', () => {
  const rollout = (spec: object) =>
    objectOf('Rollout', {
      metadata: { namespace: 'shop', name: 'web', creationTimestamp: '2026-11-25T09:00:00Z' },
      spec: { releasesImagePolicy: { name: 'web' }, ...spec },
      status: { availableReleases: [{ tag: '1.0.0' }], lastReleaseUpdate: '2026-11-25T09:50:00Z' },
    });
  const policy = (tag: string, time: string) =>
    objectOf('ImagePolicy', {
      metadata: { namespace: 'shop', name: 'web', managedFields: [{ manager: 'flux', time }] },
      status: { latestRef: { name: 'example/web', tag } },
    } as never);

  it.each([
    ['is no release after a minute', {}, policy('1.1.0', '2026-11-25T09:58:00Z'), true],
    ['has just been selected', {}, policy('1.1.0', '2026-11-25T09:59:50Z'), false],
    ['waits for the interval', { releaseUpdateInterval: '1h' }, policy('1.1.0', '2026-11-25T09:58:00Z'), false],
    ['is a release', {}, policy('1.0.0', '2026-11-25T09:58:00Z'), false],
  ])('%s', (_, spec, selecting, isBehind) => {
    expect(objectsBehind([rollout(spec)], NOW, [selecting])).toEqual(isBehind ? ['Rollout shop/web'] : []);
  });
});

it.each([
  ['metacontrollerio/metacontroller:v4.15.0', true],
  ['metacontrollerio/metacontroller:v4.17.1', true],
  ['metacontrollerio/metacontroller:v4.17.2', false],
  ['registry.example:5000/metacontroller:4.18.0@sha256:abc', false],
  ['registry.example:5000/metacontroller:main', false],
  ['metacontroller@sha256:abc', false],
])('Metacontroller %s is too old: %s', (image, expected) => {
  expect(isTooOld(image)).toBe(expected);
});

it.each([
  ['a replica is ready', { readyReplicas: 1 }, []],
  ['no replica is ready', {}, ['None of its replicas is ready']],
])('Metacontroller, of which %s', async (_, state, problems) => {
  const args = ['--client-go-qps=1000', '--client-go-burst=2000', '--workers=20'];
  const containers = [{ image: 'x/metacontroller:v4.17.2', args }];
  const found = {
    metadata: { namespace: 'ops', name: 'mc' },
    spec: { template: { spec: { containers } } },
    status: state,
  };
  const list = async ({ resource }: { resource: string }) => (resource === 'deployments' ? [found] : []);
  const findings = await checkMetacontroller({ client: { list } } as never);
  const texts = findings.filter(({ level }) => level === 'problem').map(({ text }) => text);
  expect(texts).toEqual(problems.map((text) => expect.stringContaining(text)));
});

it.each([
  ['x509: certificate signed by unknown authority', 'The API server rejects the certificate', 'webhook-certificate.sh'],
  ['connection refused', "The API server can't reach the webhook", 'look at the Pods'],
])('a webhook call that fails with %s', async (cause, text, fix) => {
  const message = `failed calling webhook "gate.admission.kuberik.com": ${cause}`;
  const create = () => Promise.reject(new ApiError(500, 'InternalError', message));
  const client = { create };
  expect(await checkAdmission({ client, home: 'shop' } as never)).toMatchObject([
    { level: 'problem', text: expect.stringContaining(text), fix: expect.stringContaining(fix) },
  ]);
});

describe('Metacontroller with another account than in our manifests', () => {
  const workload = (namespace: string, name: string, spec: object) => ({
    metadata: { namespace, name },
    spec: { replicas: 0, template: { spec } },
  });
  const metacontroller = workload('ops', 'mc', {
    serviceAccountName: 'mc',
    containers: [{ image: 'x/metacontroller' }],
  });
  const theirs = workload('kubeflow', 'metacontroller', { containers: [{ image: 'x/metacontroller' }] });
  const list = (trusted: string, others: object[]) => {
    const env = [{ name: 'METACONTROLLER_USER', value: `system:serviceaccount:${trusted}` }];
    const server = workload('rollout-hooks', 'rollout-hooks', { containers: [{ env }] });
    return async ({ resource }: { resource: string }) =>
      resource === 'deployments' ? [metacontroller, server] : others;
  };

  it('needs the rights for that account, also if another product brings a Metacontroller', async () => {
    const users = new Set<string>();
    const create = async (_: unknown, { spec }: { spec: { user: string } }) => {
      users.add(spec.user);
      return { object: { status: { allowed: true } } };
    };
    await checkRights({ client: { list: list('ops:mc', [theirs]), create } } as never);
    expect([...users]).toEqual(['system:serviceaccount:rollout-hooks:rollout-hooks', 'system:serviceaccount:ops:mc']);
  });

  it('is a finding if METACONTROLLER_USER is not that account', async () => {
    expect(await checkServer({ client: { list: list('metacontroller:metacontroller', []) } } as never)).toMatchObject([
      { level: 'fine' },
      { level: 'problem', text: expect.stringContaining('Metacontroller runs as system:serviceaccount:ops:mc') },
    ]);
  });
});

describe('the controllers of Metacontroller', () => {
  const NAMES = Object.values(CONTROLLERS).flat();
  const named = (names: readonly string[]) => names.map((name) => ({ metadata: { name } }));
  const workload = (...args: string[]) => ({
    metadata: { namespace: 'metacontroller', name: 'metacontroller' },
    spec: { template: { spec: { containers: [{ image: 'x/metacontroller', args }] } } },
  });
  const FLUX = NAMES.filter((name) => name.startsWith('flux-'));
  const check = (isServed: boolean, workloads: object[]) => {
    const list = async ({ resource, labelSelector }: { resource: string; labelSelector?: string }) => {
      if (resource === 'deployments') return workloads;
      if (resource === 'statefulsets') return [];
      if (labelSelector === undefined) return named(NAMES);
      return named(NAMES.filter((name) => FLUX.includes(name) === (labelSelector === 'part=flux')));
    };
    return checkControllers({ client: { list, resources: async () => (isServed ? [{}] : []) } } as never);
  };
  const flag = '--target-label-selector=part';

  it.each<[string, boolean, object[], string]>([
    ['are watched by one without a selector', true, [workload()], 'are registered'],
    ['are watched by several together', true, [workload(`${flag}=flux`), workload(`${flag}!=flux`)], 'are registered'],
    ['are unknown to be watched without its workload', true, [], 'are registered'],
    [
      'are in part selected by none',
      true,
      [workload(`${flag}=flux`)],
      'selects the compositecontrollers clusterrolloutbudgets,',
    ],
    ['are not served without it', false, [], 'It is not installed'],
  ])('%s', async (_, isServed, workloads, text) => {
    expect((await check(isServed, workloads))[0]).toMatchObject({ text: expect.stringContaining(text) });
  });
});
