/** When an object failed, as far as its conditions say. */
import type { EpochMs, KubeObject } from '../../../api/kubernetes.ts';
import { conditionsOf } from '../../kstatus/fields.ts';
import { parseTime } from '../../kube/time.ts';

/** The latest Stalled=True, else the newest transition of any condition that is not about work under way; undefined when no time parses. */
export function failureTime(object: KubeObject<any, any>): EpochMs | undefined {
  const conditions = conditionsOf(object).filter(({ type }) => type !== 'Reconciling');
  const stalled = conditions.filter((c) => c.type === 'Stalled' && c.status === 'True');
  return newest(stalled.length > 0 ? stalled : conditions);
}

function newest(conditions: readonly { lastTransitionTime?: string }[]): EpochMs | undefined {
  return latest(conditions.map((c) => parseTime(c.lastTransitionTime)));
}

export function latest(times: readonly (EpochMs | undefined)[]): EpochMs | undefined {
  const known = times.filter((at) => at !== undefined);
  return known.length > 0 ? Math.max(...known) : undefined;
}
