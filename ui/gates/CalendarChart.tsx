/** Gates over the coming days: a band while one is closed, dashed if planned. Dragging on top plans a freeze. */
import { useRef, useState } from 'preact/hooks';
import type { Band, GateView, ScheduleView } from '../../client/board/planViews.ts';
import { rowKey } from '../../client/board/row.ts';
import { countOf } from '../../core/text/count.ts';
import { Icon } from '../elements/Icon.tsx';
import { clockText, dayName, monthDay, now } from '../state/clock.ts';
import { linkTo } from '../state/route.ts';
import { useWidth } from '../state/width.ts';

const DAY_MS = 86_400_000;
const QUARTER_MS = 900_000;
/** The smallest width of a band, in pixels: it stays visible beside the line of the present. */
const MIN_BAND_WIDTH = 7;
/** A band has its text if so many characters, or all of them, fit: a shorter part has no meaning. */
const MIN_CHARACTERS = 12;
const CHARACTER_WIDTH = 7;
const BAND_PADDING = 24;

/** A Gate or a schedule. */
interface CalendarLine {
  id: string;
  name: string;
  /** The text below the name: the namespace, and the number of held objects. */
  about: string;
  /** The address of its page; absent if it has none. */
  to?: string;
  opened: boolean;
  bands: readonly Band[];
}

interface CalendarChartProps {
  lines: readonly CalendarLine[];
  days: number;
  /** Plans a freeze; absent if the reader isn't allowed to. */
  onPlan?: (from: number, to: number) => void;
}

/** The last midnight in the browser's time zone. */
function startOfToday(at: number): number {
  return new Date(at).setHours(0, 0, 0, 0);
}

export function CalendarChart({ lines, days, onPlan }: CalendarChartProps) {
  const lane = useRef<HTMLDivElement>(null);
  const width = useWidth(lane, 800);
  const start = startOfToday(now.value);
  const x = (time: number) => ((time - start) / (days * DAY_MS)) * width;
  const dates = Array.from({ length: days }, (_, index) => new Date(start).setDate(new Date(start).getDate() + index));
  const every = width / days < 46 ? Math.ceil(46 / (width / days)) : 1;
  return (
    <div class="calendar">
      <div class="calendar-head">
        <span class="calendar-name">Gate or schedule</span>
        <div class="calendar-lane" ref={lane}>
          {dates.map((date, index) => (
            <span
              key={date}
              class={`calendar-day${isWeekend(date) ? ' weekend' : ''}`}
              style={{ left: `${x(date)}px`, width: `${width / days}px` }}
            >
              {index % every === 0 ? shortDay(date, width / days, index === 0 ? 31 : every) : ''}
            </span>
          ))}
        </div>
      </div>
      {onPlan && <PlanLine start={start} days={days} x={x} onPlan={onPlan} />}
      {lines.map(({ id, name, about, to, opened, bands }) => (
        <div key={id} class="calendar-row">
          <span class="calendar-name">
            <span class={`tile calendar-lock tone-${opened ? 'calm' : 'held'}`}>
              <Icon name={opened ? 'open' : 'closed'} label={opened ? 'open' : 'closed'} />
            </span>
            <span class="stack tight calendar-gate">
              {to ? (
                <a class="clip" href={to}>
                  {name}
                </a>
              ) : (
                <strong class="clip">{name}</strong>
              )}
              <small class="meta clip">{about}</small>
            </span>
          </span>
          <div class="calendar-lane">
            {dates.filter(isWeekend).map((date) => (
              <span key={date} class="calendar-shade" style={{ left: `${x(date)}px`, width: `${width / days}px` }} />
            ))}
            {bands.map((band) => (
              <BandBox key={band.from} band={band} x={x} width={width} from={start} />
            ))}
            <span class="calendar-now" style={{ left: `${x(now.value)}px` }} />
          </div>
        </div>
      ))}
    </div>
  );
}

export function gateLine(gate: GateView): CalendarLine {
  const { cluster, id, namespace, name, requiredByCount: count, opened, bands } = gate;
  const objects = count === undefined ? undefined : count === 0 ? 'holds nothing' : countOf(count, 'object');
  const about = [cluster, namespace, objects].filter(Boolean).join(' · ');
  return { id: `gate ${rowKey({ cluster, id })}`, name, about, to: linkTo.gate(id, cluster), opened, bands };
}

