/** One Gate: is it open, who made it so and why, until when, what it holds, and the weeks to come. */
import { useEffect } from 'preact/hooks';
import type { GatePage as Data } from '../../client/board/pageMessages.ts';
import type { GateView } from '../../client/board/planViews.ts';
import { Approvals } from '../gates/Approvals.tsx';
import { Calendar, gateLine } from '../gates/Calendar.tsx';
import { Badge } from '../look/Badge.tsx';
import { Icon } from '../look/Icon.tsx';
import { Message } from '../look/Message.tsx';
import { Actions } from '../parts/Actions.tsx';
import { Sentence } from '../parts/Sentence.tsx';
import { Ago, Until } from '../parts/Time.tsx';
import { now } from '../state/clock.ts';
import { useItem } from '../state/item.ts';
import { linkTo } from '../state/route.ts';
import { api } from '../state/session.ts';
import { gates, isComplete } from '../state/stream.ts';

const LOOK_MS = 5000;

export function GatePage({ id }: { id: string }) {
  const known = gates.value.get(id);
  // Which versions wait is no part of the Gate: where people approve them it is asked for again while somebody looks.
  const look = known?.approvals ? Math.floor(now.value / LOOK_MS) : 0;
  const { value, problem } = useItem((signal) => api.gate(id, signal), known ?? isComplete.value, look);
  useEffect(() => {
    document.title = `${id.split('/')[1]} · Rollouts`;
  }, [id]);
  if (value) return <Gate data={value} />;
  if (!problem || !isComplete.value) return <div class="skeleton tall" />;
  return (
    <Message icon="search" title={`There is no Gate ${id}`}>
      <p>{problem.message}</p>
      <a href={linkTo.gates}>To the Gates</a>
    </Message>
  );
}

function Gate({ data: { gate, approvals, actions, rights } }: { data: Data }) {
  const tone = gate.opened ? 'good' : 'held';
  const facts: [string, preact.ComponentChildren][] = [
    ['Holds', gate.selects ?? 'what names it in gate.fluxcd.io/gates or spec.gates'],
    ['By default', gate.default],
    ...(gate.window ? [['A request lasts', gate.window] as [string, string]] : []),
    ...(gate.rules.length > 0
      ? [
          ['Calendar', `${gate.rules.join('; ')}${gate.timezone ? ` (${gate.timezone})` : ''}${setBy(gate)}`] as [
            string,
            string,
          ],
        ]
      : []),
  ];
  return (
    <article class="application">
      <nav class="crumbs" aria-label="Where this is">
        <a href={linkTo.gates}>Gates</a>
        <Icon name="chevron" size={12} />
        <span>{gate.namespace}</span>
      </nav>
      <header class="application-head">
        <h1>{gate.name}</h1>
        <Badge tone={tone} icon={gate.opened ? 'open' : 'closed'}>
          {gate.opened ? 'Open' : gate.openFor ? `Open for ${gate.openFor} only` : 'Closed'}
        </Badge>
      </header>
      <section class={`card banner tone-${tone}`} aria-label="State">
        <h2>
          <Sentence text={gate.message} />
        </h2>
        {gate.by && (
          <p class="banner-cause">
            by {gate.by}
            {gate.reason && `: ${gate.reason}`}, <Ago time={gate.since} />
          </p>
        )}
        {gate.stalled && <p class="banner-cause">{gate.stalled}</p>}
        <p class="banner-next">
          <Icon name="waits" />
          <span>
            <strong>Next:</strong>{' '}
            {gate.until ? (
              <>
                {gate.opened ? 'closes' : 'opens'} by itself · <Until time={gate.until} />
              </>
            ) : (
              'nothing by itself'
            )}
          </span>
        </p>
        <Actions actions={actions} rights={rights} />
      </section>
      {gate.approvals && <Approvals rule={gate.approvals.rule} approvals={approvals} />}
      <section class="card panel" aria-labelledby="calendar-title">
        <h2 id="calendar-title">The weeks to come</h2>
        <Calendar lines={[gateLine(gate)]} days={28} />
      </section>
      <section class="card panel" aria-labelledby="holds-title">
        <h2 id="holds-title">What requires it{gate.held !== undefined && ` (${gate.held})`}</h2>
        {gate.heldObjects.length === 0 ? (
          <p class="none">{gate.held === undefined ? 'The Gate has not counted yet.' : 'Nothing.'}</p>
        ) : (
          <ul class="held">
            {gate.heldObjects.map(({ kind, namespace, name }) => (
              <li key={`${kind}/${namespace}/${name}`}>
                <span>{kind}</span>
                <a href={linkTo.object({ kind, namespace, name })}>{`${namespace}/${name}`}</a>
              </li>
            ))}
            {(gate.held ?? 0) > gate.heldObjects.length && (
              <li class="none">and {(gate.held ?? 0) - gate.heldObjects.length} more</li>
            )}
          </ul>
        )}
      </section>
      <section class="card panel">
        <dl class="facts">
          {facts.map(([term, text]) => (
            <div key={term}>
              <dt>{term}</dt>
              <dd>{text}</dd>
            </div>
          ))}
        </dl>
      </section>
    </article>
  );
}

function setBy({ scheduledBy: set }: GateView): string {
  return set ? `, set by ${set.by}${set.reason ? `: ${set.reason}` : ''}` : '';
}
