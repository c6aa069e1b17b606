/**
 * The next step of a HealthCheck of class job: which Jobs to keep or create, and the status.
 * One Rollout of its namespace selects it; the health is for that Rollout's newest deployment only.
 *
 * | seen | health | Jobs |
 * |---|---|---|
 * | the component is missing, or the template cannot be run | Unhealthy | unchanged |
 * | no Rollout of the namespace selects it, or several do; nothing is deployed | Pending | unchanged |
 * | the version is not applied yet | Pending | the one before |
 * | applied, while the deployment bakes, and its Job does not exist | Pending; Healthy once it has completed | its own, and the one before |
 * | its Job runs, has completed, has failed | Pending, Healthy, Unhealthy | its own, and the one before |
 * | the deployment is over, and none was run for it | Pending | the one before |
 */
import type { EpochMs } from '../../../api/kubernetes.ts';
import type { HealthCheck, HistoryEntry, Rollout } from '../../../api/types.ts';
import { type HealthStatus, resetStatus, statusAfter, type Verdict } from '../healthStatus.ts';
import { type CheckJob, isFinished, type JobTemplate, jobOf, jobVerdict, templateProblem } from './checkJob.ts';

interface JobContext {
  check: HealthCheck;
  template: JobTemplate;
  /** The Rollouts of the check's namespace that select it. */
  watching: readonly Rollout[];
  /** The check's Jobs; undefined if this installation runs none. */
  jobs: readonly CheckJob[] | undefined;
}

/** The deployment to check and its Job, or else why there is none. */
type JobTarget = { head: HistoryEntry; wanted: CheckJob } | { problem: Verdict };

export function jobTargetOf({ check, template, watching, jobs }: JobContext): JobTarget {
  if (!jobs) {
    return unhealthyTarget('no Job is run: the component health-jobs is not installed');
  }
  const problem = templateProblem(template);
  if (problem !== undefined) return unhealthyTarget(`${problem}. No Job is run until it is corrected`);
  const [rollout, ...others] = watching;
  if (!rollout) return pendingTarget('no Rollout of this namespace selects this HealthCheck: no Job is run');
  if (others.length > 0) {
    const names = watching.slice(0, 3).map(({ metadata }) => `'${metadata.name}'`);
    return pendingTarget(
      `${watching.length} Rollouts select this HealthCheck (${names.join(', ')}${watching.length > 3 ? ' and others' : ''}), but a HealthCheck of class job is for one Rollout: create one HealthCheck for each`,
    );
  }
  const [head] = rollout.status?.history ?? [];
  if (!head) return pendingTarget(`Rollout '${rollout.metadata.name}' has no deployment yet: the first runs the Job`);
  return { head, wanted: jobOf({ check, template, rollout, head }) };
}

interface Progress {
  /** Whether every object that is bound to the Rollout has the version. */
  isApplied: boolean;
  isBaking: boolean;
  /** Why the Pods of the Job do not run. */
  cause?: string;
}

interface JobPlan {
  /** The Jobs to keep or create: Metacontroller deletes the others. */
  jobs: CheckJob[];
  status: HealthStatus;
}

export function jobPlan(context: JobContext, target: JobTarget, progress: Progress, now: EpochMs): JobPlan {
  const { check, jobs = [] } = context;
  const before = check.status;
  if ('problem' in target)
    return { jobs: jobs.map(asChild), status: statusFor(before, undefined, target.problem, now) };
  const { head, wanted } = target;
  const found = jobs.find(({ metadata }) => metadata.name === wanted.metadata.name);
  const earlier = jobs
    .filter((job) => job !== found && isFinished(job))
    .sort(byAge)
    .slice(0, 1)
    .map(asChild);
  const verdict =
    found && !found.metadata.deletionTimestamp ? jobVerdict(found, head.version.tag, progress.cause) : undefined;
  if (verdict) return { jobs: [asChild(found!), ...earlier], status: statusFor(before, wanted, verdict, now) };
  if (before && hasResult(before, wanted, progress)) return { jobs: earlier, status: before };
  const mayRun = progress.isBaking && progress.isApplied && !found;
  const waits = pendingTarget(whyNotChecked(target, progress, found));
  return { jobs: mayRun ? [wanted, ...earlier] : earlier, status: statusFor(before, wanted, waits.problem, now) };
}

/**
 * Whether the status has the result of this Job, which it keeps when the Job is deleted after the bake.
 * While the deployment bakes, a deleted Job runs again, because a user may have written a result without a Job.
 */
function hasResult(before: HealthStatus, wanted: CheckJob, { isBaking }: Progress): boolean {
  const isEnded = before.status === 'Healthy' || before.status === 'Unhealthy';
  return isEnded && !isBaking && before.job?.name === wanted.metadata.name;
}

/** Why there is no verdict of a Job yet. */
function whyNotChecked(
  { head, wanted }: Exclude<JobTarget, { problem: Verdict }>,
  { isBaking, isApplied }: Progress,
  found: CheckJob | undefined,
): string {
  const { tag } = head.version;
  const job = `Job '${wanted.metadata.namespace}/${wanted.metadata.name}'`;
  if (found) return `${job} is being deleted, and will be run again`;
  if (!isBaking)
    return `the deployment of version ${tag} has ended without a finished Job: the next deployment runs one`;
  if (!isApplied) return `waits until version ${tag} is applied, and then runs ${job}`;
  return `${job} is being created for version ${tag}. If it does not appear, the API server or an admission webhook rejects it, Metacontroller isn't allowed to create Jobs in this namespace, or another Job has its name: see the Events of this HealthCheck`;
}

/** The status after a verdict. The report of another run doesn't count, and neither do its errors. */
function statusFor(
  before: HealthStatus | undefined,
  wanted: CheckJob | undefined,
  verdict: Verdict,
  now: EpochMs,
): HealthStatus {
  const isSame = before?.job?.name === wanted?.metadata.name;
  const after = statusAfter(isSame ? before : resetStatus(before, now), verdict, now);
  const { name = '', namespace = '' } = wanted?.metadata ?? {};
  return wanted ? { ...after, job: { namespace, name } } : after;
}

/** The Job as a child in the hook's answer. Metacontroller finds it by name, and never updates Jobs. */
function asChild({ apiVersion, kind, metadata: { name, namespace, labels }, spec }: CheckJob): CheckJob {
  return { apiVersion, kind, metadata: { name: name!, namespace: namespace!, labels }, spec };
}

/** Order of Jobs: newest first. */
function byAge(a: CheckJob, b: CheckJob): number {
  const madeAt = ({ metadata }: CheckJob) => metadata.creationTimestamp ?? '';
  return madeAt(a) > madeAt(b) ? -1 : 1;
}

const unhealthyTarget = (message: string): { problem: Verdict } => ({ problem: { health: 'Unhealthy', message } });
const pendingTarget = (message: string): { problem: Verdict } => ({ problem: { health: 'Pending', message } });
