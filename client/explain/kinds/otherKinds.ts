/** HealthChecks, schedules, budgets and whatever else has conditions: in the words of its own status. */
import { READY } from '../../../api/conditions.ts';
import type { Condition, KubeObject } from '../../../api/kubernetes.ts';
import type { HealthCheck, Rollout } from '../../../api/types.ts';
import { association } from '../../../core/health/association.ts';
import { findCondition } from '../../../core/kube/conditions.ts';
import { groupOf, identityOf, refKey } from '../../../core/kube/names.ts';
import { isUnhealthy } from '../../../core/rollout/deployment/healthChecks.ts';
import { withoutCommands } from '../../../core/text/commands.ts';
import type { Cause, ObjectRef } from '../application.ts';
import type { Explanation } from '../explanation.ts';
import { objectRef } from '../objectRef.ts';

export function explainHealthCheck(check: HealthCheck, rollouts: readonly Rollout[]): Explanation {
  const object = objectRef('HealthCheck', identityOf(check));
  const { status = 'Pending', message, lastChangeTime, lastErrorTime } = check.status ?? {};
  const watching = rollouts.filter((rollout) => association(rollout, check, {}) === 'watched');
  const names = watching.map((rollout) => `'${rollout.metadata.name}'`);
  const since = lastChangeTime ? ` since ${lastChangeTime}` : '';
  return {
    object,
    headline: status,
    state: isUnhealthy(check) ? 'failed' : status === 'Healthy' ? 'free' : 'underWay',
    causes: [
      {
        code: status,
        text: `HealthCheck ${refKey(object)} is ${status}${since}${message ? `: ${withoutCommands(message)}` : ''}`,
      },
      ...(lastErrorTime ? [{ code: 'LastError', text: `Its last error was at ${lastErrorTime}` }] : []),
      {
        code: 'Watched',
        text:
          names.length > 0 ? `It is watched by Rollout ${names.join(', ')}` : 'No Rollout of its namespace watches it',
      },
    ],
    ...(check.spec?.class
      ? { next: { text: `it is computed again by class ${check.spec.class}` } }
      : { next: { text: 'nothing by itself: whoever reports its health changes it' } }),
    remedies: [],
    unread: [],
  };
}

/** `resource`: its plural. */
export function explainByConditions(object: KubeObject<any, any>, resource: string): Explanation {
  const { namespace, name } = identityOf(object);
  const ref: ObjectRef = { group: groupOf(object.apiVersion), kind: object.kind, resource, namespace, name };
  const title = `${object.kind} ${refKey(ref)}`;
  const conditions: readonly Condition[] = Array.isArray(object.status?.conditions) ? object.status.conditions : [];
  const ready = findCondition(conditions, READY);
  const others = conditions.filter(({ type, status }) => type !== READY && status === 'True');
  const next = object.status?.nextTransition;
  const said = [...(ready ? [ready] : []), ...others];
  const causes: Cause[] = said
    .filter(({ message }) => message)
    .map(({ reason, message }) => ({ code: reason, text: `${title}: ${withoutCommands(message)}` }));
  return {
    object: ref,
    headline: ready ? `${ready.status === 'True' ? 'ready' : 'not ready'}: ${ready.reason}` : 'has no condition Ready',
    state: ready?.status === 'False' ? 'failed' : 'free',
    causes:
      causes.length > 0
        ? causes
        : [
            {
              code: 'NoConditions',
              text: `${title} says nothing of itself: its controller has not seen it, or is not installed`,
            },
          ],
    ...(typeof next === 'string' && { next: { text: 'it changes by itself', at: next } }),
    remedies: [],
    unread: [],
  };
}
