/** One application: what waits and why, the actions, the path of a release, and the deployments. */
import { useComputed } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';
import { withOwnApprovals } from '../../client/actions/ownApprovals.ts';
import { versionActions } from '../../client/actions/rolloutActions.ts';
import type { ApplicationPageData } from '../../client/board/pageMessages.ts';
import { rowKey, trackOf, trackTone } from '../../client/board/row.ts';
import { History } from '../application/History.tsx';
import { Path } from '../application/Path.tsx';
import { Releases } from '../application/Releases.tsx';
import { Badge } from '../elements/Badge.tsx';
import { Panel } from '../elements/Panel.tsx';
import { STATES } from '../elements/words.ts';
import { ActionDialog } from '../parts/ActionDialog.tsx';
import { Actions } from '../parts/Actions.tsx';
import { Item, ItemHead } from '../parts/Item.tsx';
import { TrackBar, trackText } from '../parts/TrackBar.tsx';
import { Why } from '../parts/Why.tsx';
import { now } from '../state/clock.ts';
import { cluster } from '../state/cluster.ts';
import { useItem } from '../state/item.ts';
import { linkTo } from '../state/route.ts';
import { api } from '../state/session.ts';
import { hello, isComplete, rows } from '../state/stream.ts';

/** The interval of reads with HealthChecks: the stream has no measurements, which take ten seconds or more. */
const MEASUREMENTS_MS = 10_000;

export function ApplicationPage({ id }: { id: string }) {
  const row = rows.value.get(rowKey({ cluster: cluster.value, id }));
  const [hasChecks, setHasChecks] = useState(false);
  const tick = useComputed(() => Math.floor(now.value / MEASUREMENTS_MS)).value;
  const load = (signal: AbortSignal) => api.application(id, signal);
  const loaded = useItem(load, row ?? isComplete.value, hasChecks && tick);
  const { value } = loaded;
  useEffect(() => setHasChecks(value?.application.steps.some(({ kind }) => kind === 'check') ?? false), [value]);
  return <Item loaded={loaded}>{(data) => <Application data={data} />}</Item>;
}

function Application({ data: given }: { data: ApplicationPageData }) {
  const data = { ...given, actions: withOwnApprovals(given.actions, hello.value?.user, Date.now()) };
  const { application, actions, rights, releases } = data;
  const { namespace, name, state, title, description, pinned, labels, history } = application;
  const versions = () => new Set([...releases.map(({ tag }) => tag), ...history.map(({ version }) => version.tag)]);
  const find = (id: string) =>
    [...actions, ...[...versions()].flatMap((version) => versionActions(application, version, Date.now()))].find(
      (action) => action.id === id,
    );
  const about = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
  return (
    <>
      <ItemHead
        crumbs={[
          ['Board', linkTo.board],
          [namespace, linkTo.namespace(namespace)],
        ]}
        name={name}
        look={STATES[state]}
      >
        {pinned && (
          <Badge tone="calm" icon="pin">
            pinned to {pinned}
          </Badge>
        )}
        <span class="item-title clip">{title ?? description ?? about.join('  ')}</span>
      </ItemHead>
      <ActionDialog find={find} rights={rights} />
      <Banner data={data} />
      <Panel id="path" title="Path of a release">
        <Path application={application} />
      </Panel>
      {history.length > 0 && (
        <Panel id="history" title="History">
          <History application={application} rights={rights} />
        </Panel>
      )}
      <Releases application={application} releases={releases} rights={rights} />
    </>
  );
}

/** The state, its causes and the actions. */
function Banner({ data: { application, actions, rights } }: { data: ApplicationPageData }) {
  const { state, headline, causes, next, unread, waiting, history } = application;
  const track = trackOf(application);
  return (
    <section class={`card edge stack banner tone-${STATES[state].tone}`} aria-label="State">
      <div class="line banner-head">
        <h2 class={waiting || history.length > 0 ? undefined : 'begins-with-word'}>{headline}</h2>
        {track && (
          <div class={`line banner-track tone-${trackTone(track)}`}>
            <TrackBar track={track} />
            <span>{trackText(track, now.value)}</span>
          </div>
        )}
      </div>
      <Why causes={causes} next={next} unread={unread} />
      <Actions actions={actions} rights={rights} />
    </section>
  );
}
