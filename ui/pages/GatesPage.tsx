/** Gates and their calendar: what is closed, by which user and until when, what is planned, and what is held. */

import { rowKey } from '../../client/board/row.ts';
import { countOf } from '../../core/text/count.ts';
import { Message } from '../elements/Message.tsx';
import { CalendarChart, gateLine, scheduleLine } from '../gates/CalendarChart.tsx';
import { FreezeDialog } from '../gates/FreezeDialog.tsx';
import { durationText, plannedFreeze } from '../gates/freeze.ts';
import { ClusterChoice } from '../parts/Choice.tsx';
import { NoneOf } from '../parts/NoneOf.tsx';
import { Until } from '../parts/Time.tsx';
import { Toggles } from '../parts/Toggles.tsx';
import { UnreadNote } from '../parts/UnreadNote.tsx';
import { isHere } from '../state/board.ts';
import { timeZone } from '../state/clock.ts';
import { linkTo, query, setQuery } from '../state/route.ts';
import { gates, schedules } from '../state/stream.ts';

const RANGES = { week: 7, month: 31 } as const;

export function GatesPage() {
  const range = query.value.range === 'month' ? 'month' : 'week';
  const all = [...gates.value.values()]
    .filter(isHere)
    .sort((a, b) => Number(a.opened) - Number(b.opened) || a.id.localeCompare(b.id));
  const planned = [...schedules.value.values()].filter(isHere).sort((a, b) => a.id.localeCompare(b.id));
  const closed = all.filter(({ opened }) => !opened);
  const sum = closed.length > 0 ? `${closed.length} of ${all.length} closed` : 'all open';
  return (
    <article>
      <header class="line page-head">
        <h1>Gates</h1>
        <span class="page-sum">
          {all.length > 0 && `${sum} · `}times in {timeZone}
        </span>
        <Toggles
          legend="How far"
          isLegendHidden
          options={[
            ['week', 'Week'],
            ['month', 'Month'],
          ]}
          isOn={(each) => each === range}
          onToggle={(each) => setQuery({ range: each === 'week' ? undefined : each })}
        />
        <ClusterChoice none="All clusters" />
        <button type="button" class="primary" onClick={() => setQuery({ do: 'freeze' })}>
          Freeze
        </button>
      </header>
      <UnreadNote of={['Gate', 'RolloutSchedule', 'ClusterRolloutSchedule']} />
      {closed.length > 0 && (
        <ul class="closed-gates">
          {closed.map(({ cluster, id, namespace, name, text, until, requiredByCount: count }) => (
            <li key={rowKey({ cluster, id })} class="card edge tone-held">
              <span class="meta">
                {cluster && `${cluster} · `}
                {namespace}/
              </span>
              <a href={linkTo.gate(id, cluster)}>{name}</a>
              <p>{text}</p>
              <small class="meta">
                {until && (
                  <>
                    until <Until time={until} />
                  </>
                )}
                {until && count !== undefined && ' · '}
                {count !== undefined && `holds ${countOf(count, 'object')}`}
              </small>
            </li>
          ))}
        </ul>
      )}
      {all.length + planned.length === 0 ? (
        <NoneOf kind="Gate" needs="the role gate-viewer">
          <Message icon="open" title="There are no Gates">
            <p>A Gate freezes Flux objects and Rollouts, until a user or the calendar opens it.</p>
          </Message>
        </NoneOf>
      ) : (
        <section class="card panel" aria-label="Calendar">
          <CalendarChart
            lines={[...all.map(gateLine), ...planned.map(scheduleLine)]}
            days={RANGES[range]}
            onPlan={(from, to) => setQuery(plannedFreeze(new Date(from), durationText(to - from)))}
          />
        </section>
      )}
      {query.value.do === 'freeze' && <FreezeDialog />}
    </article>
  );
}
