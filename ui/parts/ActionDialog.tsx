/** The dialog of an action: its effect, the reason, and the command that does the same. */

import { useRef, useState } from 'preact/hooks';
import { type Action, lackingText } from '../../client/actions/action.ts';
import { takesReason } from '../../client/actions/table.ts';
import type { Rights } from '../../client/board/pageMessages.ts';
import { LIMITS } from '../../core/limits.ts';
import { useItem } from '../state/item.ts';
import { query, setQuery } from '../state/route.ts';
import { api } from '../state/session.ts';
import { Commands, commandsOf } from './Commands.tsx';
import { RequestDialog } from './Dialog.tsx';
import { Field } from './Field.tsx';

/** Opens the dialog of an action, by its id in the address. */
export function openAction({ id }: Action): void {
  setQuery({ do: id });
}

interface ActionDialogProps {
  find: (id: string) => Action | undefined;
  rights: Rights;
}

/** The dialog of the action in the address. It stays open once the action has been made and is no longer offered. */
export function ActionDialog({ find, rights }: ActionDialogProps) {
  const { do: id } = query.value;
  const shown = useRef<Action | undefined>(undefined);
  if (shown.current?.id !== id) shown.current = id ? find(id) : undefined;
  if (shown.current) return <Open key={id} action={shown.current} rights={rights} />;
  if (!id) return null;
  return (
    <p class="notice tone-held" role="status">
      The action in this address is not possible now: it was made already, or no longer applies.{' '}
      <button type="button" class="link" onClick={close}>
        Close
      </button>
    </p>
  );
}

function close(): void {
  setQuery({ do: '' }, 'replace');
}

function Open({ action, rights }: { action: Action; rights: Rights }) {
  const { label, text, submit, danger, confirm, needsReason, found, basis } = action;
  const [reason, setReason] = useState('');
  const [typed, setTyped] = useState('');
  const lacking = lackingText(action.rights, rights);
  // The user sees the API server's answer first. A dry run without a required reason would always fail.
  const isChecked = !needsReason && !lacking;
  const check = useItem(async () => (isChecked ? api.dryRun(action.request, basis) : undefined));
  const request = { ...action.request, reason: reason.trim() };
  const isReady = !lacking && (!confirm || typed === confirm) && (!needsReason || request.reason !== '');
  return (
    <RequestDialog
      title={label}
      text={lacking ? `${text} You need ${lacking}.` : text}
      submit={{ text: submit, isReady, isDanger: danger }}
      send={() => api.act(request, basis)}
      dryRun={check.value}
      onClose={close}
    >
      {takesReason(action.request) && (
        <Field
          label="Reason"
          hint={needsReason ? '' : ' (optional)'}
          value={reason}
          onInput={setReason}
          maxLength={LIMITS.reason}
          placeholder="INC-42, the fix"
          autofocus
        />
      )}
      {confirm && (
        <Field
          label="Type the version to confirm"
          value={typed}
          onInput={setTyped}
          autocomplete="off"
          spellcheck={false}
        >
          : <code>{confirm}</code>
        </Field>
      )}
      <Commands {...commandsOf(request, found)} />
    </RequestDialog>
  );
}
