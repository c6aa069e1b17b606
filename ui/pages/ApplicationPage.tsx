/** One application: what waits and why, who can do what about it, the way of a release, and every deployment there was. */
import { useComputed } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';
import type { ApplicationPage as Data } from '../../client/board/pageMessages.ts';
import { trackOf } from '../../client/board/row.ts';
import { History } from '../application/History.tsx';
import { Releases } from '../application/Releases.tsx';
import { Story } from '../application/Story.tsx';
import { Timeline } from '../application/Timeline.tsx';
import { Badge } from '../look/Badge.tsx';
import { Icon } from '../look/Icon.tsx';
import { Message } from '../look/Message.tsx';
import { STATES } from '../look/words.ts';
import { Actions } from '../parts/Actions.tsx';
import { Track, trackText } from '../parts/Track.tsx';
import { Why } from '../parts/Why.tsx';
import { now } from '../state/clock.ts';
import { useItem } from '../state/item.ts';
import { api } from '../state/session.ts';
import { isComplete, rows } from '../state/stream.ts';

/** No row has the measurements of HealthChecks: those of a fleet would be too much for the stream. It is the least interval of a measurement. */
const CHECKED_MS = 10_000;

export function ApplicationPage({ id }: { id: string }) {
  const row = rows.value.get(id);
  const [isChecked, setChecked] = useState(false);
  const tick = useComputed(() => Math.floor(now.value / CHECKED_MS)).value;
  const load = (signal: AbortSignal) => api.application(id, signal);
  const { value, problem } = useItem(load, row ?? isComplete.value, isChecked && tick);
  useEffect(() => setChecked(value?.application.steps.some(({ kind }) => kind === 'check') ?? false), [value]);
  useEffect(() => {
    document.title = `${id.split('/')[1]} · Rollouts`;
  }, [id]);
  if (!value) {
    if (!problem || !isComplete.value)
      return (
        <div class="loading">
          <div class="skeleton tall" />
          <div class="skeleton tall" />
        </div>
      );
    return (
      <Message icon="search" title={`There is no Rollout ${id}`}>
        <p>{problem.message}</p>
        <a href="/">To the board</a>
      </Message>
    );
  }
  return <Application data={value} />;
}

function Application({ data }: { data: Data }) {
  const { application, rights, releases } = data;
  const { namespace, name, state, title, description, pinned, labels } = application;
  const look = STATES[state];
  return (
    <article class="application">
      <nav class="crumbs" aria-label="Where this is">
        <a href="/">Board</a>
        <Icon name="chevron" size={12} />
        <a href={`/?namespace=${namespace}`}>{namespace}</a>
      </nav>
      <header class="application-head">
        <h1>{name}</h1>
        <Badge tone={look.tone} icon={look.icon}>
          {look.text}
        </Badge>
        {pinned && (
          <Badge tone="calm" icon="pin">
            pinned to {pinned}
          </Badge>
        )}
        <span class="application-title">
          {title ??
            description ??
            Object.entries(labels)
              .map(([key, value]) => `${key}=${value}`)
              .join('  ')}
        </span>
      </header>
      <Banner data={data} />
      <section class="card panel" aria-labelledby="story-title">
        <h2 id="story-title">The way of a release</h2>
        <Story application={application} />
      </section>
      <section class="card panel" aria-labelledby="time-title">
        <h2 id="time-title">Deployments over time</h2>
        <Timeline history={application.history} />
      </section>
      <section class="card panel" aria-labelledby="history-title">
        <h2 id="history-title">
          <a id="history" href="#history" class="anchor">
            History
          </a>
        </h2>
        <History application={application} rights={rights} />
      </section>
      <Releases application={application} releases={releases} rights={rights} />
    </article>
  );
}

/** What there is to know at 3 a.m., in the words of the conditions, and what can be done about it. */
function Banner({ data: { application, actions, rights } }: { data: Data }) {
  const { state, headline, causes, next, unread } = application;
  const track = trackOf(application);
  const isQuiet = state === 'done' && causes.length === 0;
  return (
    <section class={`card banner tone-${STATES[state].tone}${isQuiet ? ' quiet-banner' : ''}`} aria-label="State">
      <div class="banner-head">
        <h2>{headline}</h2>
        {track && (
          <div class="banner-track">
            <Track track={track} />
            <span>{trackText(track, now.value)}</span>
          </div>
        )}
      </div>
      <Why causes={causes} next={next} unread={unread} />
      <Actions actions={actions} rights={rights} />
    </section>
  );
}
