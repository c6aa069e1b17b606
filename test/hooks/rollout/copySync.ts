/** Syncs of a Rollout with spec.targetRepository, and the Jobs that copy. */
import type { KubeObject } from '../../../api/kubernetes.ts';
import type { RolloutStatus } from '../../../api/types.ts';
import { mapOf } from '../../../dev/fakes/requests.ts';
import { rolloutHook } from '../../../hooks/rollout/rolloutHook.ts';
import { kubeObject } from '../../support/objects.ts';
import { type Around, fakeCall, imagePolicy, object, request, type rollout } from './call.ts';

export type Job = KubeObject<any, any>;

export const URL = 'oci://registry.example/prod/app';
export const DIGEST = `sha256:${'a'.repeat(64)}`;
export const targetRepository = { url: URL, secretRef: { name: 'push' } };
export const repository = (spec: object = {}) =>
  object('image.toolkit.fluxcd.io/v1', 'ImageRepository', 'app', {
    image: 'registry.example/dev/app',
    secretRef: { name: 'pull' },
    ...spec,
  });

export interface Sync extends Around {
  jobs?: Job[];
  related?: KubeObject<any, any>[];
  /** The currently stored Rollout. */
  live?: ReturnType<typeof rollout>;
  tag?: string;
  policy?: KubeObject<any, any>;
  repositories?: KubeObject<any, any>[];
}

export async function syncCopy(
  parent: ReturnType<typeof rollout>,
  { jobs = [], related = [], live = parent, tag = '1.1.0', policy = imagePolicy(tag), ...around }: Sync = {},
) {
  const objects = [...(around.repositories ?? [repository()]), ...(around.objects ?? []), policy, live as Job];
  const { call, events, counts } = fakeCall({
    ...around,
    objects,
    settings: { copyImage: 'rollout-hooks:1', ...around.settings },
  });
  const children = { 'ConfigMap.v1': {}, 'Job.batch/v1': {}, ...mapOf(...jobs) };
  const answer = await rolloutHook.sync({ ...request(parent, [policy, ...related]), children }, call);
  const status = answer.status as RolloutStatus;
  const counted = counts.flatMap((each) => (each.name === 'rollout_hooks_copies_total' ? each.labels.result : []));
  const condition = (type: string) => status.conditions?.find((each) => each.type === type);
  return {
    status,
    condition,
    events: events.map(({ type, reason, message }) => ({ type, reason, message })),
    counted,
    jobs: answer.children.filter(({ kind }) => kind === 'Job') as Job[],
    tags: status.history?.map(({ version }) => version.tag),
  };
}

export const secretsOf = ({ spec }: Job) =>
  Object.fromEntries(
    spec.template.spec.volumes.map(({ name, secret }: { name: string; secret: { secretName: string } }) => [
      name,
      secret.secretName,
    ]),
  );

export const ended = (job: Job, type: 'Complete' | 'Failed'): Job => ({
  ...job,
  metadata: {
    ...job.metadata,
    uid: 'uid-of-job',
    ownerReferences: [
      { apiVersion: 'kuberik.com/v1alpha1', kind: 'Rollout', name: 'app', uid: 'uid-of-app', controller: true },
    ],
  },
  status: {
    completionTime: '2026-03-01T11:59:00Z',
    conditions: [{ type, status: 'True', reason: 'Reason', message: 'of the Job' }],
  },
});

export const podOf = (job: Job, result: object, uid = 'uid-of-job'): Job =>
  kubeObject('v1', 'Pod', 'team-a/pod', {
    metadata: {
      labels: { 'batch.kubernetes.io/job-name': job.metadata.name ?? '' },
      ownerReferences: [{ apiVersion: 'batch/v1', kind: 'Job', name: job.metadata.name ?? '', uid }],
    },
    status: { containerStatuses: [{ state: { terminated: { message: JSON.stringify(result) } } }] },
  });
