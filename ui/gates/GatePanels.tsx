/** The panels that only the page of a Gate has: the coming weeks, the objects that require it, and its settings. */
import type { GateView } from '../../client/board/planViews.ts';
import { Panel } from '../elements/Panel.tsx';
import type { Look } from '../elements/words.ts';
import { Facts } from '../parts/Facts.tsx';
import { ObjectList } from '../parts/ObjectList.tsx';
import { Ago } from '../parts/Time.tsx';
import { CalendarChart, gateLine } from './CalendarChart.tsx';

export function gateLook({ opened, openFor }: GateView): Look {
  if (opened) return { tone: 'good', icon: 'open', text: 'Open' };
  return { tone: 'held', icon: 'closed', text: openFor ? `Closed, except for ${openFor}` : 'Closed' };
}

export function GatePanels({ gate }: { gate: GateView }) {
  const { requiredByCount: count, requiredBy } = gate;
  return (
    <>
      <Panel id="calendar" title="Upcoming">
        <CalendarChart lines={[gateLine(gate)]} days={28} />
      </Panel>
      <Panel id="holds" title={`What requires it${count === undefined ? '' : ` (${count})`}`}>
        {requiredBy.length === 0 && (
          <p class="meta">{count === undefined ? 'Not counted yet.' : count ? 'Not listed.' : 'Nothing.'}</p>
        )}
        <ObjectList objects={requiredBy} count={count ?? 0} />
      </Panel>
      <section class="card panel">
        <Facts facts={factsOf(gate)} />
      </section>
    </>
  );
}

function factsOf(gate: GateView): [string, preact.ComponentChildren][] {
  const { since, selects, default: byDefault, window, rules, timezone, scheduledBy: set } = gate;
  const zone = timezone ? ` (${timezone})` : '';
  const setBy = set ? `, set by ${set.by}${set.reason ? `: ${set.reason}` : ''}` : '';
  return [
    ...(since ? [['Since', <Ago key="since" time={since} />] as [string, preact.ComponentChildren]] : []),
    ['Holds', selects ?? 'objects that name it in gate.fluxcd.io/gates or spec.gates'],
    ['By default', byDefault],
    ...(window ? [['A request lasts', window] as [string, string]] : []),
    ...(rules.length > 0 ? [['Schedule', `${rules.join('; ')}${zone}${setBy}`] as [string, string]] : []),
  ];
}
