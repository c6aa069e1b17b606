/** What a HealthCheck of class job says of one Rollout: nothing, where its Job was run for another deployment, or another Rollout. */
import type { HealthCheck, Rollout } from '../../../api/types.ts';
import { runName } from './run.ts';
import { jobTemplateOf, templateProblem } from './template.ts';

/** The check as it counts for the newest deployment of the Rollout: Pending until its own Job has ended. Checks of other classes stay as they are. */
export function countedFor(rollout: Rollout, check: HealthCheck): HealthCheck {
  const template = jobTemplateOf(check);
  if (!template) return check;
  if (check.metadata.namespace !== rollout.metadata.namespace) {
    return pending(check, 'a HealthCheck of class job counts for a Rollout of its own namespace only');
  }
  const { status } = check;
  // It says what is wrong with the check itself.
  if (status?.job === undefined && status?.status === 'Unhealthy') return check;
  const [head] = rollout.status?.history ?? [];
  const canRun = head && status?.job && templateProblem(template) === undefined;
  if (canRun && status.job?.name === runName({ check, template, rollout, head })) return check;
  return pending(check, 'its Job has not been run for this deployment yet');
}

function pending(check: HealthCheck, message: string): HealthCheck {
  const { lastChangeTime } = check.status ?? {};
  return { ...check, status: { status: 'Pending', message, ...(lastChangeTime && { lastChangeTime }) } };
}
