/** kstatus of Pods and Jobs. */
import type { EpochMs, KubeObject } from '../../api/kubernetes.ts';
import { parseTime } from '../kube/time.ts';
import { conditionsOf, fieldAt, numberAt, stringAt } from './fields.ts';
import { current, failed, inProgress, type KStatus } from './result.ts';

/** How long the scheduler may take before an unschedulable Pod counts as failed. */
const SCHEDULE_WINDOW_MS = 15_000;

export function podStatus(object: KubeObject<any, any>, now: EpochMs): KStatus {
  const phase = stringAt(object, ['status', 'phase']) ?? '';
  switch (phase) {
    case '':
      return inProgress('Pod phase not available');
    case 'Succeeded':
      return current('Pod has completed successfully');
    case 'Failed':
      return current('Pod has completed, but not successfully');
    case 'Running':
      return runningStatus(object);
    case 'Pending':
      return pendingStatus(object, now);
    default:
      return { status: 'Unknown', message: `unknown phase ${phase}` };
  }
}

function runningStatus(object: KubeObject<any, any>): KStatus {
  if (conditionsOf(object).some((c) => c.type === 'Ready' && c.status === 'True')) return current('Pod is Ready');
  const crashing = crashLoopingContainers(object);
  if (crashing.length > 0) return failed(`Containers in CrashLoop state: ${crashing.join(',')}`);
  return inProgress('Pod is running but is not Ready');
}

function pendingStatus(object: KubeObject<any, any>, now: EpochMs): KStatus {
  const scheduled = conditionsOf(object).find((c) => c.type === 'PodScheduled' && c.status === 'False');
  if (scheduled?.reason !== 'Unschedulable') return inProgress('Pod is in the Pending phase');
  const created = parseTime(object.metadata.creationTimestamp);
  if (created !== undefined && created > now - SCHEDULE_WINDOW_MS) return inProgress('Pod has not been scheduled');
  return failed('Pod could not be scheduled');
}

function crashLoopingContainers(object: KubeObject<any, any>): string[] {
  const containers = fieldAt(object, ['status', 'containerStatuses']);
  if (!Array.isArray(containers)) return [];
  return containers
    .filter((container) => stringAt(container, ['state', 'waiting', 'reason']) === 'CrashLoopBackOff')
    .flatMap((container) => stringAt(container, ['name']) ?? []);
}

/** A Job counts as current from its start on, however long it runs. */
export function jobStatus(object: KubeObject<any, any>): KStatus {
  const completions = numberAt(object, ['spec', 'completions']) ?? numberAt(object, ['spec', 'parallelism']) ?? 1;
  const count = (field: string) => numberAt(object, ['status', field]) ?? 0;

  for (const condition of conditionsOf(object)) {
    if (condition.status !== 'True') continue;
    if (condition.type === 'Complete') return current(`Job Completed. succeeded: ${count('succeeded')}/${completions}`);
    if (condition.type === 'Failed') return failed(`Job Failed. failed: ${count('failed')}/${completions}`);
  }
  if (!stringAt(object, ['status', 'startTime'])) return inProgress('Job not started');
  return current(
    `Job in progress. success:${count('succeeded')}, active: ${count('active')}, failed: ${count('failed')}`,
  );
}
