import type { Row } from '../../client/board/row.ts';
import { Badge } from '../look/Badge.tsx';
import { Icon } from '../look/Icon.tsx';
import { lookOf, OUTCOMES } from '../look/words.ts';
import { now } from '../state/clock.ts';
import { linkTo } from '../state/route.ts';
import { Sentence } from './Sentence.tsx';
import { Ago, Until } from './Time.tsx';
import { Track, trackText } from './Track.tsx';

interface BoardRowProps {
  row: Row;
  isFocused: () => boolean;
  isNarrow: boolean;
}

export function BoardRow({ row, isFocused, isNarrow }: BoardRowProps) {
  const look = lookOf(row);
  return (
    <div class={`row tone-${look.tone}${isFocused() ? ' row-focused' : ''}`}>
      <span class="row-state">
        <Icon name={look.icon} label={look.text} />
      </span>
      <span class="row-name">
        <a class="row-link" href={linkTo.rollout(row.id)}>
          {row.name}
        </a>
        <span>{row.namespace}</span>
      </span>
      <Runs row={row} />
      <OnItsWay row={row} />
      <span class="row-why">
        {row.state === 'done' || !row.why ? null : (
          <span class="row-sentence">
            <Sentence text={row.why} />
          </span>
        )}
        {row.until && row.state !== 'done' && (
          <span class="row-until">
            <Icon name="waits" size={12} /> <Until time={row.until} />
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
  if (!runs) return <span class="row-runs none">nothing deployed</span>;
  const { text } = OUTCOMES[runs.outcome];
  return (
    <span class="row-runs">
      <span class="version">
        {runs.version}
        {pinned === runs.version && (
          <Badge tone="calm" icon="pin">
            pinned
          </Badge>
        )}
      </span>
      <span>
        {text} <Ago time={runs.endedAt ?? runs.at} />
      </span>
    </span>
  );
}

function OnItsWay({ row: { track, runs, state, pinned } }: { row: Row }) {
  if (!track) {
    return (
      <span class="row-track none">
        {state === 'empty' || !runs ? 'no release yet' : pinned ? `stays on ${pinned}` : 'up to date'}
      </span>
    );
  }
  return (
    <span class="row-track">
      <span class="row-track-text">
        <span class="version next">{track.version}</span> {trackText(track, now.value)}
      </span>
      <Track track={track} />
    </span>
  );
}

// How the last deployments went: a bar for each, oldest first. A failed one is broken, a cancelled one hollow.

const STEP = 9;
const HEIGHT = 20;

function stripText(strip: Row['strip']): string {
  if (strip.length === 0) return 'no deployments';
  const failed = strip.filter(({ outcome }) => outcome === 'Failed').length;
  return `last ${strip.length} deployments${failed > 0 ? `, ${failed} failed` : ', none failed'}`;
}

function Strip({ strip }: { strip: Row['strip'] }) {
  return (
    <svg
      class="strip"
      width={12 * STEP}
      height={HEIGHT}
      viewBox={`0 0 ${12 * STEP} ${HEIGHT}`}
      role="img"
      aria-label={stripText(strip)}
    >
      {strip.map(({ id, version, outcome }, index) => {
        const x = (12 - strip.length + index) * STEP + 2;
        return (
          <g key={id} class={`bar tone-${OUTCOMES[outcome].tone} ${outcome}`}>
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
