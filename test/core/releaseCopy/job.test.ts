import { describe, expect, it } from 'vitest';
import { type CopyOrder, copyJob, progressOf as progress } from '../../../core/releaseCopy/job.ts';

const DIGEST = `sha256:${'a'.repeat(64)}`;
const ORDER: CopyOrder = {
  rollout: { namespace: 'team-a', name: 'app' },
  tag: '1.0.0',
  digest: DIGEST,
  source: { image: 'registry.example/dev/app', secret: 'pull', certificates: 'ca' },
  target: { url: 'oci://registry.example/prod/app', secret: 'push' },
  image: 'rollout-hooks:1',
};
const job = (rest: Partial<CopyOrder> = {}) => copyJob({ ...ORDER, ...rest });
const containerOf = (of = job()) => of.spec.template.spec.containers[0];

describe('the Job of a copy', () => {
  it('runs the copy command with its arguments, and Secrets of its own namespace', () => {
    expect(containerOf()).toMatchObject({ image: 'rollout-hooks:1', command: ['node', 'copy/main.ts'] });
    expect(containerOf().args).toEqual([
      '--source=registry.example/dev/app',
      '--target=oci://registry.example/prod/app',
      '--tag=1.0.0',
      `--digest=${DIGEST}`,
      '--source-secret=/etc/rollout-hooks/source-secret',
      '--source-certificates=/etc/rollout-hooks/source-certificates',
      '--target-secret=/etc/rollout-hooks/target-secret',
    ]);
    expect(job().spec.template.spec.volumes.map(({ secret }: any) => secret.secretName)).toEqual([
      'pull',
      'ca',
      'push',
    ]);
  });

  it('names insecure registries, and tags that may be overwritten', () => {
    const target = { ...ORDER.target, insecure: true, overwrite: true };
    const { args } = containerOf(job({ source: { image: 'a.example/b', insecure: true }, target }));
    expect(args).toEqual(expect.arrayContaining(['--source-insecure', '--target-insecure', '--overwrite']));
  });

  it('has no rights in the cluster, and is restricted by Pod Security', () => {
    const { spec } = job().spec.template;
    expect(spec.automountServiceAccountToken).toBe(false);
    expect(spec.securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
    expect(containerOf().securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    expect(containerOf().resources.limits.memory).toBeDefined();
  });

  it('allows registries on its own machine only if the installation does', () => {
    expect(containerOf()).not.toHaveProperty('env');
    expect(containerOf(job({ allowLocalRegistries: false }))).not.toHaveProperty('env');
    expect(containerOf(job({ allowLocalRegistries: true })).env).toEqual([
      { name: 'ALLOW_LOCAL_REGISTRIES', value: 'true' },
    ]);
  });

  it('ends: after some attempts, after some time, and at once where another attempt changes nothing', () => {
    const { backoffLimit, activeDeadlineSeconds, podFailurePolicy } = job().spec;
    expect(backoffLimit).toBeLessThan(10);
    expect(activeDeadlineSeconds).toBeGreaterThan(0);
    expect(podFailurePolicy.rules[0]).toMatchObject({ action: 'FailJob', onExitCodes: { values: [2, 3, 4, 5, 6, 7] } });
  });

  const others: [string, Partial<CopyOrder>][] = [
    ['tag', { tag: '1.0.1' }],
    ['digest', { digest: DIGEST.replace('a', 'b') }],
    ['source', { source: { image: 'registry.example/other' } }],
    ['target', { target: { url: 'oci://registry.example/other' } }],
    ['Secret', { target: { ...ORDER.target, secret: 'other' } }],
    ['overwrite', { target: { ...ORDER.target, overwrite: true } }],
    ['image', { image: 'rollout-hooks:2' }],
    ['request', { requestedAt: '2026-03-01T11:58:00Z' }],
  ];
  it.each(others)('is another one for another %s', (_, rest) => {
    expect(job(rest).metadata.name).not.toBe(job().metadata.name);
    expect(job({}).metadata.name).toBe(job().metadata.name);
  });

  it.each(['app', `${'a'.repeat(39)}.${'b'.repeat(213)}`, 'team.app'])('of %s has a name that is a label', (name) => {
    expect(job({ rollout: { namespace: 'team-a', name } }).metadata.name).toMatch(
      /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/,
    );
  });
});

describe('its progress', () => {
  const wanted = job();
  const UID = 'uid-app';
  const progressOf = (...[of, found, pods]: Parameters<typeof progress> extends [...infer P, any] ? P : never) =>
    progress(of, found, pods, UID);
  const owner = { apiVersion: 'kuberik.com/v1alpha1', kind: 'Rollout', name: 'app', uid: UID, controller: true };
  const condition = (type: string) => ({ type, status: 'True', reason: 'Reason', message: 'Pod failed' });
  /** With what the API server adds. */
  const stored = structuredClone({
    ...wanted,
    metadata: { ...wanted.metadata, uid: 'uid-job', ownerReferences: [owner] },
  });
  Object.assign(stored.spec, { suspend: false, selector: { matchLabels: { a: 'b' } } });
  Object.assign(stored.spec.template.metadata.labels, { 'batch.kubernetes.io/job-name': 'app' });
  Object.assign(stored.spec.template.spec, { dnsPolicy: 'ClusterFirst', schedulerName: 'default-scheduler' });
  Object.assign(stored.spec.template.spec.containers[0], { imagePullPolicy: 'IfNotPresent' });
  const at = (status: object) => ({ ...stored, status });
  const pod = (message: unknown) => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {},
    status: { containerStatuses: [{ state: { terminated: { message } } }] },
  });
  const result = (rest: object) => pod(JSON.stringify(rest));

  it('is a Job that is missing, running, or failed with retries', () => {
    const copying = (message: RegExp) => ({ state: 'Copying', message: expect.stringMatching(message) });
    expect(progressOf(wanted, undefined, [])).toMatchObject(copying(/does not exist yet/));
    expect(progressOf(wanted, at({ active: 1 }), [])).toMatchObject(copying(/runs/));
    const pods = [result({ message: 'first' }), result({ message: 'full' })];
    expect(progressOf(wanted, at({ failed: 2 }), pods)).toMatchObject(
      copying(/has failed 2 times and is tried again: full$/),
    );
  });

  it('is a failure, with the last Pod’s message, or else the Job’s', () => {
    const failed = at({ failed: 1, conditions: [condition('Failed')] });
    expect(progressOf(wanted, failed, [result({ outcome: 'Conflict', message: 'there already' })])).toEqual({
      state: 'Failed',
      message: `there already. Job '${wanted.metadata.name}' is not started again automatically: to retry, delete it`,
    });
    expect(progressOf(wanted, failed, [])).toMatchObject({ message: expect.stringMatching(/^Pod failed\. Job/) });
  });

  it('is a copy, with its metadata', () => {
    const done = at({ completionTime: '2026-01-02T12:00:00Z', conditions: [condition('Complete')] });
    expect(progressOf(wanted, done, [result({ digest: DIGEST, bytes: 7, uploadedBytes: 3, message: 'x' })])).toEqual({
      state: 'Copied',
      copy: { digest: DIGEST, bytes: 7, uploadedBytes: 3, time: '2026-01-02T12:00:00Z' },
    });
    expect(progressOf(wanted, done, [])).toEqual({ state: 'Copied', copy: { time: '2026-01-02T12:00:00Z' } });
  });

  it.each([
    [pod(7)],
    [pod('no JSON')],
    [pod('[]')],
    [result({ digest: '../x', bytes: -1, uploadedBytes: '7', message: {} })],
    [{ ...pod(''), status: {} }],
  ])('takes nothing from a Pod that says %j', (said) => {
    const done = at({ conditions: [condition('Complete')] });
    expect(progressOf(wanted, done, [said])).toEqual({ state: 'Copied', copy: {} });
  });

  const edited = (edit: (job: any) => void) => {
    const foreign = structuredClone(at({ conditions: [condition('Complete')] }));
    edit(foreign);
    return foreign;
  };
  const CONTAINERS = 'spec.template.spec.containers';
  const another = (path: string) => `its ${path} differs`;
  const NOT_OURS = 'it does not belong to this Rollout';
  const containersOf = ({ spec }: any) => spec.template.spec.containers;
  it.each<[string, (job: any) => void, string]>([
    ['another command', (job) => (containersOf(job)[0].command = ['true']), another(`${CONTAINERS}[0].command`)],
    ['an argument less', (job) => containersOf(job)[0].args.pop(), another(`${CONTAINERS}[0].args`)],
    ['another image', (job) => (containersOf(job)[0].image = 'busybox'), another(`${CONTAINERS}[0].image`)],
    ['one container more', (job) => containersOf(job).push({ name: 'x' }), another(CONTAINERS)],
    ['nothing to complete', ({ spec }) => (spec.completions = 0), another('spec.completions')],
    ['no spec', (foreign) => delete foreign.spec, another('spec')],
    ['another owner', ({ metadata }) => (metadata.ownerReferences[0].uid = 'uid-before'), NOT_OURS],
    ['an owner that does not control it', ({ metadata }) => (metadata.ownerReferences[0].controller = false), NOT_OURS],
    ['no owner', ({ metadata }) => delete metadata.ownerReferences, NOT_OURS],
  ])('is none of a Job with that name, and %s', (_, edit, why) => {
    expect(progressOf(wanted, edited(edit), [result({ digest: DIGEST })])).toEqual({
      state: 'Failed',
      message: `Job '${wanted.metadata.name}' is not the Job of this copy: ${why}. To start the copy, delete it`,
    });
  });

  it('cuts texts to the size of a condition', () => {
    const failed = at({ failed: 1, conditions: [condition('Failed')] });
    const { message } = progressOf(wanted, failed, [result({ message: 'x'.repeat(100_000) })]) as { message: string };
    expect(message.length).toBeLessThan(1300);
  });
});
