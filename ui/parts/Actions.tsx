/** Buttons for the actions that the reader has the rights for; the others with the missing rights and their command. */
import { type Action, lackingText } from '../../client/actions/action.ts';
import type { Rights } from '../../client/board/pageMessages.ts';
import { openAction } from './ActionDialog.tsx';
import { mayDo, primaryOf } from './rights.ts';

export function Actions({ actions, rights }: { actions: readonly Action[]; rights: Rights }) {
  if (actions.length === 0) return null;
  const allowed = actions.filter((action) => mayDo(action, rights));
  const denied = actions.filter((action) => !mayDo(action, rights));
  const primary = primaryOf(allowed);
  return (
    <div class="stack actions">
      {allowed.length > 0 && (
        <div class="line">
          {allowed.map((action) => (
            <button
              key={action.id}
              type="button"
              class={action === primary ? 'primary' : undefined}
              onClick={() => openAction(action)}
            >
              {action.label}
            </button>
          ))}
        </div>
      )}
      {denied.length > 0 && (
        <details class="denied">
          <summary>Actions that you lack rights for ({denied.length})</summary>
          <ul>
            {denied.map((action) => (
              <li key={action.id}>
                <button type="button" class="link" onClick={() => openAction(action)}>
                  {action.label}
                </button>
                : {action.text} You need {lackingText(action.rights, rights)}.
              </li>
            ))}
          </ul>
        </details>
      )}
    </div>
  );
}
