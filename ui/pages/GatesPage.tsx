/** Gates and calendar: what is closed, by whom and until when, what comes, and what each holds. */
import { useEffect, useState } from 'preact/hooks';
import { Calendar, gateLine, scheduleLine } from '../gates/Calendar.tsx';
import { FreezeDialog } from '../gates/FreezeDialog.tsx';
import { durationText } from '../gates/freeze.ts';
import { Message } from '../look/Message.tsx';
import { Sentence } from '../parts/Sentence.tsx';
import { Unread } from '../parts/Unread.tsx';
import { linkTo, query, setQuery } from '../state/route.ts';
import { gates, isComplete, kinds, schedules } from '../state/stream.ts';

const RANGES = { week: 7, month: 31 } as const;

export function GatesPage() {
  const [planning, setPlanning] = useState<{ planned?: { from: string; lasts: string } } | undefined>();
  const range = query.value.get('range') === 'month' ? 'month' : 'week';
  useEffect(() => {
    document.title = 'Gates · Rollouts';
  }, []);
  const all = [...gates.value.values()].sort((a, b) => Number(a.opened) - Number(b.opened) || a.id.localeCompare(b.id));
  const planned = [...schedules.value.values()].sort((a, b) => a.id.localeCompare(b.id));
  const closed = all.filter(({ opened }) => !opened);
  return (
    <article class="gates">
      <header class="page-head">
        <h1>Gates</h1>
        <span class="page-sum">
          {closed.length === 0 ? (all.length > 0 ? 'all open' : '') : `${closed.length} of ${all.length} closed`}
        </span>
        <fieldset class="segments">
          <legend class="hidden">How far</legend>
          {(['week', 'month'] as const).map((each) => (
            <button
              key={each}
              type="button"
              aria-pressed={each === range}
              onClick={() => setQuery({ range: each === 'week' ? undefined : each })}
            >
              {each === 'week' ? 'Week' : 'Month'}
            </button>
          ))}
        </fieldset>
        <button type="button" class="primary" onClick={() => setPlanning({})}>
          Freeze
        </button>
      </header>
      <Unread of={['Gate', 'RolloutSchedule', 'ClusterRolloutSchedule']} />
      {closed.length > 0 && (
        <ul class="closed-gates">
          {closed.map(({ id, name, message, by, reason, held, rules }) => (
            <li key={id} class="card tone-held">
              <a href={linkTo.gate(id)}>{name}</a>
              <p>
                {by
                  ? `${by}${reason ? `: ${reason}` : ''}`
                  : (reason ?? (rules.length > 0 ? 'by its calendar' : 'by default'))}
              </p>
              <small>
                <Sentence text={message} />
                {held !== undefined && ` · holds ${held}`}
              </small>
            </li>
          ))}
        </ul>
      )}
      {all.length + planned.length === 0 ? (
        <NoGates />
      ) : (
        <section class="card panel" aria-label="Calendar">
          <Calendar
            lines={[...all.map(gateLine), ...planned.map(scheduleLine)]}
            days={RANGES[range]}
            onPlan={(from, to) =>
              setPlanning({
                planned: { from: `${new Date(from).toISOString().slice(0, 19)}Z`, lasts: durationText(to - from) },
              })
            }
          />
        </section>
      )}
      {planning && <FreezeDialog planned={planning.planned} onClose={() => setPlanning(undefined)} />}
    </article>
  );
}

function NoGates() {
  const state = kinds.value.find(({ kind }) => kind === 'Gate');
  if (!isComplete.value || state?.state === 'loading') {
    return (
      <div class="loading">
        <div class="skeleton" />
        <div class="skeleton" />
      </div>
    );
  }
  if (state?.state === 'forbidden') {
    return (
      <Message icon="closed" tone="held" title="You may not see Gates">
        <p>{state.why}</p>
        <p>Whoever manages the cluster can bind the role `gate-viewer` to you.</p>
      </Message>
    );
  }
  return (
    <Message icon="open" title="There are no Gates">
      <p>A Gate freezes Flux objects and Rollouts for everybody, until somebody opens it or by the calendar.</p>
    </Message>
  );
}
