import type { Row } from '../../client/board/row.ts';
import { Badge } from '../look/Badge.tsx';
import { Icon } from '../look/Icon.tsx';
import { lookOf, OUTCOMES } from '../look/words.ts';
import { now } from '../state/clock.ts';
import { linkTo } from '../state/route.ts';
import { Sentence } from './Sentence.tsx';
import { Strip } from './Strip.tsx';
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
