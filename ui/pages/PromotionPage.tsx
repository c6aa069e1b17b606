/** Promotion: which Rollouts come after which, budgets with their waves, and how far the newest version has come among them. */
import { computed } from '@preact/signals';
import type { Row } from '../../client/board/row.ts';
import { Icon } from '../look/Icon.tsx';
import { Message } from '../look/Message.tsx';
import { STATES } from '../look/words.ts';
import { Loading } from '../parts/Item.tsx';
import { trackText } from '../parts/Track.tsx';
import { Unread } from '../parts/Unread.tsx';
import { NODE, type Placed, placed } from '../promotion/layout.ts';
import { Budget } from '../promotion/Waves.tsx';
import { now } from '../state/clock.ts';
import { linkTo } from '../state/route.ts';
import { budgets, isComplete, rows } from '../state/stream.ts';

/** A new layout only where the order itself has changed: not with each version. */
const order = computed(() =>
  JSON.stringify([...rows.value.values()].filter(({ after }) => after.length > 0).map(({ id, after }) => [id, after])),
);
const graphs = computed(() => {
  order.value;
  return placed(rows.peek());
});

export function PromotionPage() {
  if (!isComplete.value) return <Loading count={1} isTall />;
  const waves = [...budgets.value.values()].sort(
    (a, b) => Number(b.isHeld) - Number(a.isHeld) || a.id.localeCompare(b.id),
  );
  return (
    <article>
      <header class="line page-head">
        <h1>Promotion</h1>
        <span class="page-sum">
          {graphs.value.length > 0 && 'a version goes from left to right, once it has succeeded'}
        </span>
      </header>
      <Unread of={['RolloutBudget', 'ClusterRolloutBudget']} />
      {graphs.value.length + waves.length === 0 && (
        <Message icon="chevron" title="No Rollout comes after another">
          <p>
            With <code>spec.after</code> a version is deployed here once it has succeeded there: staging before
            production, one region before the next. A RolloutBudget lets a few of many begin at once, in waves.
          </p>
          <p>docs/promotion.md has examples.</p>
        </Message>
      )}
      {graphs.value.map((graph) => (
        <Graph key={graph.title} graph={graph} />
      ))}
      {waves.map((budget) => (
        <Budget key={budget.id} budget={budget} />
      ))}
    </article>
  );
}

function Graph({ graph }: { graph: Placed }) {
  const { title, width, height, nodes, edges } = graph;
  return (
    <section class="card panel promotion-graph" tabIndex={0} aria-label={`Stages from ${title} on`}>
      <h2>{title}</h2>
      <div class="graph" style={{ width: `${width}px`, height: `${height}px` }}>
        <svg width={width} height={height} aria-hidden="true">
          {edges.map(({ from, to, points }) => (
            <path key={`${from} ${to}`} class={`graph-edge${has(from, to) ? ' passed' : ''}`} d={curve(points)} />
          ))}
        </svg>
        <ol>
          {[...nodes]
            .sort((a, b) => a.x - b.x || a.y - b.y)
            .map(({ id, x, y }) => (
              <Node key={id} id={id} row={rows.value.get(id)} x={x} y={y} />
            ))}
        </ol>
      </div>
    </section>
  );
}

function Node({ id, row, x, y }: { id: string; row: Row | undefined; x: number; y: number }) {
  const style = { left: `${x}px`, top: `${y}px`, width: `${NODE.width}px`, height: `${NODE.height}px` };
  const [namespace, name] = id.split('/');
  if (!row) {
    return (
      <li class="card edge graph-node tone-calm" style={style}>
        <strong>{name}</strong>
        <span>{namespace}</span>
        <span class="graph-state">not there, or not yours to see</span>
      </li>
    );
  }
  const look = STATES[row.state];
  return (
    <li class={`card edge graph-node tone-${look.tone}`} style={style}>
      <a class="clip" href={linkTo.rollout(id)}>
        {name}
      </a>
      <span>
        {namespace} · <span class="version">{row.runs?.version ?? 'nothing yet'}</span>
      </span>
      <span class="line graph-state">
        <Icon name={look.icon} size={13} />
        {row.track ? `${row.track.version} ${trackText(row.track, now.value)}` : look.text}
      </span>
    </li>
  );
}

/** What runs in the stage runs after it, too. */
function has(from: string, to: string): boolean {
  const [before, after] = [rows.value.get(from)?.runs, rows.value.get(to)?.runs];
  return before !== undefined && after?.version === before.version;
}

/** With its arrow head. */
function curve(points: { x: number; y: number }[]): string {
  const [first, last] = [points[0]!, points.at(-1)!];
  const middle = (first.x + last.x) / 2;
  const { x, y } = last;
  const head = `M${x - 6} ${y - 4}L${x} ${y}L${x - 6} ${y + 4}`;
  return `M${first.x} ${first.y}C${middle} ${first.y} ${middle} ${y} ${x} ${y}${head}`;
}
