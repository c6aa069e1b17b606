/** A time, relative, with the full one to hover over. */
import { clockTime, fullTime, now, relative, span } from '../state/clock.ts';

export function Ago({ time, prefix = '' }: { time: string | undefined; prefix?: string }) {
  if (!time) return null;
  return (
    <time dateTime={time} title={fullTime(time)}>
      {prefix}
      {relative(time, now.value)}
    </time>
  );
}

/** `for 3h 52m`. */
export function For({ since }: { since: string }) {
  return (
    <time dateTime={since} title={fullTime(since)}>
      for {span(now.value - Date.parse(since))}
    </time>
  );
}

/** `Mon 08:00, in 3h 52m`. */
export function Until({ time }: { time: string }) {
  return (
    <time dateTime={time} title={fullTime(time)}>
      {clockTime(time, now.value)}, {relative(time, now.value)}
    </time>
  );
}
