/** One application on the board. */
import { useEffect, useRef } from 'preact/hooks';
import { type Row, trackTone } from '../../client/board/row.ts';
import { Badge } from '../elements/Badge.tsx';
import { Icon } from '../elements/Icon.tsx';
import { OUTCOMES, STATES } from '../elements/words.ts';
import { now } from '../state/clock.ts';
import { clusters } from '../state/cluster.ts';
import { linkTo } from '../state/route.ts';
import { Sentence } from './Sentence.tsx';
import { Ago, For, Until } from './Time.tsx';
import { TrackBar, TrackHead, trackText } from './TrackBar.tsx';

interface BoardRowProps {
  row: Row;
  isFocused: () => boolean;
  isNarrow: boolean;
}

/** The class of a row, which with several clusters has a column for the cluster. */
const gridClass = () => `row-grid${clusters.value.length > 0 ? ' of-clusters' : ''}`;

/** The heads of the columns. */
export function BoardHead() {
  return (
    <div class={`${gridClass()} row-head`} aria-hidden="true">
      <span />
      {clusters.value.length > 0 && <span>Cluster</span>}
      <span>Application</span>
      <span>Runs</span>
      <TrackHead />
      <span>Why it waits</span>
      <span class="row-strip">Last {STRIP}</span>
    </div>
  );
}

export function BoardRow({ row, isFocused, isNarrow }: BoardRowProps) {
  const look = STATES[row.state];
  const link = useRef<HTMLAnchorElement>(null);
  const focused = isFocused();
  useEffect(() => {
    // The focus follows the keyboard's row, unless the user is in a field.
    if (focused && document.activeElement?.matches('body, .row-link')) link.current?.focus({ preventScroll: true });
  }, [focused]);
  const isDone = row.state === 'done';
  // The track has the time that is left.
  const until = row.track?.until && !row.track.halted ? undefined : row.until;
  return (
    <div class={`row ${gridClass()} tone-${look.tone}`}>
      <span class="tile">
        <Icon name={look.icon} label={look.text} />
      </span>
      {row.cluster && <span class="row-cluster clip">{row.cluster}</span>}
      <span class="stack tight row-name">
        <a
          ref={link}
          class="row-link clip"
          title={row.name}
          href={linkTo.rollout(row.id, row.cluster ? { cluster: row.cluster } : {})}
        >
          {row.name}
        </a>
        <span class="meta clip">{row.namespace}</span>
      </span>
      <Runs row={row} />
      <Next row={row} />
      <span class="stack tight row-why">
        {!isDone && row.why && (
          <span class="row-sentence two-lines">
            <Sentence text={row.why} />
          </span>
        )}
        {!isDone && (row.since || until) && (
          <span class="meta row-until">
            <Icon name="waits" size={12} /> {row.since && <For since={row.since} />}
            {row.since && until && ' · '}
            {until && <Until time={until} />}
          </span>
        )}
      </span>
      {!isNarrow && (
        <span class="row-strip">
          <Strip strip={row.strip} />
        </span>
      )}
    </div>
  );
}

function Runs({ row: { runs, pinned } }: { row: Row }) {
  if (!runs) return <span class="stack tight row-runs meta">nothing</span>;
  const { text } = OUTCOMES[runs.outcome];
  return (
    <span class="stack tight row-runs">
      <span class="version">
        <span class="clip" title={runs.version}>
          {runs.version}
        </span>
        {pinned === runs.version && (
          <Badge tone="calm" icon="pin">
            pinned
          </Badge>
        )}
      </span>
      <span class="meta">
        {text} <Ago time={runs.endedAt ?? runs.at} />
      </span>
    </span>
  );
}

function Next({ row: { track, runs, state, pinned } }: { row: Row }) {
  if (!track) {
    return (
      <span class="stack tight row-track meta">
        {state === 'empty' || !runs ? 'no release yet' : pinned ? `stays on ${pinned}` : 'up to date'}
      </span>
    );
  }
  return (
    <span class="stack tight row-track">
      <span class={`row-track-text tone-${trackTone(track)}`}>
        <span class="version clip" title={track.version}>
          {track.version}
        </span>
        {trackText(track, now.value)}
      </span>
      <TrackBar track={track} />
    </span>
  );
}

const STRIP = 12;
const STEP = 9;
const HEIGHT = 20;

function stripText(strip: Row['strip']): string {
  if (strip.length === 0) return 'no deployments';
  const failed = strip.filter(({ outcome }) => outcome === 'Failed').length;
  return `last ${strip.length} deployments${failed > 0 ? `, ${failed} failed` : ', none failed'}`;
}

/** The results of the last deployments, a bar for each, oldest first: a failed one is broken, a cancelled one short. */
function Strip({ strip }: { strip: Row['strip'] }) {
  return (
    <svg
      width={STRIP * STEP}
      height={HEIGHT}
      viewBox={`0 0 ${STRIP * STEP} ${HEIGHT}`}
      role="img"
      aria-label={stripText(strip)}
    >
      {strip.map(({ id, version, outcome }, index) => {
        const x = (STRIP - strip.length + index) * STEP + 2;
        return (
          <g key={id} class={`tone-${OUTCOMES[outcome].tone} ${outcome}`}>
            <title>{`${version}: ${OUTCOMES[outcome].text}`}</title>
            <rect x={x - 2} y="0" width={STEP} height={HEIGHT} class="bar-hover" />
            {outcome === 'Failed' ? (
              <path d={`M${x + 1.5} 4.500v3M${x + 3.5} 12.500v3M${x - 0.5} 10h6`} class="bar-cut" />
            ) : (
              <rect
                x={x}
                y={outcome === 'Cancelled' ? 10 : 3}
                width="5"
                height={outcome === 'Cancelled' ? 7 : 14}
                rx="1.500"
                class="bar-body"
              />
            )}
          </g>
        );
      })}
    </svg>
  );
}
