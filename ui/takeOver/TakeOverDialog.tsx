/** One object to be put under a Rollout: what would be written, as a diff; what may be chosen; then the writes. */

import { useEffect, useRef, useState } from 'preact/hooks';
import { rightKey } from '../../client/actions/action.ts';
import type { AdoptPreview, AdoptRequest } from '../../client/board/adoptViews.ts';
import type { Answer } from '../../client/board/pageMessages.ts';
import { inFull } from '../../core/text/commands.ts';
import { Icon } from '../look/Icon.tsx';
import { Said } from '../parts/ActionDialog.tsx';
import { Commands } from '../parts/Equivalent.tsx';
import { linkTo } from '../state/route.ts';
import { api } from '../state/session.ts';

const LOOK_MS = 250;

type Choices = AdoptRequest['choices'];

interface TakeOverDialogProps {
  object: Omit<AdoptRequest, 'choices'>;
  onClose: () => void;
}

export function TakeOverDialog({ object, onClose }: TakeOverDialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const [choices, setChoices] = useState<Choices>({});
  const [look, setLook] = useState<AdoptPreview | undefined>();
  const [answer, setAnswer] = useState<Answer | 'sending' | undefined>();
  const requested: AdoptRequest = { ...object, choices };
  useEffect(() => element.current?.showModal(), []);
  useEffect(() => {
    const failed = ({ message }: Error) => setLook({ problem: message, rights: {}, policies: [], variables: [] });
    let isOld = false;
    const timer = setTimeout(
      () => void api.takeOverLook(requested).then((found) => !isOld && setLook(found), failed),
      look ? LOOK_MS : 0,
    );
    return () => {
      isOld = true;
      clearTimeout(timer);
    };
  }, [JSON.stringify(choices)]);
  const plan = look?.plan;
  const lacking = plan?.needs.filter((right) => look?.rights[rightKey(right)] !== true) ?? [];
  const isReady = plan !== undefined && lacking.length === 0 && answer !== 'sending';
  const isDone = typeof answer === 'object' && answer.ok;
  const submit = async (event: Event) => {
    event.preventDefault();
    if (!isReady) return;
    setAnswer('sending');
    const made = api.takeOverMake(requested, plan.diff);
    setAnswer(await made.catch((error: Error) => ({ ok: false, message: error.message, warnings: [] })));
  };
  return (
    <dialog ref={element} class="dialog wide" onClose={onClose} aria-labelledby="take-over-title">
      <form method="dialog" onSubmit={submit}>
        <header>
          <h2 id="take-over-title">
            Take over {object.kind} {object.name}
          </h2>
          <button type="button" class="quiet" onClick={onClose} aria-label="Close">
            <Icon name="close" />
          </button>
        </header>
        {!isDone && (
          <>
            <p class="dialog-text">
              {plan
                ? `${plan.version} runs, and stays. From then on Rollout ${plan.rollout} decides what comes next.`
                : (look?.problem ?? 'Looking what runs…')}
            </p>
            {plan && <Diff text={plan.diff} />}
            {plan?.notes.map((note) => (
              <p key={note.text} class="dialog-text">
                {inFull({ ...note, text: `${note.text}.` })}
              </p>
            ))}
            {look && <Choose look={look} choices={choices} setChoices={setChoices} kind={object.kind} />}
            {lacking.length > 0 && (
              <p class="dialog-text">
                It takes{' '}
                {lacking
                  .map(({ verb, resource, namespace, name }) => `${verb} on ${resource} ${namespace}/${name || '*'}`)
                  .join(' and ')}
                , which you may not. Whoever may can run the command:
              </p>
            )}
            {plan && <Commands command={plan.command} kubectl={plan.kubectl} />}
          </>
        )}
        {typeof answer === 'object' && <Said answer={answer} />}
        <footer>
          {isDone && plan && <a href={linkTo.rollout(`${object.namespace}/${plan.rollout}`)}>See what it does</a>}
          <button type="button" onClick={onClose}>
            {isDone ? 'Done' : 'Cancel'}
          </button>
          {!isDone && plan && (
            <button type="submit" class="primary" disabled={!isReady}>
              {answer === 'sending' ? 'Waiting for the Rollout to begin…' : `Put under Rollout ${plan.rollout}`}
            </button>
          )}
        </footer>
      </form>
    </dialog>
  );
}

/** Lines of a diff; what is added has a + as well as a colour. */
function Diff({ text }: { text: string }) {
  return (
    <section class="diff" tabIndex={0} aria-label="What would be written">
      <pre>
        {text.split('\n').map((line, index) => (
          <span key={index} class={lineClass(line)}>
            {`${line}\n`}
          </span>
        ))}
      </pre>
    </section>
  );
}

function lineClass(line: string): string | undefined {
  if (/^(---|\+\+\+) /.test(line)) return 'diff-head';
  return line.startsWith('+') ? 'diff-added' : undefined;
}

interface ChooseProps {
  look: AdoptPreview;
  choices: Choices;
  setChoices: (choices: Choices) => void;
  kind: AdoptRequest['kind'];
}

/** What `adopt` takes as options. Open where nothing was found without. */
function Choose({ look, choices, setChoices, kind }: ChooseProps) {
  const change = (key: keyof Choices) => (event: Event) => {
    const { value } = event.currentTarget as HTMLInputElement | HTMLSelectElement;
    setChoices({ ...choices, [key]: value.trim() || undefined });
  };
  return (
    <details class="choose" open={look.plan === undefined}>
      <summary>Something else is meant</summary>
      <div class="fields">
        <label class="field">
          <span>ImagePolicy</span>
          <select aria-label="ImagePolicy" value={choices.policy ?? ''} onChange={change('policy')}>
            <Options names={look.policies} />
          </select>
        </label>
        {kind === 'Kustomization' && (
          <label class="field">
            <span>Variable</span>
            <input
              aria-label="Variable"
              list="take-over-variables"
              value={choices.variable ?? ''}
              placeholder="APP_VERSION"
              onInput={change('variable')}
            />
            <datalist id="take-over-variables">
              {look.variables.map((name) => (
                <option key={name} value={name} />
              ))}
            </datalist>
          </label>
        )}
        <label class="field">
          <span>Name of the Rollout</span>
          <input
            aria-label="Name of the Rollout"
            value={choices.rollout ?? ''}
            placeholder={look.plan?.rollout}
            onInput={change('rollout')}
          />
        </label>
        <label class="field">
          <span>The version that runs</span>
          <input
            aria-label="The version that runs"
            value={choices.runs ?? ''}
            placeholder={look.plan?.version}
            onInput={change('runs')}
          />
        </label>
      </div>
    </details>
  );
}

function Options({ names }: { names: readonly string[] }) {
  return (
    <>
      <option value="">the one that fits</option>
      {names.map((name) => (
        <option key={name} value={name}>
          {name}
        </option>
      ))}
    </>
  );
}
