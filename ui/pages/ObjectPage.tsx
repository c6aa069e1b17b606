/** Any other object of ours or of Flux's: why it is as it is, what happens by itself, and the commands that would let it go. */
import { useEffect } from 'preact/hooks';
import type { Remedy } from '../../client/explain/application.ts';
import type { Explanation } from '../../client/explain/explanation.ts';
import { Badge } from '../look/Badge.tsx';
import { Icon } from '../look/Icon.tsx';
import { Message } from '../look/Message.tsx';
import { EXPLAINED } from '../look/words.ts';
import { Command } from '../parts/Equivalent.tsx';
import { Sentence } from '../parts/Sentence.tsx';
import { Why } from '../parts/Why.tsx';
import { now } from '../state/clock.ts';
import { useItem } from '../state/item.ts';
import { api } from '../state/session.ts';
import { isComplete } from '../state/stream.ts';

/** Nothing watches these: they are asked for again while somebody looks. */
const LOOK_MS = 5000;

export function ObjectPage({ kind, id }: { kind: string; id: string }) {
  const { value, problem } = useItem((signal) => api.explanation(kind, id, signal), Math.floor(now.value / LOOK_MS));
  useEffect(() => {
    document.title = `${kind} ${id} · Rollouts`;
  }, [kind, id]);
  if (value) return <Explained explanation={value} />;
  if (!problem || !isComplete.value) return <div class="skeleton tall" />;
  return (
    <Message icon="search" title={`There is nothing to say about ${kind} ${id}`}>
      <p>{problem.message}</p>
      <a href="/">To the board</a>
    </Message>
  );
}

function Explained({ explanation }: { explanation: Explanation }) {
  const { object, headline, state, causes, next, remedies, unread } = explanation;
  const { text, icon, tone } = EXPLAINED[state];
  return (
    <article class="application">
      <nav class="crumbs" aria-label="Where this is">
        <span>{object.kind}</span>
        <Icon name="chevron" size={12} />
        <a href={`/?namespace=${object.namespace}`}>{object.namespace}</a>
      </nav>
      <header class="application-head">
        <h1>{object.name}</h1>
        <Badge tone={tone} icon={icon}>
          {text}
        </Badge>
      </header>
      <section class={`card banner tone-${tone}`} aria-label="State">
        <h2>
          <Sentence text={headline} />
        </h2>
        <Why causes={causes} next={next} unread={unread} />
      </section>
      {remedies.length > 0 && (
        <section class="card panel remedies" aria-labelledby="remedies-title">
          <h2 id="remedies-title">What you can do</h2>
          {remedies.map((remedy) => (
            <RemedyBox key={remedy.command} remedy={remedy} />
          ))}
        </section>
      )}
    </article>
  );
}

function RemedyBox({ remedy: { text, command, allowed, verb, resource, namespace, name, group } }: { remedy: Remedy }) {
  const to = group.startsWith('gating.')
    ? `/gate/${namespace}/${name}`
    : resource === 'rollouts'
      ? `/rollout/${namespace}/${name}`
      : undefined;
  return (
    <div class="remedy">
      <p>
        {to ? <a href={to}>{text}</a> : text}
        {allowed !== undefined && (
          <Badge tone={allowed ? 'good' : 'calm'} icon={allowed ? 'done' : 'closed'}>
            {allowed ? 'allowed' : `takes ${verb} on ${resource} ${namespace}/${name}`}
          </Badge>
        )}
      </p>
      <Command text={command} />
    </div>
  );
}
