/** Offers an action: fills in texts and rights from the table, and leaves out actions that no object would accept. */
import type { AnyObject, EpochMs } from '../../api/kubernetes.ts';
import { isImage } from '../../core/budget/continueRequest.ts';
import { isLegalTag } from '../../core/kube/tag.ts';
import { nameWord } from '../../core/text/shell.ts';
import type { Action, ActionRequest } from './action.ts';
import { ACTIONS, rightsOf, writeOf } from './table.ts';
import { isRequest } from './writes/plannedWrite.ts';

type Given = Partial<Omit<Action, 'id' | 'request' | 'found' | 'step'>> & { step?: string | undefined };

/**
 * The action, in a list; empty if a name, version or image is invalid. A reference may have any text, and users paste
 * commands into a shell.
 */
export function offer(request: ActionRequest, found?: AnyObject, { step, ...given }: Given = {}): Action[] {
  const { type, object, version, image, rollout, gate } = request;
  const names = [object, rollout, gate].flatMap((ref) =>
    ref ? [...(ref.namespace ? [ref.namespace] : []), ref.name] : [],
  );
  if (names.some((name) => nameWord(name) !== name) || (version !== undefined && !isLegalTag(version))) return [];
  if (image !== undefined && !isImage(image)) return [];
  const { label, submit, text, confirm, danger } = ACTIONS[type];
  const rights = given.rights ?? rightsOf(request, found);
  return [
    {
      id: [type, object.kind, ...names, image, version].filter(Boolean).join('/'),
      request,
      label: label(request),
      submit: submit?.(request) ?? type.charAt(0).toUpperCase() + type.slice(1),
      text: text(request, found),
      rights,
      ...(found && { found }),
      ...(confirm && version !== undefined && { confirm: version }),
      ...(danger && { danger }),
      // A bypass records why.
      ...(rights.some(({ verb }) => verb === 'bypass') && { needsReason: true }),
      ...(step !== undefined && { step }),
      ...given,
    },
  ];
}

/** The actions whose write is possible on the object as it is now, each with the state that its write depends on. */
export function possibleActions(actions: readonly Action[], now: EpochMs): Action[] {
  return actions.flatMap((action) => {
    const { request, found } = action;
    if (!found) return [action];
    const write = writeOf({ ...request, reason: 'why' }, found, now);
    if (!isRequest(write)) return [];
    return [write.basis === undefined ? action : { ...action, basis: write.basis }];
  });
}
