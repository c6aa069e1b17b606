/** The progress of a version. The current point is a ring that fills, or a barrier if the version is blocked. */
import { TRACK, type Track, trackTone } from '../../client/board/row.ts';
import { ageText } from '../../client/explain/when.ts';
import { now } from '../state/clock.ts';

const GAP = 46;
const LEFT = 12;
const Y = 13;
const RADIUS = 8;
const CIRCUMFERENCE = 2 * Math.PI * RADIUS;

const WORDS: Record<(typeof TRACK)[number], string> = {
  waits: 'waits',
  gates: 'at the gates',
  deploying: 'deploying',
  baking: 'baking',
  done: 'done',
};

export function trackText({ at, halted, failed, until }: Track, time: number): string {
  if (failed) return at === 'baking' ? 'failed in its bake' : 'failed';
  if (halted) return at === 'gates' || at === 'waits' ? 'held at the gates' : 'held while rolling out';
  const left = until ? Date.parse(until) - time : 0;
  return left > 0 && (at === 'baking' || at === 'deploying') ? `${WORDS[at]}, ${ageText(left)} left` : WORDS[at];
}

/** The names of the points, each above its own. */
export function TrackHead() {
  return (
    <span class="track-head">
      {['waits', 'gates', 'deploys', 'bakes', 'done'].map((point) => (
        <span key={point}>{point}</span>
      ))}
    </span>
  );
}

export function TrackBar({ track }: { track: Track }) {
  const index = TRACK.indexOf(track.at);
  const width = LEFT * 2 + GAP * (TRACK.length - 1);
  return (
    <svg
      class={`track tone-${trackTone(track)}`}
      width={width}
      height={Y * 2}
      viewBox={`0 0 ${width} ${Y * 2}`}
      aria-hidden="true"
    >
      {TRACK.slice(1).map((point, i) => (
        <line
          key={point}
          class={i < index ? 'track-past' : 'track-ahead'}
          x1={LEFT + i * GAP + (i === index ? RADIUS + 3 : 5)}
          x2={LEFT + (i + 1) * GAP - (i + 1 === index ? RADIUS + 3 : 5)}
          y1={Y}
          y2={Y}
        />
      ))}
      {TRACK.map((point, i) =>
        i === index ? (
          <Current key={point} x={LEFT + i * GAP} track={track} />
        ) : (
          <circle
            key={point}
            class={i < index ? 'track-dot past' : 'track-dot ahead'}
            cx={LEFT + i * GAP}
            cy={Y}
            r={i < index ? 3.5 : 3}
          />
        ),
      )}
    </svg>
  );
}

function Current({ x, track }: { x: number; track: Track }) {
  const share = shareOf(track);
  return (
    <g class={track.halted ? undefined : 'track-live'}>
      <circle class="track-ring" cx={x} cy={Y} r={RADIUS} />
      {share !== undefined && !track.halted && (
        <circle
          class="track-fill"
          cx={x}
          cy={Y}
          r={RADIUS}
          stroke-dasharray={`${share * CIRCUMFERENCE} ${CIRCUMFERENCE}`}
          transform={`rotate(-90 ${x} ${Y})`}
        />
      )}
      {track.halted ? (
        <path
          class="track-bar"
          d={
            track.failed
              ? `M${x - 3} ${Y - 3}l6 6M${x + 3} ${Y - 3}l-6 6`
              : `M${x - 2.6} ${Y - 3.5}v7M${x + 2.6} ${Y - 3.5}v7`
          }
        />
      ) : (
        <circle class="track-core" cx={x} cy={Y} r={3} />
      )}
    </g>
  );
}

function shareOf({ from, until }: Track): number | undefined {
  if (!from || !until) return undefined;
  const [start, end] = [Date.parse(from), Date.parse(until)];
  return end > start ? Math.min(Math.max((now.value - start) / (end - start), 0), 1) : undefined;
}