/** The line of a schedule. A ClusterRolloutSchedule has no page of its own. */
export function scheduleLine(schedule: ScheduleView): CalendarLine {
  const { cluster, id, kind, namespace, name, holds, opened, bands, problem } = schedule;
  const where = namespace || 'all namespaces';
  return {
    id: `schedule ${rowKey({ cluster, id })}`,
    name,
    about: [cluster, where, problem ? `opens and closes nothing: ${problem}` : holds, 'schedule']
      .filter(Boolean)
      .join(' · '),
    ...(namespace && { to: linkTo.object({ kind, namespace, name }, cluster) }),
    opened,
    bands,
  };
}

function BandBox({ band, x, width, from }: { band: Band; x: (time: number) => number; width: number; from: number }) {
  const left = Math.max(x(Math.max(Date.parse(band.from), from)), 0);
  const right = Math.min(band.to ? x(Date.parse(band.to)) : width, width);
  if (right <= 0 || left >= width || band.state === 'open') return null;
  const text = bandText(band);
  const label = band.why.replace(/^closed /, '');
  const isReadable = right - left > Math.min(label.length, MIN_CHARACTERS) * CHARACTER_WIDTH + BAND_PADDING;
  return (
    <span
      class={`band tone-held${band.planned ? ' planned' : ''}`}
      style={{ left: `${left}px`, width: `${Math.max(right - left - 1, MIN_BAND_WIDTH)}px` }}
      title={text}
    >
      <span class="clip band-text">{isReadable && label}</span>
      <span class="hidden">{text}</span>
    </span>
  );
}

function bandText({ from, to, why, planned }: Band): string {
  const text = (time: string) => clockText(Date.parse(time), now.peek());
  const what = planned ? 'Planned closing' : 'Closed';
  return `${what} from ${text(from)}${to ? ` to ${text(to)}` : ' on'}: ${why}`;
}

interface PlanLineProps {
  start: number;
  days: number;
  x: (time: number) => number;
  onPlan: (from: number, to: number) => void;
}

/** The line on which dragging plans a freeze, in steps of 15 minutes in a week, of an hour in a month. */
function PlanLine({ start, days, x, onPlan }: PlanLineProps) {
  const [drag, setDrag] = useState<{ from: number; to: number } | undefined>();
  const step = days > 10 ? 4 * QUARTER_MS : QUARTER_MS;
  const timeAt = (event: PointerEvent) => {
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
    const share = Math.min(Math.max((event.clientX - box.left) / box.width, 0), 1);
    return Math.round((start + share * days * DAY_MS) / step) * step;
  };
  const [from, to] = drag ? [Math.min(drag.from, drag.to), Math.max(drag.from, drag.to)] : [0, 0];
  return (
    <div class="calendar-row calendar-plan">
      <span class="calendar-name">
        <span class="calendar-gate meta">Plan a freeze</span>
      </span>
      <div
        class="calendar-lane"
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          const at = timeAt(event);
          setDrag({ from: at, to: at });
        }}
        onPointerMove={(event) => drag && setDrag({ ...drag, to: timeAt(event) })}
        onPointerUp={() => {
          setDrag(undefined);
          if (drag && to > Math.max(from, now.value)) onPlan(Math.max(from, now.value), to);
        }}
        onPointerCancel={() => setDrag(undefined)}
      >
        {drag ? (
          <span
            class="band tone-held planned"
            style={{ left: `${x(from)}px`, width: `${Math.max(x(to) - x(from), 2)}px` }}
          >
            <span class="clip band-text">
              {clockText(from, now.value)} – {clockText(to, now.value)}
            </span>
          </span>
        ) : (
          <span class="meta calendar-hint">drag from start to end</span>
        )}
      </div>
    </div>
  );
}

function isWeekend(date: number): boolean {
  return new Date(date).getDay() % 6 === 0;
}

/** The label of a day. `every`: one in so many days has a label; the first one of a month has the month. */
function shortDay(date: number, room: number, every: number): string {
  if (room > 90) return dayName(date);
  const day = new Date(date).getDate();
  return day <= every ? monthDay(date) : String(day);
}
