/**
 * The Job that a HealthCheck of class job runs for one deployment. Its name has a hash of the check, its template, the
 * Rollout, the deployment and its last retry. So each run is another Job, and a status that names another Job belongs
 * to another run.
 */
import { CHECK_LABEL } from '../../../api/annotations.ts';
import type { AnyObject } from '../../../api/kubernetes.ts';
import type { HealthCheck, HistoryEntry, Rollout } from '../../../api/types.ts';
import { conditionsOf, numberAt } from '../../kstatus/fields.ts';
import { childOf, isDeeperThan, isMap } from '../../kube/json.ts';
import { labelValue, namePrefix, shortHash } from '../../kube/names.ts';
import { parseTime } from '../../kube/time.ts';
import { LIMITS } from '../../limits.ts';
import type { CommandLine } from '../../text/commands.ts';
import { shell } from '../../text/shell.ts';
import type { Verdict } from '../healthStatus.ts';

export type CheckJob = AnyObject;

/** A Job's name is a label of its Pods: at most 63 characters, of which the hash has 16. */
const MAX_PREFIX_CHARACTERS = 45;

interface Run {
  check: HealthCheck;
  template: JobTemplate;
  rollout: Rollout;
  head: HistoryEntry;
}

export function jobNameOf({ check, template, rollout, head }: Run): string {
  const id = head.id ?? 0;
  const prefix = namePrefix(`${check.metadata.name}-${rollout.metadata.name}-${id}`, MAX_PREFIX_CHARACTERS);
  const { timestamp, lastRetryTimestamp = '' } = head;
  const parts = [check.metadata.uid, template, rollout.metadata.uid, id, timestamp, lastRetryTimestamp];
  return `${prefix}-${shortHash(JSON.stringify(parts))}`;
}

export function jobOf(run: Run): CheckJob {
  const { name = '', namespace = '' } = run.check.metadata;
  const { labels, annotations } = run.template.metadata ?? {};
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      name: jobNameOf(run),
      namespace,
      labels: { ...labels, [CHECK_LABEL]: labelValue(name) },
      // An empty map would be written again at every sync.
      ...(annotations && Object.keys(annotations).length > 0 && { annotations }),
    },
    spec: run.template.spec,
  };
}

// The result of a HealthCheck of class job for one Rollout. A Job for another deployment or Rollout has no result for
// it.

/**
 * The check with the status that counts for the newest deployment of the Rollout: Pending until its own Job has ended.
 * Checks of other classes stay as they are.
 */
export function countedFor(rollout: Rollout, check: HealthCheck): HealthCheck {
  const template = jobTemplateOf(check);
  if (!template) return check;
  if (check.metadata.namespace !== rollout.metadata.namespace) {
    return pendingCheck(check, 'a HealthCheck of class job counts for a Rollout of its own namespace only');
  }
  const { status } = check;
  // The status reports a problem of the check itself.
  if (status?.job === undefined && status?.status === 'Unhealthy') return check;
  const [head] = rollout.status?.history ?? [];
  const canRun = head && status?.job && templateProblem(template) === undefined;
  if (canRun && status.job?.name === jobNameOf({ check, template, rollout, head })) return check;
  return pendingCheck(check, 'its Job has not been run for this deployment yet');
}

function pendingCheck(check: HealthCheck, message: string): HealthCheck {
  const { lastChangeTime } = check.status ?? {};
  return { ...check, status: { status: 'Pending', message, lastChangeTime } };
}

// The Job template of a HealthCheck of class job, checked as far as possible: Kubernetes must accept the Job, and it
// must end by itself.

const JOB_CLASS = 'job';

export type JobTemplate = NonNullable<NonNullable<HealthCheck['spec']>['job']>['template'];

/**
 * The template of a check of class job; undefined for any other check.
 * A check of this class without a template is reported by another controller.
 */
export function jobTemplateOf({ spec }: HealthCheck): JobTemplate | undefined {
  return spec?.class === JOB_CLASS ? spec.job?.template : undefined;
}

/** Fields that a template must not set, and why. */
const OURS: Record<string, string> = {
  selector: 'Kubernetes sets it',
  manualSelector: 'Kubernetes sets the selector',
  suspend: 'a suspended Job never ends',
  ttlSecondsAfterFinished: 'the Job is deleted when a later deployment has run its own',
};

/** The problem of a template: a sentence, or undefined. The API server checks the rest when the Job is created. */
export function templateProblem(template: JobTemplate): string | undefined {
  const field = 'spec.job.template';
  if (isDeeperThan(LIMITS.nesting, template)) {
    return `${field} is nested more than ${LIMITS.nesting} levels deep (limit nesting)`;
  }
  const size = JSON.stringify(template).length;
  if (size > LIMITS.jobTemplate) {
    return `${field} has ${size} characters, more than ${LIMITS.jobTemplate} (limit jobTemplate): keep scripts in a ConfigMap`;
  }
  const spec: unknown = template.spec;
  if (!isMap(spec)) return `${field}.spec is not a map: it is the spec of a Job`;
  const ours = Object.keys(OURS).find((key) => childOf(spec, key) !== undefined);
  if (ours !== undefined) return `${field}.spec.${ours} must not be set: ${OURS[ours]}`;
  const none = ['completions', 'parallelism'].find((key) => childOf(spec, key) === 0);
  if (none !== undefined) return `${field}.spec.${none} is 0: such a Job runs nothing`;
  return podProblem(childOf(childOf(spec, 'template'), 'spec'), `${field}.spec.template.spec`);
}

function podProblem(pod: unknown, field: string): string | undefined {
  if (!isMap(pod)) return `${field} is missing: it is the spec of the Pod`;
  const restartPolicy = childOf(pod, 'restartPolicy');
  if (restartPolicy !== 'Never' && restartPolicy !== 'OnFailure') {
    return `${field}.restartPolicy is ${JSON.stringify(restartPolicy)?.slice(0, 100) ?? 'missing'}: a Job takes Never or OnFailure`;
  }
  const containers = childOf(pod, 'containers');
  if (!Array.isArray(containers) || containers.length === 0) return `${field}.containers is empty or not a list`;
  const bad = containers.findIndex((each) => !isText(childOf(each, 'name')) || !isText(childOf(each, 'image')));
  return bad < 0 ? undefined : `${field}.containers[${bad}] needs a name and an image`;
}

const isText = (value: unknown): boolean => typeof value === 'string' && value !== '';

// The verdict of a Job for its deployment.

/** Enough for the Job controller's message; other writers of the status may write any length. */
const MAX_MESSAGE_CHARACTERS = 1024;

/**
 * The verdict of a Job.
 * @param cause why its Pods do not run, or how they ended; undefined if that is not known
 */
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
      message: `${what} runs for version ${version}${attemptsText(job)}${because}`,
      commands,
    };
  const why = [failed.reason, failed.message].filter((text) => text !== '').join(': ');
  return {
    health: 'Unhealthy',
    message: `${what} has failed for version ${version}: ${why.slice(0, MAX_MESSAGE_CHARACTERS)}${because}`,
    commands,
    failedAt: parseTime(failed.lastTransitionTime),
  };
}

export function isFinished(job: CheckJob): boolean {
  return conditionsOf(job).some(({ type, status }) => (type === 'Complete' || type === 'Failed') && status === 'True');
}

function attemptsText(job: CheckJob): string {
  const failed = numberAt(job, ['status', 'failed']) ?? 0;
  if (failed === 0) return '';
  return `, and has failed ${failed === 1 ? 'once' : `${failed} times`}`;
}
