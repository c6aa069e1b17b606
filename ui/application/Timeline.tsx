/** Deployments over time, to zoom and drag: a bar from each to the next, with the time until it had baked. */
import { scaleTime } from 'd3-scale';
import { select } from 'd3-selection';
import { type D3ZoomEvent, type ZoomTransform, zoom, zoomIdentity } from 'd3-zoom';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { DeploymentView } from '../../client/explain/application.ts';
import { ageText, fullTime } from '../../client/explain/when.ts';
import { Icon } from '../look/Icon.tsx';
import { OUTCOMES } from '../look/words.ts';
import { now, tickText } from '../state/clock.ts';
import { useWidth } from '../state/width.ts';

const HEIGHT = 108;
const BAR = { y: 26, height: 40 };
const AXIS = 84;
/** Half the width of a label, in pixels. A label that would be cut off is left out. */
const HALF_LABEL_WIDTH = 20;
/** The width of a character of a version, in pixels. */
const CHARACTER_WIDTH = 7.2;

/** `history`: at least one deployment. */
export function Timeline({ history }: { history: readonly DeploymentView[] }) {
  const svg = useRef<SVGSVGElement>(null);
  const width = useWidth(svg, 900);
  const [transform, setTransform] = useState<ZoomTransform>(zoomIdentity);
  const behaviour = useMemo(
    () =>
      zoom<SVGSVGElement, unknown>()
        .scaleExtent([1, 5000])
        // The wheel alone scrolls the page; with a key it zooms.
        .filter((event: WheelEvent) => event.type !== 'wheel' || event.ctrlKey || event.metaKey || event.shiftKey)
        .on('zoom', (event: D3ZoomEvent<SVGSVGElement, unknown>) => setTransform(event.transform)),
    [],
  );
  useEffect(() => {
    if (!svg.current) return;
    behaviour
      .translateExtent([
        [0, 0],
        [width, HEIGHT],
      ])
      .extent([
        [0, 0],
        [width, HEIGHT],
      ]);
    select(svg.current).call(behaviour);
  }, [width]);
  const first = history.at(-1)!;
  const end = now.value;
  const start = Math.min(Date.parse(first.at), end - 120_000);
  const x = transform.rescaleX(scaleTime([start - (end - start) * 0.02, end + (end - start) * 0.02], [0, width]));
  const zoomBy = (factor: number) => svg.current && select(svg.current).call(behaviour.scaleBy, factor);
  const ticks = x
    .ticks(Math.max(2, Math.floor(width / 130)))
    .filter((tick) => x(tick) > HALF_LABEL_WIDTH && x(tick) < width - HALF_LABEL_WIDTH);
  const bars = [...history].reverse().map((each, index, all) => ({
    each,
    from: Date.parse(each.at),
    to: all[index + 1] ? Date.parse(all[index + 1]!.at) : end,
  }));
  return (
    <div class="timeline">
      <div class="timeline-tools">
        <button type="button" class="quiet" aria-label="Zoom in" onClick={() => zoomBy(2)}>
          <Icon name="plus" />
        </button>
        <button type="button" class="quiet" aria-label="Zoom out" onClick={() => zoomBy(0.5)}>
          <Icon name="minus" />
        </button>
      </div>
      <svg
        ref={svg}
        class="timeline-picture"
        width="100%"
        height={HEIGHT}
        role="img"
        aria-label={`${history.length} deployments since ${fullTime(Date.parse(first.at))}; the table below lists them`}
      >
        {ticks.map((tick) => (
          <g key={tick.getTime()} transform={`translate(${x(tick)} 0)`}>
            <line class="timeline-tick" y1={BAR.y - 8} y2={AXIS} />
            <text class="timeline-label" y={AXIS + 15} text-anchor="middle">
              {tickText(tick)}
            </text>
          </g>
        ))}
        {bars.map(({ each, from, to }) => (
          <Bar key={each.id} each={each} left={x(from)} right={x(to)} x={(time) => x(Date.parse(time))} width={width} />
        ))}
        <line class="timeline-now" x1={x(end)} x2={x(end)} y1={BAR.y - 10} y2={AXIS} />
      </svg>
    </div>
  );
}

interface BarProps {
  each: DeploymentView;
  left: number;
  right: number;
  x: (time: string) => number;
  width: number;
}

function Bar({ each, left, right, x, width }: BarProps) {
  if (right < -20 || left > width + 20) return null;
  const look = OUTCOMES[each.outcome];
  const size = Math.max(right - left - 2, 3);
  const settled = each.endedAt ?? each.appliedAt;
  const busy = Math.min(settled ? Math.max(x(settled) - left, 0) : right - left, size);
  const visible = Math.min(right, width) - Math.max(left, 0);
  const room = each.version.length * CHARACTER_WIDTH + 16;
  // The label is beside the dark part, if there is enough space.
  const text = Math.max(left + (visible - busy > room ? busy : 0), 0) + 8;
  return (
    <g class={`timeline-bar tone-${look.tone}`}>
      <title>
        {`${each.version}: ${look.text}\n${fullTime(Date.parse(each.at))}${settled ? `, settled after ${ageText(Date.parse(settled) - Date.parse(each.at))}` : ''}\n${each.reason ?? each.message ?? ''}`}
      </title>
      <rect class="timeline-rest" x={left} y={BAR.y} width={size} height={BAR.height} rx="6" />
      <rect class="timeline-busy" x={left} y={BAR.y} width={Math.max(busy, 3)} height={BAR.height} rx="3" />
      {visible > room && (
        <text class="timeline-version" x={text} y={BAR.y + 25}>
          {each.version}
        </text>
      )}
    </g>
  );
}
