/** What happens without anybody, and when. */
import type { Blocker, Rollout } from '../../../api/types.ts';
import { isBaking } from '../../../core/deployment/bake.ts';
import { isUnwatched } from '../../../core/deployment/unwatched.ts';
import type { Next, Step } from '../application.ts';
import { blockersOf } from './blocking.ts';

/** What the newest deployment passes, and not the version that waits. */
const DEPLOYED: readonly Step['kind'][] = ['binding', 'check', 'bake'];

export function nextOf(rollout: Rollout, steps: readonly Step[], version: string | undefined): Next | undefined {
  const [head] = rollout.status?.history ?? [];
  const unwatched = head !== undefined && isUnwatched(head, rollout);
  const bake = steps.find(({ kind }) => kind === 'bake');
  if (head && isBaking(head) && !(unwatched && version !== undefined)) {
    const { tag } = head.version;
    const then = version === undefined ? '' : `; then ${version} is looked at again`;
    const unhealthy = steps.filter(({ kind, state }) => kind === 'check' && (state === 'waits' || state === 'blocks'));
    if (head.bakeStatus === 'InProgress' && unhealthy.length > 0) {
      return {
        text: `the bake of ${tag} ends once ${named(unhealthy)} ${unhealthy.length === 1 ? 'is' : 'are'} Healthy${then}`,
      };
    }
    if (head.bakeStatus === 'InProgress') {
      const text = `the bake of ${tag} ends, unless a HealthCheck fails${then}`;
      return { text, ...(bake?.until && { at: bake.until }) };
    }
    if (unwatched) return { text: `${tag} has succeeded once Flux has applied it; nothing else ends this wait` };
    if (bake?.until) return { text: `${tag} fails if it has not arrived by then${then}`, at: bake.until };
    return { text: `the bake of ${tag} starts once it is applied and healthy; nothing else ends this wait${then}` };
  }
  if (version === undefined) return undefined;
  const inTheWay = steps
    .filter(({ kind, state }) => state === 'blocks' || (state === 'waits' && !DEPLOYED.includes(kind)))
    .filter(({ kind }) => kind !== 'binding');
  if (inTheWay.length === 0) return withoutSteps(blockersOf(rollout, version) ?? [], version);
  const lasting = inTheWay.filter(({ until, state }) => until === undefined && state === 'blocks');
  if (lasting.length > 0) {
    return { text: `nothing by itself: ${version} waits for ${named(lasting)}` };
  }
  const times = inTheWay.flatMap(({ until }) => until ?? []).sort();
  const last = times.at(-1);
  return { text: `${version} goes by itself`, ...(last && { at: last }) };
}

/** What has no step of its own: the Rollout itself, or a kind of wait that this version of the program does not know. */
function withoutSteps(blockers: readonly Blocker[], version: string): Next {
  if (blockers.length === 0) return { text: `${version} is deployed within moments` };
  const lasting = blockers.filter(({ effect }) => effect === 'Blocks');
  if (lasting.length > 0) {
    const reasons = [...new Set(lasting.map(({ reason }) => reason))];
    return { text: `nothing by itself: ${version} waits for somebody to act (${reasons.join(', ')})` };
  }
  const at = blockers
    .flatMap(({ until }) => until ?? [])
    .sort()
    .at(-1);
  return { text: `${version} goes by itself`, ...(at && { at }) };
}

function named(steps: readonly Step[]): string {
  const names = steps.slice(0, 3).map(({ title }) => title);
  return `${names.join(', ')}${steps.length > 3 ? ` and ${steps.length - 3} more` : ''}`;
}
