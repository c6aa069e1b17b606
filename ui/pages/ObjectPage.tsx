/** The page of any other object: its explanation, commands, conditions, Events, applied objects and YAML. */
import type { CommandView } from '../../client/explain/application.ts';
import type { ObjectDetails } from '../../client/explain/objectDetails.ts';
import { Badge } from '../look/Badge.tsx';
import { Panel } from '../look/Panel.tsx';
import { EXPLAINED } from '../look/words.ts';
import { Command } from '../parts/Commands.tsx';
import { Item, ItemHead } from '../parts/Item.tsx';
import { Sentence } from '../parts/Sentence.tsx';
import { Ago } from '../parts/Time.tsx';
import { Why } from '../parts/Why.tsx';
import { now } from '../state/clock.ts';
import { useItem } from '../state/item.ts';
import { linkTo } from '../state/route.ts';
import { api } from '../state/session.ts';

/** The interval of reads: these objects aren't watched. */
const READ_MS = 5000;

export function ObjectPage({ kind, id }: { kind: string; id: string }) {
  const loaded = useItem((signal) => api.explanation(kind, id, signal), Math.floor(now.value / READ_MS));
  return (
    <Item loaded={loaded}>
      {({ object, headline, state, causes, next, commands, unread, details, yaml }) => (
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
            <Facts details={details} />
          </section>
          {commands.length > 0 && (
            <Panel id="commands" title="What you can do">
              <div class="stack">
                {commands.map((view) => (
                  <CommandBox key={view.command} view={view} />
                ))}
              </div>
            </Panel>
          )}
          <Details details={details} />
          <section class="card panel">
            <details>
              <summary>YAML</summary>
              <section class="yaml" tabIndex={0} aria-label="YAML">
                <pre>{yaml}</pre>
              </section>
            </details>
          </section>
        </>
      )}
    </Item>
  );
}

function CommandBox({ view: { text, command, allowed, lacks, rights } }: { view: CommandView }) {
  const { group, resource, namespace, name } = rights[0]!;
  const id = `${namespace}/${name}`;
  const to = group.startsWith('gating.') ? linkTo.gate(id) : resource === 'rollouts' ? linkTo.rollout(id) : undefined;
  return (
    <div class="stack">
      <p class="line">
        {to ? <a href={to}>{text}</a> : text}
        {allowed !== undefined && (
          <Badge tone={allowed ? 'good' : 'calm'} icon={allowed ? 'done' : 'closed'}>
            {allowed ? 'allowed' : `needs ${lacks}`}
          </Badge>
        )}
      </p>
      <Command text={command} />
    </div>
  );
}

function Facts({ details: { rollouts, revision } }: { details: ObjectDetails }) {
  if (rollouts.length === 0 && !revision) return null;
  return (
    <dl class="facts">
      {rollouts.length > 0 && (
        <div>
          <dt>Its version comes from</dt>
          <dd class="line">
            {rollouts.map(({ namespace, name }) => (
              <a key={name} href={linkTo.rollout(`${namespace}/${name}`)}>
                Rollout {name}
              </a>
            ))}
          </dd>
        </div>
      )}
      {revision && (
        <div>
          <dt>Revision</dt>
          <dd>{revision}</dd>
        </div>
      )}
    </dl>
  );
}

function Details({ details: { conditions, events, inventory, inventoryCount = 0 } }: { details: ObjectDetails }) {
  return (
    <>
      <Panel id="conditions" title="Conditions">
        {conditions.length === 0 ? (
          <p class="meta">None.</p>
        ) : (
          <Table label="Every condition" heads={['Condition', 'Status', 'Since', 'Message']}>
            {conditions.map(({ type, status, reason, message = '', since }) => (
              <tr key={type}>
                <td>{type}</td>
                <td>{status}</td>
                <td>
                  <Ago time={since} />
                </td>
                <td class="history-why">
                  <Sentence text={message} />
                  {reason && <small class="meta">{reason}</small>}
                </td>
              </tr>
            ))}
          </Table>
        )}
      </Panel>
      <Panel id="events" title="Events">
        {events === undefined && <p class="meta">You aren't allowed to list Events here: you need list on events.</p>}
        {events?.length === 0 && <p class="meta">None: the API server deletes them after an hour by default.</p>}
        {events && events.length > 0 && (
          <Table label="Every Event" heads={['Event', 'Type', 'When', 'Message']}>
            {events.map(({ isWarning, reason, message, at, count, by }, index) => (
              <tr key={`${at} ${reason} ${index}`}>
                <td>{reason}</td>
                <td>{isWarning ? <Badge tone="held">Warning</Badge> : 'Normal'}</td>
                <td>
                  <Ago time={at} />
                  {count && <small class="meta">{count} times</small>}
                </td>
                <td class="history-why">
                  <Sentence text={message} />
                  {by && <small class="meta">by {by}</small>}
                </td>
              </tr>
            ))}
          </Table>
        )}
      </Panel>
      {inventory && (
        <Panel id="inventory" title={`Applied objects (${inventoryCount})`}>
          <ul class="line held">
            {inventory.map(({ kind, namespace, name, isKnown }) => (
              <li key={`${kind}/${namespace}/${name}`}>
                <span>{kind}</span>
                {isKnown && namespace ? (
                  <a href={linkTo.object({ kind, namespace, name })}>{`${namespace}/${name}`}</a>
                ) : (
                  <b>{namespace ? `${namespace}/${name}` : name}</b>
                )}
              </li>
            ))}
            {inventoryCount > inventory.length && <li class="meta">and {inventoryCount - inventory.length} more</li>}
          </ul>
        </Panel>
      )}
    </>
  );
}

interface TableProps {
  label: string;
  heads: readonly string[];
  children: preact.ComponentChildren;
}

function Table({ label, heads, children }: TableProps) {
  return (
    <section class="table-scroll" tabIndex={0} aria-label={label}>
      <table class="history">
        <thead>
          <tr>
            {heads.map((head) => (
              <th key={head} scope="col">
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </section>
  );
}
