/** Every application as a row: what runs, what is on its way and how far, why it waits, how the last deployments went. */
import { computed, signal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { Row } from '../../client/board/row.ts';
import { Icon } from '../look/Icon.tsx';
import { Message } from '../look/Message.tsx';
import { STATE_ORDER, STATES } from '../look/words.ts';
import { BoardRow } from '../parts/BoardRow.tsx';
import { Unread } from '../parts/Unread.tsx';
import { type Item, VirtualList } from '../parts/VirtualList.tsx';
import { counts, filter, groupings, groupOf, namespaces, shown, total } from '../state/board.ts';
import { onKeys } from '../state/keys.ts';
import { go, linkTo, setQuery } from '../state/route.ts';
import { isComplete, kinds, rows } from '../state/stream.ts';

const isNarrow = signal(matchMedia('(max-width: 760px)').matches);
matchMedia('(max-width: 760px)').addEventListener('change', (event) => {
  isNarrow.value = event.matches;
});

const HEADING = 44;
const height = computed(() => (isNarrow.value ? 152 : 68));
/** By the keyboard; index into what is shown. */
const cursor = signal(-1);

export function Board() {
  useEffect(() => {
    document.title = 'Board · Rollouts';
    return onKeys({
      j: () => move(1),
      k: () => move(-1),
      Enter: (event) => {
        const row = shown.value[cursor.value];
        if (!row || (event.target as Element).matches('a, button')) return;
        go(linkTo.rollout(row.id));
      },
    });
  }, []);
  return (
    <div class="board">
      <h1 class="hidden">Applications</h1>
      <Toolbar />
      <Unread of={['Gate', 'RolloutGate', 'FluxBinding', 'HealthCheck']} />
      <Rows />
    </div>
  );
}

function move(step: number): void {
  cursor.value = Math.min(Math.max(cursor.value + step, 0), shown.value.length - 1);
}

function Toolbar() {
  const search = useRef<HTMLInputElement>(null);
  const { q, state, namespace, group } = filter.value;
  useEffect(
    () =>
      onKeys({
        '/': (event) => {
          event.preventDefault();
          search.current?.focus();
          search.current?.select();
        },
      }),
    [],
  );
  return (
    <section class="toolbar" aria-label="Search and filter">
      <div class="toolbar-line">
        <label class="search">
          <Icon name="search" />
          <input
            ref={search}
            type="search"
            value={q}
            placeholder="Search: name, version, team=payments"
            aria-label="Search applications"
            onInput={(event) => setQuery({ q: event.currentTarget.value })}
          />
          <kbd>/</kbd>
        </label>
        <Choice
          label="Namespace"
          value={namespace}
          name="namespace"
          options={[['', 'All namespaces'], ...namespaces.value.map((each) => [each, each] as const)]}
        />
        <Choice
          label="Group by"
          value={group}
          name="group"
          options={[
            ['', 'No groups'],
            ['namespace', 'By namespace'],
            ['state', 'By state'],
            ['stage', 'By stage'],
            ...groupings.value.map((key) => [`label:${key}`, `By ${key}`] as const),
          ]}
        />
      </div>
      <div class="toolbar-line">
        <fieldset class="chips">
          <legend class="hidden">State</legend>
          <Chip state="" is={state} count={total.value} text="All" />
          {STATE_ORDER.filter((each) => counts.value.has(each) || each === state).map((each) => (
            <Chip key={each} state={each} is={state} count={counts.value.get(each) ?? 0} text={STATES[each].text} />
          ))}
        </fieldset>
        <a class="take-over-link" href={linkTo.takeOver}>
          Not under a Rollout
        </a>
      </div>
    </section>
  );
}

function Choice({
  label,
  name,
  value,
  options,
}: {
  label: string;
  name: string;
  value: string;
  options: (readonly [string, string])[];
}) {
  return (
    <label class="choice">
      <span class="hidden">{label}</span>
      <select value={value} aria-label={label} onChange={(event) => setQuery({ [name]: event.currentTarget.value })}>
        {options.map(([key, text]) => (
          <option key={key} value={key}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}

function Chip({ state, is, count, text }: { state: string; is: string; count: number; text: string }) {
  const look = state ? STATES[state as Row['state']] : undefined;
  return (
    <button
      type="button"
      class={`chip ${look ? `tone-${look.tone}` : ''}`}
      aria-pressed={state === is}
      onClick={() => setQuery({ state: state === is ? undefined : state })}
    >
      {look && <Icon name={look.icon} size={13} />}
      {text}
      <span class="chip-count">{count}</span>
    </button>
  );
}

function Rows() {
  const { group } = filter.value;
  const found = shown.value;
  const items = useMemo(() => itemsOf(found, group, height.value), [found, group, height.value]);
  const focused = cursor.value < 0 ? undefined : items.findIndex(({ key }) => key === found[cursor.value]?.id);
  if (found.length === 0) return <Nothing />;
  return <VirtualList items={items} label="Applications" focused={focused} />;
}

function itemsOf(found: readonly Row[], group: string, rowHeight: number): Item[] {
  const items: Item[] = [];
  const sizes = new Map<string, number>();
  if (group) for (const row of found) sizes.set(groupOf(row, group), (sizes.get(groupOf(row, group)) ?? 0) + 1);
  let current: string | undefined;
  found.forEach((row, index) => {
    const own = groupOf(row, group);
    if (group && own !== current) {
      current = own;
      const title = own;
      items.push({
        key: `group ${title}`,
        height: HEADING,
        render: () => (
          <h2 class="group-title">
            {title} <span>{sizes.get(title)}</span>
          </h2>
        ),
      });
    }
    items.push({
      key: row.id,
      height: rowHeight,
      render: () => <BoardRow row={row} isFocused={() => cursor.value === index} isNarrow={isNarrow.value} />,
    });
  });
  return items;
}

function Nothing() {
  const rollouts = kinds.value.find(({ kind }) => kind === 'Rollout');
  if (rows.value.size > 0) {
    return (
      <Message icon="search" title="Nothing matches">
        <p>{rows.value.size} applications are there; none is what you look for.</p>
        <button type="button" onClick={() => setQuery({ q: undefined, state: undefined, namespace: undefined })}>
          Show all
        </button>
      </Message>
    );
  }
  switch (rollouts?.state) {
    case 'forbidden':
      return (
        <Message icon="closed" tone="held" title="You may not see Rollouts">
          <p>{rollouts.why}</p>
          <p>
            Whoever manages the cluster can bind the role `view` with rollout-hooks installed, or a role with `get`,
            `list` and `watch` on rollouts.kuberik.com.
          </p>
        </Message>
      );
    case 'absent':
      return (
        <Message icon="unknown" title="rollout-hooks is not installed here">
          <p>
            This cluster does not know the kind Rollout. Is it the right context? docs/install.md says how to install
            it.
          </p>
        </Message>
      );
    case 'signed-out':
      return (
        <Message icon="user" tone="bad" title="Your credentials are no longer accepted">
          <p>{rollouts.why}</p>
          <p>Sign in again as you do for kubectl; this page goes on by itself.</p>
        </Message>
      );
    case 'reconnecting':
      return (
        <Message icon="problem" tone="bad" title="The cluster does not answer">
          <p>{rollouts.why}</p>
          <p>This page tries again by itself. Are you on its network?</p>
        </Message>
      );
    case 'live':
      if (isComplete.value) {
        return (
          <Message icon="release" title="No Rollouts yet">
            <p>
              A Rollout takes the tags of a Flux ImagePolicy through gates into your Flux objects. For one that runs
              already:
            </p>
            <p>
              <a href={linkTo.takeOver}>What is not under a Rollout</a>
            </p>
            <pre class="inline-command">kubectl rollouts adopt kustomization/my-app</pre>
          </Message>
        );
      }
      return <Loading />;
    default:
      return <Loading />;
  }
}

function Loading() {
  return (
    <div class="loading" role="status" aria-label="Loading">
      {[0, 1, 2, 3, 4, 5].map((each) => (
        <div key={each} class="skeleton" />
      ))}
    </div>
  );
}
