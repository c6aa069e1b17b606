/** A HealthCheck of class job, the Rollout that selects it, and the Job of its newest deployment. */
import type { HealthCheck, HistoryEntry, Rollout } from '../../../../api/types.ts';
import { type CheckJob, jobNameOf, jobTemplateOf } from '../../../../core/health/job/checkJob.ts';
import { kubeObject, objectOf } from '../../../support/objects.ts';

export const at = (time: string) => `2026-03-01T${time}Z`;
export const ms = (time: string) => Date.parse(at(time));

export const pod = (fields: object = {}) => ({
  restartPolicy: 'Never',
  serviceAccountName: 'smoke',
  containers: [{ name: 'curl', image: 'curl:8', args: ['-f', 'http://web'] }],
  ...fields,
});
export const jobSpec = (fields: object = {}) => ({ backoffLimit: 0, template: { spec: pod() }, ...fields });

export function check(
  status?: HealthCheck['status'],
  { spec = jobSpec(), name = 'smoke', namespace = 'team-a' }: { spec?: object; name?: string; namespace?: string } = {},
): HealthCheck {
  return objectOf('HealthCheck', `${namespace}/${name}`, {
    metadata: { uid: `uid-of-${name}`, labels: { app: 'web' } },
    spec: { class: 'job', job: { template: { spec } } },
    ...(status && { status }),
  });
}

export const HEAD: HistoryEntry = {
  id: 7,
  version: { tag: '1.1.0' },
  timestamp: at('11:00:00'),
  bakeStatus: 'Deploying',
  appliedTime: at('11:01:00'),
};

export function rollout(head: HistoryEntry | undefined = HEAD, name = 'web'): Rollout {
  return objectOf('Rollout', `team-a/${name}`, {
    metadata: { uid: `uid-of-${name}` },
    spec: { releasesImagePolicy: { name: 'web' }, healthCheckSelector: { matchLabels: { app: 'web' } } },
    ...(head && { status: { history: [head] } }),
  });
}

export function nameOf(of: HealthCheck = check(), by: Rollout = rollout()): string {
  return jobNameOf({ check: of, template: jobTemplateOf(of)!, rollout: by, head: by.status!.history![0]! });
}

export const COMPLETE = {
  succeeded: 1,
  conditions: [{ type: 'Complete', status: 'True', lastTransitionTime: at('11:05:00') }],
};
export const FAILED = {
  failed: 1,
  conditions: [
    {
      type: 'Failed',
      status: 'True',
      reason: 'BackoffLimitExceeded',
      message: 'Job has reached the specified backoff limit',
      lastTransitionTime: at('11:05:00'),
    },
  ],
};

export function job(name: string, status: object = {}, metadata: object = {}): CheckJob {
  return kubeObject('batch/v1', 'Job', `team-a/${name}`, {
    metadata: { uid: `uid-of-${name}`, creationTimestamp: at('11:02:00'), ...metadata },
    spec: { ...jobSpec(), selector: { matchLabels: { 'batch.kubernetes.io/controller-uid': 'x' } } },
    status,
  });
}
