/** Whether the reader may do an action, and the action whose button stands out. */
import { type Action, type ActionType, lackingText } from '../../client/actions/action.ts';
import type { Rights } from '../../client/board/pageMessages.ts';

export function mayDo(action: Action, rights: Rights): boolean {
  return lackingText(action.rights, rights) === '';
}

/** The actions that affect only one version or one object. Creating a missing Gate opens it for all that name it. */
const NARROW: readonly ActionType[] = ['approve', 'retry', 'rollback', 'continue'];

/** The action whose button stands out: none that opens a Gate for all, bypasses Gates or deploys manually. */
export function primaryOf(allowed: readonly Action[]): Action | undefined {
  const narrow = allowed.filter(({ request: { type } }) => NARROW.includes(type));
  return narrow.find(({ primary }) => primary) ?? narrow[0];
}
