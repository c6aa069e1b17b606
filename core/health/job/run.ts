/**
 * The Job of one deployment. Its name has a hash of the check, its template, the Rollout, the deployment and its last retry: what is run again is another Job, and a
 * status that names another Job is about something else.
 */
import { CHECK_LABEL } from '../../../api/annotations.ts';
import type { KubeObject } from '../../../api/kubernetes.ts';
import type { HealthCheck, HistoryEntry, Rollout } from '../../../api/types.ts';
import { labelValue, shortHash } from '../../kube/names.ts';
import type { JobTemplate } from './template.ts';

export type CheckJob = KubeObject<any, any>;

/** A Job's name is a label of its Pods: at most 63 characters, of which the hash has 16. */
const MAX_PREFIX = 45;

export interface Run {
  check: HealthCheck;
  template: JobTemplate;
  rollout: Rollout;
  head: HistoryEntry;
}

export function runName({ check, template, rollout, head }: Run): string {
  const id = head.id ?? 0;
  const prefix = `${check.metadata.name}-${rollout.metadata.name}-${id}`
    .slice(0, MAX_PREFIX)
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/-$/, '');
  const { timestamp, lastRetryTimestamp = '' } = head;
  const parts = [check.metadata.uid, template, rollout.metadata.uid, id, timestamp, lastRetryTimestamp];
  return `${prefix}-${shortHash(JSON.stringify(parts))}`;
}

export function runOf(run: Run): CheckJob {
  const { name = '', namespace = '' } = run.check.metadata;
  const { labels, annotations } = run.template.metadata ?? {};
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      name: runName(run),
      namespace,
      labels: { ...labels, [CHECK_LABEL]: labelValue(name) },
      // An empty map would be written again at every sync.
      ...(annotations && Object.keys(annotations).length > 0 && { annotations }),
    },
    spec: run.template.spec,
  };
}
