/** A freeze, from scratch: what, when, why; what it would hold; then the request. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Answer, Preview } from '../../client/board/pageMessages.ts';
import { Icon } from '../look/Icon.tsx';
import { Said } from '../parts/ActionDialog.tsx';
import { Equivalent } from '../parts/Equivalent.tsx';
import { namespaces } from '../state/board.ts';
import { api } from '../state/session.ts';
import { gates, hello } from '../state/stream.ts';
import { DAYS, emptyFreeze, type Freeze, KINDS, lacking, nameOf, requestOf } from './freeze.ts';

const LOOK_MS = 350;

interface FreezeDialogProps {
  planned?: { from: string; lasts: string } | undefined;
  onClose: () => void;
}

export function FreezeDialog({ planned, onClose }: FreezeDialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const home = hello.value?.namespace ?? hello.value?.home ?? namespaces.value[0] ?? 'default';
  const [freeze, setFreeze] = useState<Freeze>({
    ...emptyFreeze(home),
    ...(planned && { when: 'planned', ...planned }),
  });
  const [preview, setPreview] = useState<Preview | undefined>();
  const [answer, setAnswer] = useState<Answer | 'sending' | undefined>();
  const change = (changes: Partial<Freeze>) => setFreeze({ ...freeze, ...changes });
  const name = nameOf(freeze, (id) => gates.value.has(id));
  const request = requestOf(freeze, name);
  const lacks = lacking(freeze);
  useEffect(() => element.current?.showModal(), []);
  useEffect(() => {
    setPreview(undefined);
    if (lacks) return;
    const timer = setTimeout(() => void api.preview(request).then(setPreview, () => {}), LOOK_MS);
    return () => clearTimeout(timer);
  }, [JSON.stringify(request)]);
  const submit = async (event: Event) => {
    event.preventDefault();
    if (lacks || answer === 'sending') return;
    setAnswer('sending');
    setAnswer(await api.act(request).catch((error: Error) => ({ ok: false, message: error.message, warnings: [] })));
  };
  const isDone = typeof answer === 'object' && answer.ok;
  return (
    <dialog ref={element} class="dialog" onClose={onClose} aria-labelledby="freeze-title">
      <form method="dialog" onSubmit={submit}>
        <header>
          <h2 id="freeze-title">Freeze</h2>
          <button type="button" class="quiet" onClick={onClose} aria-label="Close">
            <Icon name="close" />
          </button>
        </header>
        <p class="dialog-text">
          A new Gate that holds what it selects. What runs goes on running; nothing of it changes while the Gate is
          closed.
        </p>
        {!isDone && <Form freeze={freeze} change={change} name={name} />}
        {lacks && !isDone && <p class="dialog-text">{lacks}</p>}
        {!isDone && <Holds preview={preview} isComing={!lacks} />}
        {!isDone && <Equivalent request={request} />}
        {preview && !answer && <Said answer={preview.answer} isDryRun />}
        {typeof answer === 'object' && <Said answer={answer} />}
        <footer>
          <button type="button" onClick={onClose}>
            {isDone ? 'Done' : 'Cancel'}
          </button>
          {!isDone && (
            <button type="submit" class="primary" disabled={lacks !== undefined || answer === 'sending'}>
              {answer === 'sending' ? 'Asking…' : `Freeze ${freeze.namespace}`}
            </button>
          )}
        </footer>
      </form>
    </dialog>
  );
}

interface FormProps {
  freeze: Freeze;
  change: (changes: Partial<Freeze>) => void;
  name: string;
}

function Form({ freeze, change, name }: FormProps) {
  const { when, kinds, days, namespace } = freeze;
  const toggle = (list: readonly string[], each: string) =>
    list.includes(each) ? list.filter((other) => other !== each) : [...list, each];
  const known = [
    ...new Set([namespace, ...namespaces.value, ...[...gates.value.values()].map((gate) => gate.namespace)]),
  ].sort();
  return (
    <>
      <fieldset class="choices">
        <legend>When</legend>
        <Toggle on={when === 'now'} text="Now" onClick={() => change({ when: 'now' })} />
        <Toggle on={when === 'planned'} text="Planned" onClick={() => change({ when: 'planned' })} />
        <Toggle on={when === 'weekly'} text="Every week" onClick={() => change({ when: 'weekly' })} />
      </fieldset>
      <label class="field">
        <span>Reason</span>
        <input
          value={freeze.reason}
          aria-label="Reason"
          maxLength={500}
          placeholder="INC-42"
          onInput={(event) => change({ reason: event.currentTarget.value })}
        />
      </label>
      <div class="fields">
        {when === 'planned' && (
          <label class="field">
            <span>From</span>
            <input
              type="datetime-local"
              aria-label="From"
              value={localOf(freeze.from)}
              onInput={(event) => change({ from: instantOf(event.currentTarget.value) })}
            />
          </label>
        )}
        {when !== 'weekly' && (
          <label class="field">
            <span>For</span>
            <input
              value={freeze.lasts}
              aria-label="For"
              placeholder="until somebody opens it"
              onInput={(event) => change({ lasts: event.currentTarget.value.trim() })}
            />
          </label>
        )}
        <label class="field">
          <span>Namespace</span>
          <select
            value={namespace}
            aria-label="Namespace of the freeze"
            onChange={(event) => change({ namespace: event.currentTarget.value })}
          >
            {known.map((each) => (
              <option key={each} value={each}>
                {each}
              </option>
            ))}
          </select>
        </label>
        <label class="field">
          <span>Name of the Gate</span>
          <input
            value={freeze.name}
            aria-label="Name of the Gate"
            placeholder={name}
            onInput={(event) => change({ name: event.currentTarget.value.trim() })}
          />
        </label>
      </div>
      {when === 'weekly' && (
        <fieldset class="choices">
          <legend>Days, {freeze.timezone}</legend>
          {DAYS.map((day) => (
            <Toggle key={day} on={days.includes(day)} text={day} onClick={() => change({ days: toggle(days, day) })} />
          ))}
        </fieldset>
      )}
      <fieldset class="choices">
        <legend>What is held</legend>
        {KINDS.map((kind) => (
          <Toggle
            key={kind}
            on={kinds.includes(kind)}
            text={`${kind}s`}
            onClick={() => change({ kinds: toggle(kinds, kind) })}
          />
        ))}
      </fieldset>
    </>
  );
}

function Toggle({ on, text, onClick }: { on: boolean; text: string; onClick: () => void }) {
  return (
    <button type="button" aria-pressed={on} onClick={onClick}>
      {text}
    </button>
  );
}

function Holds({ preview, isComing }: { preview: Preview | undefined; isComing: boolean }) {
  if (!isComing) return null;
  return (
    <div class="holds" aria-live="polite">
      {preview ? (
        <>
          <strong>
            {preview.count === 0 ? 'It would hold nothing that is there now.' : `It would hold ${preview.count}:`}
          </strong>
          <ul>
            {preview.objects.map(({ kind, namespace, name }) => (
              <li key={`${kind}/${namespace}/${name}`}>
                {kind} {namespace}/{name}
              </li>
            ))}
          </ul>
          {preview.unread.map((text) => (
            <p key={text}>Could not be read: {text}</p>
          ))}
        </>
      ) : (
        'Looking what it would hold…'
      )}
    </div>
  );
}

/** As the field of the browser has it: by this machine's clock, without a zone. */
function localOf(time: string | undefined): string {
  if (!time) return '';
  const date = new Date(time);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

function instantOf(local: string): string {
  const date = new Date(local);
  return Number.isNaN(date.getTime()) ? '' : `${date.toISOString().slice(0, 19)}Z`;
}
