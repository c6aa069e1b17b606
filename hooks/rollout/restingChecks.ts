/**
 * What HealthChecks at rest say now. Nobody has looked for up to ten minutes; what has failed since must hold the next version as it would have, had it been seen.
 */
import type { HookCall } from '../../api/ports.ts';
import type { HealthCheck, Rollout } from '../../api/types.ts';
import { cutoffsOf } from '../../core/health/reset.ts';
import { isAtRest } from '../../core/health/rest.ts';
import { requeueInterval } from '../../core/health/spec.ts';
import { statusAfter } from '../../core/health/status.ts';
import { judge } from '../healthCheck/judge.ts';
import { inParallel } from '../inParallel.ts';

const AT_ONCE = 8;

/** The same checks; those that are Unhealthy now say so. The HealthCheck's own hook finds it too: the Rollout's condition wakes it. */
export function withRestingChecks(
  rollout: Rollout,
  healthChecks: readonly HealthCheck[],
  call: HookCall,
): Promise<HealthCheck[]> {
  const cutoff = cutoffsOf([rollout], call.now).reached;
  return inParallel(healthChecks, AT_ONCE, async (healthCheck) => {
    const { uid, namespace, name } = healthCheck.metadata;
    // One of another namespace is looked at all the time: its hook does not see who bakes on it.
    if (namespace !== rollout.metadata.namespace || !isAtRest(healthCheck, false)) return healthCheck;
    // Many Rollouts may watch one: a look as old as those at a check that is not at rest does for all of them.
    const look = () => judge(healthCheck, { rollouts: [rollout], cutoff }, { ...call, cluster: call.healthCluster });
    const verdict = await call.recent.within(requeueInterval(healthCheck), `health ${uid} ${namespace}/${name}`, look);
    if (verdict.health !== 'Unhealthy') return healthCheck;
    return { ...healthCheck, status: statusAfter(healthCheck.status, verdict, call.now) };
  });
}
