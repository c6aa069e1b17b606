/** What the reader may do, and which of it stands out. */
import { type Action, type ActionType, rightKey } from '../../client/actions/action.ts';
import type { Rights } from '../../client/board/pageMessages.ts';
import type { Right } from '../../client/explain/application.ts';

/** `patch on rollouts shop/web`; empty where the reader may. */
export function lackingText({ rights: needed }: { rights: readonly Right[] }, rights: Rights): string {
  return needed
    .filter((right) => rights[rightKey(right)] !== true)
    .map(
      ({ verb, resource, namespace, name }) =>
        `${verb} on ${resource} ${namespace ? `${namespace}/` : ''}${name || '*'}`,
    )
    .join(' and ');
}

export function mayDo(action: Action, rights: Rights): boolean {
  return lackingText(action, rights) === '';
}

/** Each is about one version or one object. */
const NARROW: readonly ActionType[] = ['approve', 'retry', 'rollback', 'continue', 'create'];

/** The button that stands out: never one that opens a gate for everything, goes past all of them or deploys manually. */
export function primaryOf(allowed: readonly Action[]): Action | undefined {
  const narrow = allowed.filter(
    ({ request: { type, object } }) => NARROW.includes(type) && !(type === 'approve' && object.kind === 'Rollout'),
  );
  return narrow.find(({ primary }) => primary) ?? narrow[0];
}
