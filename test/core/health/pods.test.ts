/** The reasons why the Pods of a workload don't run. */
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../api/kubernetes.ts';
import { causeOf, podQueries } from '../../../core/health/objects/pods.ts';
import { type ObjectHealth, type ObservedResource, objectHealths } from '../../../core/health/objects/resources.ts';
import { kubeObject } from '../../support/objects.ts';
import { at, healthContext, ms } from './kustomizationFixture.ts';

const pod = (status: object, { name = 'web-1', created = '11:00:00', ...metadata }: Record<string, string> = {}) =>
  kubeObject('v1', 'Pod', `demo/${name}`, {
    metadata: { creationTimestamp: at(created), ...metadata },
    spec: {
      containers: [
        { name: 'app', readinessProbe: { httpGet: {} } },
        { name: 'slow', startupProbe: {} },
      ],
    },
    status,
  }) as KubeObject<any, any>;
const container = (state: object, more: object = {}) => ({ name: 'app', image: 'web:1', ready: false, state, ...more });
const running = (...containers: object[]) => pod({ phase: 'Running', containerStatuses: containers });
const waits = (reason: string, more?: object) => container({ waiting: { reason, message: 'password=1234' } }, more);
const ended = (exitCode: number, reason: string) => ({ terminated: { exitCode, reason, message: 'password=1234' } });

describe('the cause', () => {
  it.each<[string, KubeObject<any, any>, string | undefined]>([
    ['just ended', running(container(ended(1, 'Error'))), 'container app: exit code 1'],
    [
      'out of memory',
      running(waits('CrashLoopBackOff', { lastState: ended(137, 'OOMKilled') })),
      'container app: CrashLoopBackOff, OOMKilled, exit code 137',
    ],
    ['an image that is not there', running(waits('ImagePullBackOff')), 'container app: ImagePullBackOff of web:1'],
    [
      'an init container',
      pod({
        phase: 'Pending',
        initContainerStatuses: [container(ended(2, 'Error'))],
        containerStatuses: [waits('PodInitializing')],
      }),
      'container app: exit code 2',
    ],
    ['a readiness probe', running(container({ running: {} })), 'container app: its readiness probe does not succeed'],
    [
      'a startup probe',
      running({ ...container({ running: {} }, { started: false }), name: 'slow' }),
      'container slow: its startup probe does not succeed',
    ],
    [
      'no node',
      pod({ phase: 'Pending', conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable' }] }),
      'no node can run it (Unschedulable)',
    ],
    ['evicted', pod({ phase: 'Failed', reason: 'Evicted' }), 'Evicted'],
    ['starting', running(waits('ContainerCreating')), undefined],
    ['well', running(container({ running: {} }, { ready: true })), undefined],
    [
      'well after a crash',
      running(container({ running: {} }, { ready: true, lastState: ended(1, 'Error') })),
      undefined,
    ],
    ['ended well', running(container(ended(0, 'Completed'))), undefined],
    ['done', pod({ phase: 'Succeeded', containerStatuses: [container(ended(1, 'Error'))] }), undefined],
    [
      'on its way out',
      { ...running(waits('CrashLoopBackOff')), metadata: { name: 'web-1', deletionTimestamp: at('11:00:00') } },
      undefined,
    ],
    ['that says nonsense', pod({ containerStatuses: 'many', initContainerStatuses: [null, 7] }), undefined],
  ])('%s', (_, of, cause) => {
    expect(causeOf([of])).toBe(cause && `Pod web-1: ${cause}`);
  });

  it('is that of the newest Pod that has one', () => {
    const of = (name: string, created: string, reason: string) =>
      pod({ phase: 'Pending', containerStatuses: [waits(reason)] }, { name, created });
    const pods = [
      of('old', '10:00:00', 'CrashLoopBackOff'),
      of('new', '11:00:00', 'ErrImagePull'),
      of('newest', '11:30:00', 'ContainerCreating'),
    ];
    expect(causeOf(pods)).toBe('Pod new: container app: ErrImagePull of web:1');
    expect(causeOf([])).toBeUndefined();
  });

  it('is short and on one line, whatever the Pod contains', () => {
    const cause = causeOf([running(waits(`a\nb${'x'.repeat(10_000)}`))])!;
    expect(cause.length).toBeLessThan(300);
    expect(cause).toContain('a b');
  });
});

describe('the Pods that are read', () => {
  const workload = (name: string, ready: number, fields: object = {}): ObservedResource => ({
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    namespace: 'demo',
    name,
    object: kubeObject('apps/v1', 'StatefulSet', `demo/${name}`, {
      metadata: { creationTimestamp: at('10:00:00') },
      spec: { replicas: 1, selector: { matchLabels: { app: name } }, template: {}, ...fields },
      status: { replicas: 1, readyReplicas: ready, currentReplicas: 1, updatedReplicas: 1 },
    }) as KubeObject<any, any>,
  });
  const context = healthContext({ healthyUntil: ms('11:00:00') });
  const read = (observed: ObservedResource[]) =>
    podQueries(objectHealths(observed, { applied: undefined, related: [] }, context)).map(
      ({ labelSelector }) => labelSelector,
    );
  const young = (name: string): ObservedResource => {
    const { object, ...rest } = workload(name, 0);
    return { ...rest, object: { ...object!, metadata: { ...object!.metadata, creationTimestamp: at('11:59:00') } } };
  };

  const names = (count: number) => Array.from({ length: count }, (_, i) => `w${i}`);
  const labels = (of: string[]) => of.map((name) => `app=${name}`);

  it('are of as many workloads that have lost Pods as a node runs Pods: a drain fails no bake', () => {
    const all = names(112);
    expect(read([workload('well', 1), ...all.map((name) => workload(name, 0))])).toEqual(labels(all.slice(0, 110)));
  });

  it('are of ten other broken workloads and of three that start, and of no other', () => {
    const failed = names(12).map((name): ObjectHealth => ({ resource: workload(name, 0), health: 'unhealthy' }));
    expect(podQueries(failed).map(({ labelSelector }) => labelSelector)).toEqual(labels(names(10)));
    expect(read([...names(4).map(young), workload('broken', 0)])).toEqual(labels(['broken', 'w0', 'w1', 'w2']));
  });

  it.each<[string, object]>([
    ['no selector', { selector: undefined }],
    ['one that selects all Pods', { selector: {} }],
    ['one that does not compile', { selector: { matchLabels: { app: 'a b' } } }],
    [
      'one that is too long',
      { selector: { matchExpressions: [{ key: 'a', operator: 'In', values: Array(200).fill('value-1') }] } },
    ],
    ['one of a kind without Pods', { template: undefined }],
  ])('are not read by %s', (_, fields) => {
    expect(read([workload('a', 0, fields)])).toEqual([]);
  });
});
