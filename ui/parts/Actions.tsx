/** A button for what the reader may do; for the rest, who it takes. */
import { type Action, rightKey } from '../../client/actions/action.ts';
import type { Rights } from '../../client/board/pageMessages.ts';
import { dialog } from './ActionDialog.tsx';

export function mayDo({ rights: needed }: Action, rights: Rights): boolean {
  return needed.every((right) => rights[rightKey(right)] === true);
}

export function Actions({ actions, rights }: { actions: readonly Action[]; rights: Rights }) {
  if (actions.length === 0) return null;
  const allowed = actions.filter((action) => mayDo(action, rights));
  const denied = actions.filter((action) => !mayDo(action, rights));
  const primary = allowed.find((action) => action.primary) ?? allowed.find((action) => !action.danger);
  return (
    <div class="actions">
      {allowed.length > 0 && (
        <div class="actions-row">
          {allowed.map((action) => (
            <button
              key={action.id}
              type="button"
              class={action === primary ? 'primary' : undefined}
              onClick={() => open(action)}
            >
              {action.label}
            </button>
          ))}
        </div>
      )}
      {denied.length > 0 && (
        <details class="denied">
          <summary>
            {allowed.length > 0
              ? `${denied.length} more that you may not do`
              : 'Nothing of this is yours to change: who can do what'}
          </summary>
          <ul>
            {denied.map((action) => (
              <li key={action.id}>
                <strong>{action.label}</strong>: {action.text} It takes{' '}
                {action.rights
                  .filter((right) => rights[rightKey(right)] !== true)
                  .map(({ verb, resource, namespace, name }) => `${verb} on ${resource} ${namespace}/${name}`)
                  .join(' and ')}
                .
              </li>
            ))}
          </ul>
        </details>
      )}
    </div>
  );
}

export function open(action: Action): void {
  dialog.value = action;
}
