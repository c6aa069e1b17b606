/** The dialog that adopts one object: the diff of the writes, the options, and the button that makes the writes. */
import { lackingText } from '../../client/actions/action.ts';
import type { AdoptPreview, AdoptRequest } from '../../client/board/adoptViews.ts';
import { fullText } from '../../core/text/commands.ts';
import { Commands } from '../parts/Commands.tsx';
import { RequestDialog } from '../parts/Dialog.tsx';
import { Field } from '../parts/Field.tsx';
import { Select } from '../parts/Select.tsx';
import { useItem, whenTyped } from '../state/item.ts';
import { linkTo, query, setQuery } from '../state/route.ts';
import { api } from '../state/session.ts';

type Choices = AdoptRequest['choices'];

interface AdoptDialogProps {
  object: Omit<AdoptRequest, 'choices'>;
  onClose: () => void;
}

export function AdoptDialog({ object, onClose }: AdoptDialogProps) {
  const { policy, variable, rollout, runs } = query.value;
  const choices: Choices = {
    ...(policy && { policy }),
    ...(variable && { variable }),
    ...(rollout && { rollout }),
    ...(runs && { runs }),
  };
  const requested: AdoptRequest = { ...object, choices };
  const { value: plans, problem } = useItem(
    whenTyped(() => api.previewAdoption(requested)),
    JSON.stringify(choices),
  );
  const plan = problem ? undefined : plans?.plan;
  const lacking = plan && plans ? lackingText(plan.needs, plans.rights) : '';
  return (
    <RequestDialog
      title={`Adopt ${object.kind} ${object.name}`}
      isWide
      text={
        plan
          ? `${plan.version} runs, and stays. Rollout ${plan.rollout} then decides which version comes next.`
          : (problem ?? plans?.problem ?? 'Checking what runs…')
      }
      submit={
        plan && {
          text: `Put under Rollout ${plan.rollout}`,
          busy: 'Waiting for the Rollout to start…',
          isReady: !lacking,
        }
      }
      send={() => api.makeAdoption(requested, plan!.diff)}
      after={plan && <a href={linkTo.rollout(`${object.namespace}/${plan.rollout}`)}>Open the Rollout</a>}
      onClose={onClose}
    >
      {plan && <Diff text={plan.diff} />}
      {plan?.notes.map((note) => (
        <p key={note.text} class="dialog-text">
          {fullText({ ...note, text: `${note.text}.` })}
        </p>
      ))}
      {plans && <Options plans={plans} choices={choices} kind={object.kind} />}
      {lacking && <p class="dialog-text">You need {lacking}. A user who has that can run the command:</p>}
      {plan && <Commands command={plan.command} kubectl={plan.kubectl} />}
    </RequestDialog>
  );
}

/** A diff. Added lines have a + as well as a colour. */
function Diff({ text }: { text: string }) {
  return (
    <section class="diff" tabIndex={0} aria-label="Changes">
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
  return line.startsWith('+') ? 'tone-good' : undefined;
}

interface OptionsProps {
  plans: AdoptPreview;
  choices: Choices;
  kind: AdoptRequest['kind'];
}

/** The options of `adopt`, unfolded if the plan needs one. */
function Options({ plans: { plan, policies, variables }, choices, kind }: OptionsProps) {
  const change = (key: keyof Choices) => (value: string) => setQuery({ [key]: value.trim() }, 'replace');
  return (
    <details class="choose" open={plan === undefined}>
      <summary>Options</summary>
      <div class="fields">
        <div class="stack field">
          <span>ImagePolicy</span>
          <Select
            label="ImagePolicy"
            value={choices.policy ?? ''}
            options={[['', 'the one that matches'], ...policies.map((name) => [name, name] as const)]}
            onChange={change('policy')}
          />
        </div>
        {kind === 'Kustomization' && (
          <Field
            label="Variable"
            list="adopt-variables"
            value={choices.variable ?? ''}
            placeholder="APP_VERSION"
            onInput={change('variable')}
          />
        )}
        <datalist id="adopt-variables">
          {variables.map((name) => (
            <option key={name} value={name} />
          ))}
        </datalist>
        <Field
          label="Name of the Rollout"
          value={choices.rollout ?? ''}
          placeholder={plan?.rollout}
          onInput={change('rollout')}
        />
        <Field
          label="Running version"
          value={choices.runs ?? ''}
          placeholder={plan?.version}
          onInput={change('runs')}
        />
      </div>
    </details>
  );
}
