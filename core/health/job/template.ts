/** The Job that a HealthCheck of class job asks for, as far as it can be known here that Kubernetes takes it and that it ends by itself. */
import type { HealthCheck } from '../../../api/types.ts';
import { childOf, isDeeperThan, isMap } from '../../kube/json.ts';
import { LIMITS } from '../../limits.ts';

export const JOB_CLASS = 'job';

export type JobTemplate = NonNullable<NonNullable<HealthCheck['spec']>['job']>['template'];

/** The template of a check of class job; undefined for any other check. One of this class that has none is reported by somebody else. */
export function jobTemplateOf({ spec }: HealthCheck): JobTemplate | undefined {
  return spec?.class === JOB_CLASS ? spec.job?.template : undefined;
}

/** Why they must not be set. */
const OURS: Record<string, string> = {
  selector: 'Kubernetes sets it',
  manualSelector: 'Kubernetes sets the selector',
  suspend: 'a suspended Job never ends',
  ttlSecondsAfterFinished: 'the Job is deleted when a later deployment has run its own',
};

/** What is wrong with it: a sentence, or undefined. The API server checks the rest when the Job is created. */
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
  if (!Array.isArray(containers) || containers.length === 0) return `${field}.containers is empty or no list`;
  const bad = containers.findIndex((each) => !isText(childOf(each, 'name')) || !isText(childOf(each, 'image')));
  return bad < 0 ? undefined : `${field}.containers[${bad}] needs a name and an image`;
}

const isText = (value: unknown): boolean => typeof value === 'string' && value !== '';
