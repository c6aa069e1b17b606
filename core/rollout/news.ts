/** What a change of conditions and rejections is worth telling: one event per change, not one per sync (quirk Q10). */
import { DEPLOYMENT_BLOCKED, GATE_CLOSED, GATES_PASSING, READY } from '../../api/conditions.ts';
import type { Condition } from '../../api/kubernetes.ts';
import type { RolloutStatus } from '../../api/types.ts';
import { findCondition } from '../kube/conditions.ts';
import { isPassing } from './conditions.ts';
import type { Situation } from './evaluation.ts';
import type { News } from './observed.ts';

export function rejectionNews({ rejected }: Situation, stored: RolloutStatus | undefined): News[] {
  const known = stored?.rejectedReleases ?? [];
  return rejected
    .filter(({ tag, gate }) => !known.some((before) => before.tag === tag && before.gate === gate))
    .map(({ tag, gate, timestamp }) => ({
      type: 'Warning',
      reason: 'ReleaseRejected',
      message: `Version ${tag} is rejected by RolloutGate '${gate}'`,
      about: `${tag}/${gate}/${timestamp}`,
    }));
}

/** A release that has waited, and may not be deployed any more. */
export function withdrawalNews({ withdrawn }: Situation, stored: RolloutStatus | undefined): News[] {
  const waited = new Set(stored?.releaseCandidates?.map(({ tag }) => tag));
  const known = new Set(stored?.withdrawnReleases?.map(({ tag }) => tag));
  return withdrawn
    .filter(({ tag }) => waited.has(tag) && !known.has(tag))
    .map(({ tag, reason }) => ({
      type: 'Normal',
      reason: 'ReleaseWithdrawn',
      message: `Version ${tag} is not deployed any more: ${reason}`,
    }));
}

export function conditionNews(
  situation: Situation,
  conditions: readonly Condition[],
  stored: RolloutStatus | undefined,
): News[] {
  const changed = (type: string) => changeOf(type, conditions, stored?.conditions);
  const news: News[] = [];
  const gates = changed(GATES_PASSING);
  if (gates) news.push(told(gates.status === 'True' ? 'Normal' : 'Warning', gates));
  const ready = changed(READY);
  if (ready && isPassing(ready) && ready.reason !== GATE_CLOSED) news.push(told('Warning', ready));
  // The same obstacle is news again when another version meets it.
  const isNew = changed(DEPLOYMENT_BLOCKED) !== undefined || stored?.pendingVersion !== situation.pending;
  const blocked = findCondition(conditions, DEPLOYMENT_BLOCKED);
  if (isNew && blocked?.status === 'True') news.push(...blockNews(situation, blocked));
  return news;
}

/** Health is told of where a version would come next but for it (reference section 2.1, step 13). */
function blockNews({ selection, obstacles }: Situation, blocked: Condition): News[] {
  if (blocked.reason === GATE_CLOSED) return [told('Normal', blocked)];
  const isNext = selection.next !== undefined && !obstacles.gates && !obstacles.bake;
  return isNext && obstacles.health
    ? [{ type: 'Warning', reason: 'HealthCheckBlocking', message: blocked.message }]
    : [];
}

function told(type: News['type'], { reason, message }: Condition): News {
  return { type, reason, message };
}

function changeOf(
  type: string,
  conditions: readonly Condition[],
  stored: readonly Condition[] | undefined,
): Condition | undefined {
  const before = findCondition(stored, type);
  const after = findCondition(conditions, type);
  const same = (['status', 'reason', 'message'] as const).every((field) => before?.[field] === after?.[field]);
  return same ? undefined : after;
}
