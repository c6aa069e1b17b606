/** The board: a row for each application, with its versions, their progress, why it waits, and the last results. */
import { computed, signal } from '@preact/signals';
import { useLayoutEffect, useMemo } from 'preact/hooks';
import { type Row, rowKey } from '../../client/board/row.ts';
import { STATE_ORDER } from '../../client/explain/application.ts';
import { Icon } from '../elements/Icon.tsx';
import { Message } from '../elements/Message.tsx';
import { STATES } from '../elements/words.ts';
import { BoardHead, BoardRow } from '../parts/BoardRow.tsx';
import { Choice, ClusterChoice } from '../parts/Choice.tsx';
import { NoneOf } from '../parts/NoneOf.tsx';
import { Search } from '../parts/Search.tsx';
import { UnreadNote } from '../parts/UnreadNote.tsx';
import { type ListItem, VirtualList } from '../parts/VirtualList.tsx';
import { groupings, groupNameOf, namespaces, rowsByState, shownRows, total } from '../state/board.ts';
import { clusters } from '../state/cluster.ts';
import { onKeys } from '../state/keys.ts';
import { linkTo, query, setQuery } from '../state/route.ts';
import { rows } from '../state/stream.ts';
import { isNarrow } from '../state/width.ts';

const HEADING = 44;
/** On a phone, the name of the cluster is a line of its own. */
const height = computed(() => (isNarrow.value ? (clusters.value.length > 0 ? 190 : 168) : 68));
/** The row that the keyboard has chosen, an index into `shownRows`. */
const cursor = signal(-1);

export function Board() {
  useLayoutEffect(() => onKeys({ j: () => moveBy(1), k: () => moveBy(-1) }), []);
  return (
    <>
      <h1 class="hidden">Applications</h1>
      <Toolbar />
      <UnreadNote of={['Gate', 'RolloutGate', 'FluxBinding', 'HealthCheck']} />
      <Rows />
    </>
  );
}

function moveBy(step: number): void {
  cursor.value = Math.min(Math.max(cursor.value + step, 0), shownRows.value.length - 1);
}

function Toolbar() {
  const { q = '', state = '' } = query.value;
  const own = namespaces.value.map((each) => [each, each] as const);
  const byLabel = groupings.value.map((key) => [`label:${key}`, `By ${key}`] as const);
  return (
    <section class="stack toolbar" aria-label="Search and filter">
      <div class="toolbar-line">
        <Search value={q} label="Search applications" placeholder="Search: name, version, team=payments" />
        <ClusterChoice none="All clusters" />
        <Choice label="Namespace" name="namespace" options={[['', 'All namespaces'], ...own]} />
        <Choice
          label="Group by"
          name="group"
          options={[
            ['', 'No groups'],
            ...(clusters.value.length > 0 ? [['cluster', 'By cluster'] as const] : []),
            ['namespace', 'By namespace'],
            ['state', 'By state'],
            ['stage', 'By stage'],
            ...byLabel,
          ]}
        />
      </div>
      <div class="toolbar-line">
        <fieldset class="chips">
          <legend class="hidden">State</legend>
          <Chip state="" count={total.value} text="All" />
          {STATE_ORDER.filter((each) => rowsByState.value.has(each) || each === state).map((each) => (
            <Chip key={each} state={each} count={rowsByState.value.get(each)?.length ?? 0} text={STATES[each].text} />
          ))}
        </fieldset>
        <a class="adopt-link" href={linkTo.adopt}>
          Not under a Rollout
        </a>
      </div>
    </section>
  );
}

function Chip({ state, count, text }: { state: string; count: number; text: string }) {
  const look = state ? STATES[state as Row['state']] : undefined;
  const isOn = state === (query.value.state ?? '');
  return (
    <button
      type="button"
      class={`chip ${look ? `tone-${look.tone}` : ''}`}
      aria-pressed={isOn}
      onClick={() => setQuery({ state: isOn ? '' : state })}
    >
      {look && <Icon name={look.icon} size={13} />}
      {text}
      <span class="chip-count">{count}</span>
    </button>
  );
}

function Rows() {
  const { group = '' } = query.value;
  const found = shownRows.value;
  const items = useMemo(() => itemsOf(found, group, height.value), [found, group, height.value]);
  const chosen = found[cursor.value];
  const focused = chosen && items.findIndex(({ key }) => key === rowKey(chosen));
  if (found.length === 0) return <NoRows />;
  return (
    <>
      {!isNarrow.value && <BoardHead />}
      <VirtualList items={items} label="Applications" focused={focused} />
    </>
  );
}

function itemsOf(found: readonly Row[], group: string, rowHeight: number): ListItem[] {
  const rowItems = found.map((row, index) => ({
    key: rowKey(row),
    height: rowHeight,
    render: () => <BoardRow row={row} isFocused={() => cursor.value === index} isNarrow={isNarrow.value} />,
  }));
  if (!group) return rowItems;
  const groups = Map.groupBy(rowItems, (_, index) => groupNameOf(found[index]!, group));
  return [...groups].flatMap(([name, own]) => {
    const render = () => (
      <h2 class="group-title">
        {name} <span>{own.length}</span>
      </h2>
    );
    return [{ key: `group ${name}`, height: HEADING, render }, ...own];
  });
}

function NoRows() {
  if (rows.value.size > 0) {
    return (
      <Message icon="search" title="Nothing matches">
        <p>None of {rows.value.size} applications matches.</p>
        <button type="button" onClick={() => setQuery({ q: '', state: '', cluster: '', namespace: '' })}>
          Show all
        </button>
      </Message>
    );
  }
  return (
    <NoneOf
      kind="Rollout"
      needs="the role view with rollout-hooks installed, or one with get, list and watch on rollouts.kuberik.com,"
    >
      <Message icon="release" title="No Rollouts yet">
        <p>
          A Rollout deploys the tags of a Flux ImagePolicy through Gates into your Flux objects. To adopt an application
          that runs already:
        </p>
        <p>
          <a href={linkTo.adopt}>Objects not under a Rollout</a>
        </p>
        <pre class="inline-command">kubectl rollouts adopt kustomization/my-app</pre>
      </Message>
    </NoneOf>
  );
}
