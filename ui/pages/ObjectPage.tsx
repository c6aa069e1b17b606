/** Any other object of ours or of Flux's: why it is as it is, what happens by itself, and the commands that release it. */
import type { Remedy } from '../../client/explain/application.ts';
import { Badge } from '../look/Badge.tsx';
import { Panel } from '../look/Panel.tsx';
import { EXPLAINED } from '../look/words.ts';
import { Command } from '../parts/Commands.tsx';
import { Item, ItemHead } from '../parts/Item.tsx';
import { Sentence } from '../parts/Sentence.tsx';
import { Why } from '../parts/Why.tsx';
import { now } from '../state/clock.ts';
import { useItem } from '../state/item.ts';
import { linkTo } from '../state/route.ts';
import { api } from '../state/session.ts';

/** Nothing watches these: they are read again while the page is seen. */
const READ_MS = 5000;

export function ObjectPage({ kind, id }: { kind: string; id: string }) {
  const loaded = useItem((signal) => api.explanation(kind, id, signal), Math.floor(now.value / READ_MS));
  return (
    <Item loaded={loaded}>
      {({ object, headline, state, causes, next, remedies, unread }) => (
        <>
          <ItemHead
            crumbs={[[object.kind], [object.namespace, linkTo.namespace(object.namespace)]]}
            name={object.name}
            look={EXPLAINED[state]}
          />
          <section class={`card edge banner tone-${EXPLAINED[state].tone}`} aria-label="State">
            <h2>
              <Sentence text={headline} />
            </h2>
            <Why causes={causes} next={next} unread={unread} />
          </section>
          {remedies.length > 0 && (
            <Panel id="remedies" title="What you can do">
              {remedies.map((remedy) => (
                <RemedyBox key={remedy.command} remedy={remedy} />
              ))}
            </Panel>
          )}
        </>
      )}
    </Item>
  );
}

function RemedyBox({ remedy: { text, command, allowed, verb, resource, namespace, name, group } }: { remedy: Remedy }) {
  const id = `${namespace}/${name}`;
  const to = group.startsWith('gating.') ? linkTo.gate(id) : resource === 'rollouts' ? linkTo.rollout(id) : undefined;
  return (
    <div class="stack">
      <p class="line">
        {to ? <a href={to}>{text}</a> : text}
        {allowed !== undefined && (
          <Badge tone={allowed ? 'good' : 'calm'} icon={allowed ? 'done' : 'closed'}>
            {allowed ? 'allowed' : `takes ${verb} on ${resource} ${id}`}
          </Badge>
        )}
      </p>
      <Command text={command} />
    </div>
  );
}
