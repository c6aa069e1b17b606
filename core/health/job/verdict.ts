/** What a Job says of the deployment that it was run for. */
import type { EpochMs } from '../../../api/kubernetes.ts';
import { conditionsOf, numberAt } from '../../kstatus/fields.ts';
import { parseTime } from '../../kube/time.ts';
import type { CommandLine } from '../../text/commands.ts';
import { shell } from '../../text/shell.ts';
import type { Verdict } from '../status.ts';
import type { CheckJob } from './run.ts';

/** Of the Job controller; what else somebody writes into a status may be of any length. */
const MAX_MESSAGE = 1024;

/** @param cause why its Pods do not run, or ended as they did; undefined where that is not known */
export function jobVerdict(job: CheckJob, version: string, cause: string | undefined): Verdict {
  const { namespace = '', name = '' } = job.metadata;
  const what = `Job '${namespace}/${name}'`;
  const because = cause === undefined ? '' : `; ${cause}`;
  const commands: CommandLine[] = [['To read its logs', shell`kubectl logs -n ${namespace} ${`job/${name}`}`]];
  const isTrue = (type: string) => conditionsOf(job).find((each) => each.type === type && each.status === 'True');
  if (isTrue('Complete'))
    return { health: 'Healthy', message: `${what} has completed for version ${version}`, commands };
  const failed = isTrue('Failed');
  if (!failed)
    return {
      health: 'Pending',
      message: `${what} runs for version ${version}${attempts(job)}${because}`,
      commands,
    };
  const failedAt: EpochMs | undefined = parseTime(failed.lastTransitionTime);
  const why = [failed.reason, failed.message].filter((text) => text !== '').join(': ');
  return {
    health: 'Unhealthy',
    message: `${what} has failed for version ${version}: ${why.slice(0, MAX_MESSAGE)}${because}`,
    commands,
    ...(failedAt !== undefined && { failedAt }),
  };
}

export function isOver(job: CheckJob): boolean {
  return conditionsOf(job).some(({ type, status }) => (type === 'Complete' || type === 'Failed') && status === 'True');
}

function attempts(job: CheckJob): string {
  const failed = numberAt(job, ['status', 'failed']) ?? 0;
  if (failed === 0) return '';
  return `, and has failed ${failed === 1 ? 'once' : `${failed} times`}`;
}
