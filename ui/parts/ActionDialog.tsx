/** A request in the making: what comes of it, why it is asked for, the command that does the same, and what the API server said. */
import { signal } from '@preact/signals';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Action } from '../../client/actions/action.ts';
import { takesReason } from '../../client/actions/table.ts';
import type { Answer } from '../../client/board/pageMessages.ts';
import { Icon } from '../look/Icon.tsx';
import { api } from '../state/session.ts';
import { Equivalent } from './Equivalent.tsx';

export const dialog = signal<Action | undefined>(undefined);

export function ActionDialog() {
  const action = dialog.value;
  return action ? <Dialog key={action.id} action={action} /> : null;
}

function Dialog({ action }: { action: Action }) {
  const element = useRef<HTMLDialogElement>(null);
  const [reason, setReason] = useState('');
  const [typed, setTyped] = useState('');
  const [answer, setAnswer] = useState<Answer | 'sending' | undefined>();
  const [check, setCheck] = useState<Answer | undefined>();
  useEffect(() => {
    element.current?.showModal();
    // What the API server would say, before anybody has to decide. A bypass without a reason would only be told that it lacks one.
    if (!action.needsReason) void api.dryRun(action.request).then(setCheck, () => {});
  }, []);
  const close = () => {
    dialog.value = undefined;
  };
  const { needsReason } = action;
  const request = { ...action.request, reason: reason.trim() };
  const isReady = (!action.confirm || typed === action.confirm) && (!needsReason || request.reason !== '');
  const submit = async (event: Event) => {
    event.preventDefault();
    if (!isReady || answer === 'sending') return;
    setAnswer('sending');
    const sent = api.act(request, check?.basis);
    setAnswer(await sent.catch((error: Error) => ({ ok: false, message: error.message, warnings: [] })));
  };
  const isDone = typeof answer === 'object' && answer.ok;
  return (
    <dialog ref={element} class="dialog" onClose={close} aria-labelledby="dialog-title">
      <form method="dialog" onSubmit={submit}>
        <header>
          <h2 id="dialog-title">{action.label}</h2>
          <button type="button" class="quiet" onClick={close} aria-label="Close">
            <Icon name="close" />
          </button>
        </header>
        <p class="dialog-text">{action.text}</p>
        {!isDone && (
          <>
            {takesReason(action.request) && (
              <label class="field">
                <span>Reason{needsReason ? '' : ' (optional)'}</span>
                <input
                  value={reason}
                  maxLength={500}
                  aria-label="Reason"
                  placeholder="INC-42, the fix"
                  onInput={(event) => setReason(event.currentTarget.value)}
                  autofocus
                />
              </label>
            )}
            {action.confirm && (
              <label class="field">
                <span>
                  Type the version to confirm: <code>{action.confirm}</code>
                </span>
                <input
                  value={typed}
                  aria-label="Type the version to confirm"
                  autocomplete="off"
                  spellcheck={false}
                  onInput={(event) => setTyped(event.currentTarget.value)}
                />
              </label>
            )}
            <Equivalent request={request} found={action.found} />
            {check && !answer && <Said answer={check} isDryRun />}
          </>
        )}
        {typeof answer === 'object' && <Said answer={answer} />}
        <footer>
          <button type="button" onClick={close}>
            {isDone ? 'Done' : 'Cancel'}
          </button>
          {!isDone && (
            <button
              type="submit"
              class={action.danger ? 'primary danger' : 'primary'}
              disabled={!isReady || answer === 'sending'}
            >
              {answer === 'sending' ? 'Asking…' : action.submit}
            </button>
          )}
        </footer>
      </form>
    </dialog>
  );
}

/** The API server's own words, whatever they are. */
export function Said({ answer, isDryRun }: { answer: Answer; isDryRun?: boolean }) {
  if (isDryRun && answer.ok && answer.warnings.length === 0) return null;
  const tone = !answer.ok ? 'bad' : answer.warnings.length > 0 ? 'held' : 'good';
  return (
    <div class={`said tone-${tone}`} role={isDryRun ? undefined : 'status'}>
      <Icon name={answer.ok ? (answer.warnings.length > 0 ? 'problem' : 'done') : 'failed'} />
      <div>
        {(!isDryRun || !answer.ok) && (
          <p>{isDryRun ? `The API server would refuse it: ${answer.message}` : answer.message}</p>
        )}
        {answer.warnings.map((warning) => (
          <p key={warning}>{warning}</p>
        ))}
      </div>
    </div>
  );
}
