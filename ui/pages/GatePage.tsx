/** One Gate: open or closed, by which user and why, until when, what it holds, and the coming weeks. */

import { withOwnApprovals } from '../../client/actions/ownApprovals.ts';
import type { GatePageData } from '../../client/board/pageMessages.ts';
import type { GateView } from '../../client/board/planViews.ts';
import { rowKey } from '../../client/board/row.ts';
import { Approvals } from '../gates/Approvals.tsx';
import { CalendarChart, gateLine } from '../gates/CalendarChart.tsx';
import { Panel } from '../look/Panel.tsx';
import { ActionDialog } from '../parts/ActionDialog.tsx';
import { Actions } from '../parts/Actions.tsx';
import { Item, ItemHead } from '../parts/Item.tsx';
import { Sentence } from '../parts/Sentence.tsx';
import { Ago } from '../parts/Time.tsx';
import { Why } from '../parts/Why.tsx';
import { now } from '../state/clock.ts';
import { cluster } from '../state/cluster.ts';
import { useItem } from '../state/item.ts';
import { linkTo } from '../state/route.ts';
import { api } from '../state/session.ts';
import { gates, hello, isComplete } from '../state/stream.ts';

const READ_MS = 5000;

export function GatePage({ id }: { id: string }) {
  const known = gates.value.get(rowKey({ cluster: cluster.value, id }));
  // The stream doesn't have the versions that wait for approval: they are read at an interval.
  const tick = known?.approvals ? Math.floor(now.value / READ_MS) : 0;
  const loaded = useItem((signal) => api.gate(id, signal), known ?? isComplete.value, tick);
  return <Item loaded={loaded}>{(data) => <Gate data={data} />}</Item>;
}

function Gate({ data: { gate, approvals, actions: offered, rights } }: { data: GatePageData }) {
  const actions = withOwnApprovals(offered, hello.value?.user);
  const { namespace, name, opened, openFor, message, by, reason, since, until, stalled, held, heldObjects } = gate;
  const tone = opened ? 'good' : 'held';
  const text = opened ? 'Open' : openFor ? `Open for ${openFor} only` : 'Closed';
  const next = {
    text: until ? `it ${opened ? 'closes' : 'opens'} automatically` : 'no automatic change',
    ...(until && { at: until }),
  };
  return (
    <>
      <ItemHead
        crumbs={[['Gates', linkTo.gates], [namespace]]}
        name={name}
        look={{ tone, icon: opened ? 'open' : 'closed', text }}
      />
      <ActionDialog find={(id) => actions.find((action) => action.id === id)} rights={rights} />
      <section class={`card edge banner tone-${tone}`} aria-label="State">
        <h2>
          <Sentence text={message} />
        </h2>
        {by && (
          <p class="banner-cause">
            by {by}
            {reason && `: ${reason}`}, <Ago time={since} />
          </p>
        )}
        <Why causes={stalled ? [{ code: '', text: stalled }] : []} next={next} unread={[]} />
        <Actions actions={actions} rights={rights} />
      </section>
      {gate.approvals && <Approvals rule={gate.approvals.rule} approvals={approvals} />}
      <Panel id="calendar" title="Upcoming">
        <CalendarChart lines={[gateLine(gate)]} days={28} />
      </Panel>
      <Panel id="holds" title={`What requires it${held === undefined ? '' : ` (${held})`}`}>
        {heldObjects.length === 0 && (
          <p class="meta">{held === undefined ? 'Not counted yet.' : held ? 'Not listed.' : 'Nothing.'}</p>
        )}
        <ul class="line held">
          {heldObjects.map((object) => (
            <li key={`${object.kind}/${object.namespace}/${object.name}`}>
              <span>{object.kind}</span>
              <a href={linkTo.object(object)}>{`${object.namespace}/${object.name}`}</a>
            </li>
          ))}
          {heldObjects.length > 0 && (held ?? 0) > heldObjects.length && (
            <li class="meta">and {(held ?? 0) - heldObjects.length} more</li>
          )}
        </ul>
      </Panel>
      <section class="card panel">
        <dl class="facts">
          {factsOf(gate).map(([term, fact]) => (
            <div key={term}>
              <dt>{term}</dt>
              <dd>{fact}</dd>
            </div>
          ))}
        </dl>
      </section>
    </>
  );
}

function factsOf({ selects, default: byDefault, window, rules, timezone, scheduledBy: set }: GateView): string[][] {
  const zone = timezone ? ` (${timezone})` : '';
  const setBy = set ? `, set by ${set.by}${set.reason ? `: ${set.reason}` : ''}` : '';
  return [
    ['Holds', selects ?? 'objects that name it in gate.fluxcd.io/gates or spec.gates'],
    ['By default', byDefault],
    ...(window ? [['A request lasts', window]] : []),
    ...(rules.length > 0 ? [['Calendar', `${rules.join('; ')}${zone}${setBy}`]] : []),
  ];
}
