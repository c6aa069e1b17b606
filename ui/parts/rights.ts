/** What the reader may do, in words. */
import { type Action, type Right, rightKey } from '../../client/actions/action.ts';
import type { Rights } from '../../client/board/messages.ts';

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
