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
  const inTheWay = steps.filter(
    ({ kind, state }) =>
      kind !== 'binding' &&
      (state === 'blocks' || (!DEPLOYED.includes(kind) && (state === 'waits' || state === 'failed'))),
  );
  // What has no step of its own: the Rollout itself, or a kind of wait that this version of the program does not know.
  const blockers = (blockersOf(rollout, version) ?? []).filter(
    ({ type }) => inTheWay.length === 0 || type === 'Problem',
  );
  if (inTheWay.length === 0 && blockers.length === 0) return { text: `${version} is deployed within moments` };
  const lasting = [
    ...inTheWay.filter(({ until, state }) => state === 'failed' || (state === 'blocks' && until === undefined)),
    ...blockers.filter(({ effect }) => effect === 'Blocks').map((each) => ({ title: titleOf(each) })),
  ];
  if (lasting.length > 0) return { text: `nothing by itself: ${version} waits for ${named(lasting)}` };
  const at = lastOf([...inTheWay, ...blockers]);
  return { text: `${version} goes by itself`, ...(at && { at }) };
}

function titleOf({ type, object, reason }: Blocker): string {
  if (object) return `${object.kind} ${object.name}`;
  return type === 'Problem' ? 'a fix of what its condition Ready says' : reason;
}

/** When the last of them ends, where that is known of all. */
function lastOf(waits: readonly { until?: string }[]): string | undefined {
  const times = waits.flatMap(({ until }) => until ?? []);
  return times.length === waits.length ? times.sort().at(-1) : undefined;
}

function named(steps: readonly Pick<Step, 'title'>[]): string {
  const names = steps.slice(0, 3).map(({ title }) => title);
  return `${names.join(', ')}${steps.length > 3 ? ` and ${steps.length - 3} more` : ''}`;
}
