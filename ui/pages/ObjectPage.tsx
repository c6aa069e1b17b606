/** The page of any object but a Rollout: its explanation, actions, conditions, Events, applied objects and YAML. */
import { withOwnApprovals } from '../../client/actions/ownApprovals.ts';
import type { ObjectPageData } from '../../client/board/pageMessages.ts';
import type { GateView } from '../../client/board/planViews.ts';
import { rowKey } from '../../client/board/row.ts';
import type { ObjectDetails } from '../../client/explain/objectDetails.ts';
import { Badge } from '../elements/Badge.tsx';
import { Panel } from '../elements/Panel.tsx';
import { Table } from '../elements/Table.tsx';
import { explainedLook } from '../elements/words.ts';
import { Approvals } from '../gates/Approvals.tsx';
import { GatePanels, gateLook } from '../gates/GatePanels.tsx';
import { ActionDialog } from '../parts/ActionDialog.tsx';
import { Actions } from '../parts/Actions.tsx';
import { Facts } from '../parts/Facts.tsx';
import { Item, ItemHead } from '../parts/Item.tsx';
import { ObjectList } from '../parts/ObjectList.tsx';
import { Sentence } from '../parts/Sentence.tsx';
import { Ago } from '../parts/Time.tsx';
import { Why } from '../parts/Why.tsx';
import { now } from '../state/clock.ts';
import { cluster } from '../state/cluster.ts';
import { useItem } from '../state/item.ts';
import { linkTo } from '../state/route.ts';
import { api } from '../state/session.ts';
import { gates, hello } from '../state/stream.ts';

/** The interval of reads: most of these objects aren't watched. */
const READ_MS = 5000;

export function ObjectPage({ kind, id }: { kind: string; id: string }) {
  const gate = kind === 'gate' ? gates.value.get(rowKey({ cluster: cluster.value, id })) : undefined;
  const loaded = useItem((signal) => api.object(kind, id, signal), gate, Math.floor(now.value / READ_MS));
  return <Item loaded={loaded}>{(data) => <One data={data} gate={gate} />}</Item>;
}

/** `gate`: set if the object is a Gate in the stream. */
function One({ data, gate }: { data: ObjectPageData; gate: GateView | undefined }) {
  const { object, headline, state, causes, next, unread, details, yaml, rights, approvals } = data;
  const actions = withOwnApprovals(data.actions, hello.value?.user, Date.now());
  const look = gate ? gateLook(gate) : explainedLook(object.kind, state);
  const crumbs: [string, string?][] =
    object.kind === 'Gate'
      ? [['Gates', linkTo.gates], [object.namespace]]
      : [[object.kind], [object.namespace, linkTo.namespace(object.namespace)]];
  return (
    <>
      <ItemHead crumbs={crumbs} name={object.name} look={look} />
      <ActionDialog find={(id) => actions.find((action) => action.id === id)} rights={rights} />
      <section class={`card edge stack banner tone-${look.tone}`} aria-label="State">
        <h2 class={object.kind === 'RolloutGate' ? undefined : 'begins-with-word'}>
          <Sentence text={headline} />
        </h2>
        <Why causes={causes} next={next} unread={unread} />
        <Facts facts={factsOf(details)} />
        <Actions actions={actions} rights={rights} />
      </section>
      {gate?.approvalRule && <Approvals rule={gate.approvalRule} approvals={approvals} />}
      {gate && <GatePanels gate={gate} />}
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
  );
}

function factsOf({ rollouts, revision }: ObjectDetails): [string, preact.ComponentChildren][] {
  const links = rollouts.map(({ namespace, name }) => (
    <a key={name} href={linkTo.rollout(`${namespace}/${name}`)}>
      Rollout {name}
    </a>
  ));
  return [
    ...(links.length > 0 ? [['Version from', links] as [string, preact.ComponentChildren]] : []),
    ...(revision ? [['Revision', revision] as [string, string]] : []),
  ];
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
          <ObjectList objects={inventory} count={inventoryCount} />
        </Panel>
      )}
    </>
  );
}
