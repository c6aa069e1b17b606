/** Times in words, with the full time as a tooltip. */
import type { EpochMs } from '../../api/kubernetes.ts';
import { ageText, fullTime, relativeText } from '../../client/explain/when.ts';
import { clockText, now } from '../state/clock.ts';

interface TimeProps {
  time: string;
  text: (at: EpochMs, now: EpochMs) => string;
}

/** A time in words. Text that is not a time is shown unchanged: any user may have written it. */
function Time({ time, text }: TimeProps) {
  const at = Date.parse(time);
  if (Number.isNaN(at)) return <>{time}</>;
  return (
    <time dateTime={time} title={fullTime(at)}>
      {text(at, now.value)}
    </time>
  );
}

/** `Mon 08:00`. */
export function At({ time }: { time: string }) {
  return <Time time={time} text={clockText} />;
}

/** `2d ago`. */
export function Ago({ time, prefix = '' }: { time: string | undefined; prefix?: string }) {
  return time ? <Time time={time} text={(at, from) => prefix + relativeText(at, from)} /> : null;
}

/** `for 3h52m`. */
export function For({ since }: { since: string }) {
  return <Time time={since} text={(at, from) => `for ${ageText(from - at)}`} />;
}

/** `Mon 08:00, in 3h52m`. */
export function Until({ time }: { time: string }) {
  return <Time time={time} text={(at, from) => `${clockText(at, from)}, ${relativeText(at, from)}`} />;
}
