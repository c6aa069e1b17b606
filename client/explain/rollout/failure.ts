/** A deployment that failed: what its HealthChecks reported, and the last good version. */
import type { HistoryEntry, Rollout } from '../../../api/types.ts';
import { isRequest } from '../../requests/request.ts';
import { rollback } from '../../requests/rollback.ts';
import type { Cause, FailureView, Step } from '../application.ts';
import { defined } from '../defined.ts';

export function failureOf(rollout: Rollout, steps: readonly Step[]): FailureView | undefined {
  const [head, ...before] = rollout.status?.history ?? [];
  if (head?.bakeStatus !== 'Failed') return undefined;
  const good = before.find(({ bakeStatus }) => bakeStatus === 'Succeeded');
  const back = rollback(rollout, undefined, { stays: true });
  return {
    ...defined({
      lastGood: good?.version.tag,
      lastGoodId: good?.id,
      wayBack: isRequest(back) ? back.brings?.version : undefined,
    }),
    unblocks: rollout.spec?.onFailure === 'Hold' || steps.some(({ kind }) => kind === 'failure'),
  };
}

/** What the failed HealthChecks reported, where no condition has it already, and what ran before. */
export function failureCauses({ status }: Rollout, failure: FailureView | undefined, said: readonly Cause[]): Cause[] {
  if (!failure) return [];
  const { failedHealthChecks = [], version } = status!.history![0] as HistoryEntry;
  // DeploymentBlocked quotes the first that is unhealthy.
  const quoted = said.some(({ code }) => code === 'UnhealthyHealthChecks')
    ? status?.blockers?.find(({ type }) => type === 'Health')?.object
    : undefined;
  const isSaid = (namespace: string, name: string) => quoted?.namespace === namespace && quoted.name === name;
  const checks = failedHealthChecks
    .filter(({ namespace, name, message }) => message && !isSaid(namespace, name))
    .map(({ namespace, name, message }) => ({
      code: 'HealthCheckFailed',
      text: `HealthCheck ${namespace}/${name} failed ${version.tag}: ${message}`,
    }));
  const { lastGood, lastGoodId } = failure;
  const good =
    lastGood === undefined ? [] : [`${lastGood} is the last version that succeeded (deployment ${lastGoodId})`];
  return [...checks, ...good.map((text) => ({ code: 'LastGoodVersion', text }))];
}
