/** A dialog over the page, closed by Escape too. */
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Answer } from '../../client/board/pageMessages.ts';
import { Icon } from '../elements/Icon.tsx';
import { cluster } from '../state/cluster.ts';
import { Sentence } from './Sentence.tsx';

interface DialogProps {
  title: string;
  isWide?: boolean;
  onClose: () => void;
  children: preact.ComponentChildren;
}

export function Dialog({ title, isWide, onClose, children }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => element.current?.showModal(), []);
  return (
    <dialog ref={element} class={isWide ? 'dialog wide' : 'dialog'} onClose={onClose} aria-labelledby="dialog-title">
      <header>
        <h2 id="dialog-title">{title}</h2>
        <button type="button" class="quiet" onClick={close} aria-label="Close">
          <Icon name="close" />
        </button>
      </header>
      {children}
    </dialog>
  );
}

/** Closes the dialog in the browser, which gives the focus back to the element that opened it. */
function close({ currentTarget }: { currentTarget: HTMLElement }): void {
  currentTarget.closest('dialog')?.close();
}

interface RequestDialogProps {
  title: string;
  isWide?: boolean;
  text: string;
  /** The button that sends the request; absent while there is nothing to send. */
  submit?: { text: string; busy?: string; isReady: boolean; isDanger?: boolean | undefined } | undefined;
  send: () => Promise<Answer>;
  /** The API server's answer to a dry run of the request. */
  dryRun?: Answer | undefined;
  /** Shown beside the last button once the request was accepted. */
  after?: preact.ComponentChildren;
  onClose: () => void;
  children: preact.ComponentChildren;
}

/** The form of a request, and the answer to it, which replaces the fields when the request is accepted. */
export function RequestDialog(props: RequestDialogProps) {
  const { title, isWide = false, text, submit, send, dryRun, after, onClose, children } = props;
  const [answer, setAnswer] = useState<Answer | 'sending' | undefined>();
  const isDone = typeof answer === 'object' && answer.ok;
  const onSubmit = async (event: Event) => {
    event.preventDefault();
    if (!submit?.isReady || answer === 'sending') return;
    setAnswer('sending');
    setAnswer(await send().catch((error: Error) => ({ ok: false, message: error.message, warnings: [] })));
  };
  return (
    <Dialog title={title} isWide={isWide} onClose={onClose}>
      <form method="dialog" onSubmit={onSubmit}>
        {cluster.value && (
          <p class="dialog-text">
            In cluster <strong>{cluster.value}</strong>:
          </p>
        )}
        <p class="dialog-text">{text}</p>
        {!isDone && children}
        {dryRun && !answer && <AnswerMessage answer={dryRun} isDryRun />}
        {typeof answer === 'object' && <AnswerMessage answer={answer} />}
        <footer>
          {isDone && after}
          <button type="button" onClick={close}>
            {isDone ? 'Done' : 'Cancel'}
          </button>
          {!isDone && submit && (
            <button
              type="submit"
              class={submit.isDanger ? 'primary danger' : 'primary'}
              disabled={!submit.isReady || answer === 'sending'}
            >
              {answer === 'sending'
                ? (submit.busy ?? 'Sending…')
                : `${submit.text}${cluster.value ? ` in ${cluster.value}` : ''}`}
            </button>
          )}
        </footer>
      </form>
    </Dialog>
  );
}

/** The answer's message and Warnings. Without a code nothing was sent to the API server; code 0: no answer came. */
function AnswerMessage({ answer: { ok, message, warnings, code }, isDryRun }: { answer: Answer; isDryRun?: boolean }) {
  if (isDryRun && ok && warnings.length === 0) return null;
  const tone = !ok ? 'bad' : warnings.length > 0 ? 'held' : 'good';
  const refusal =
    code === undefined ? '' : code > 0 ? 'The API server would refuse it: ' : 'This could not be checked: ';
  return (
    <div class={`answer-message tone-${tone}`} role={isDryRun ? undefined : 'status'}>
      <Icon name={!ok ? 'failed' : warnings.length > 0 ? 'problem' : 'done'} />
      <div>
        {(!isDryRun || !ok) && (
          <p>
            {isDryRun && refusal}
            {message}
          </p>
        )}
        {warnings.map((warning) => (
          <p key={warning}>
            <Sentence text={warning} />
          </p>
        ))}
      </div>
    </div>
  );
}
