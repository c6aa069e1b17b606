/** The stages of a pipeline as a picture, or a list on a phone: the versions, the next one, and its blockers. */
import { useMemo } from 'preact/hooks';
import type { Row, RowGate } from '../../client/board/row.ts';
import { STEP_KINDS } from '../../client/explain/stepKinds.ts';
import { Icon } from '../elements/Icon.tsx';
import { STATES, STEPS } from '../elements/words.ts';
import { Sentence } from '../parts/Sentence.tsx';
import { For } from '../parts/Time.tsx';
import { trackText } from '../parts/TrackBar.tsx';
import { now } from '../state/clock.ts';
import { cluster as stageCluster } from '../state/cluster.ts';
import { linkTo, query } from '../state/route.ts';
import { rows } from '../state/stream.ts';
import { isNarrow } from '../state/width.ts';
import { NODE, type Placed, placeStages } from './layout.ts';
import { edgeTone, type Pipeline, partsOf } from './pipelines.ts';

/** The most stages in a picture: a larger one is unreadable, and its layout takes seconds. */
const MAX_DRAWN = 150;

export function Graph({ pipeline }: { pipeline: Pipeline }) {
  const { title, stages, edges } = pipeline;
  const isDrawn = stages.length <= MAX_DRAWN && !isNarrow.value;
  // The layout is slow, and depends only on stages and edges.
  const picture = useMemo(
    () => (isDrawn ? placeStages(pipeline) : undefined),
    [isDrawn, JSON.stringify([stages, edges])],
  );
  const place = new Map(picture?.nodes.map(({ key, x, y }) => [key, { left: `${x}px`, top: `${y}px` }]));
  return (
    <section
      class="graph-scroll"
      tabIndex={picture ? 0 : undefined}
      aria-label={picture ? `Picture of ${title}` : undefined}
    >
      <div class={picture ? 'graph' : 'graph-list'} style={picture && sizeOf(picture)}>
        {picture && <Edges picture={picture} />}
        <ol class="stack">
          {stages.slice(0, MAX_DRAWN).map((key) => (
            <Node key={key} of={key} row={rows.value.get(key)} style={place.get(key)} />
          ))}
        </ol>
      </div>
      {stages.length > MAX_DRAWN && <p class="meta">{stages.length - MAX_DRAWN} more stages are on the board.</p>}
    </section>
  );
}

function sizeOf({ width, height }: Placed) {
  return { width: `${width}px`, height: `${height}px` };
}

function Edges({ picture: { width, height, edges } }: { picture: Placed }) {
  return (
    <svg width={width} height={height} aria-hidden="true">
      {edges.map(({ from, to, isCopy, begin, end }) => {
        const tone = edgeTone(rows.value.get(from), rows.value.get(to));
        const middle = (begin.x + end.x) / 2;
        const curve = `M${begin.x} ${begin.y}C${middle} ${begin.y} ${middle} ${end.y} ${end.x} ${end.y}`;
        const head = `M${end.x - 6} ${end.y - 4}L${end.x} ${end.y}L${end.x - 6} ${end.y + 4}`;
        return (
          <g key={`${from} ${to}`} class={tone ? `graph-edge tone-${tone}` : 'graph-edge'}>
            <path class="graph-line" d={curve} />
            <path d={head} />
            {isCopy && (
              <text x={middle} y={(begin.y + end.y) / 2 - 6} text-anchor="middle">
                copy
              </text>
            )}
          </g>
        );
      })}
    </svg>
  );
}

interface NodeProps {
  /** The key of the stage. */
  of: string;
  row: Row | undefined;
  /** The position in the picture; undefined in a list. */
  style: { left: string; top: string } | undefined;
}

function Node({ of, row, style }: NodeProps) {
  const placing = style && { ...style, width: `${NODE.width}px`, height: `${NODE.height}px` };
  const { cluster, id } = partsOf(of);
  const [namespace, name] = id.split('/');
  const where = [cluster, namespace].filter(Boolean).join(' · ');
  if (!row) {
    return (
      <li class="card edge stack tight graph-node tone-calm" style={placing}>
        <strong>{name}</strong>
        <span>{where}</span>
        <span class="graph-state">does not exist, or you aren't allowed to read it</span>
      </li>
    );
  }
  const { state, track, runs, gates, why, after } = row;
  const look = STATES[state];
  const isChosen = query.value.stage === id && row.cluster === stageCluster.value;
  return (
    <li
      class={`card edge stack tight graph-node tone-${look.tone}`}
      style={placing}
      aria-current={isChosen ? 'true' : undefined}
    >
      <a class="clip" href={isChosen ? linkTo.stages() : linkTo.stage(row)}>
        {name}
      </a>
      <span class="clip">
        {where}
        {!style && after.length > 0 && ` · after ${after.map((each) => each.replace(`${namespace}/`, '')).join(', ')}`}
      </span>
      <span class="clip">
        <span class="version">{runs?.version ?? 'nothing yet'}</span> {runs && <For since={runs.at} />}
      </span>
      <span class="line graph-state">
        <Icon name={look.icon} size={13} />
        {track ? `${track.version} ${trackText(track, now.value)}` : look.text}
      </span>
      {track && why && (
        <span class="graph-why two-lines" title={why}>
          <Sentence text={why} />
        </span>
      )}
      {gates.length > 0 && (
        <span class="line graph-gates">
          {gates.map((gate) => (
            <GateSign key={gate.title} gate={gate} />
          ))}
        </span>
      )}
    </li>
  );
}

/** The icon of a step, with the state as its colour and in its label. */
function GateSign({ gate: { kind, title, state, detail } }: { gate: RowGate }) {
  const text = `${title}: ${STEPS[state].text}${detail ? `, ${detail}` : ''}`;
  return (
    <span class={`tone-${STEPS[state].tone}`} title={text}>
      <Icon name={STEP_KINDS[kind].icon} size={13} label={text} />
    </span>
  );
}

/** Moves the focus from stage to stage. */
export function moveFocus(step: number): void {
  const links = [...document.querySelectorAll<HTMLElement>('.graph-node a')];
  const at = links.indexOf(document.activeElement as HTMLElement);
  links[at < 0 ? 0 : Math.min(Math.max(at + step, 0), links.length - 1)]?.focus();
}
