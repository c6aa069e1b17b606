/**
 * Compares this machine's clock with the API server's. Gates, schedules and bakes end by the clock: a replica whose
 * clock is ahead opens Gates that are still closed. So a replica with a wrong clock is not ready, and answers with an
 * error. It decides only writes of unmarked Flux objects, because the API server admits these after an error.
 */
import type { EpochMs } from '../../api/kubernetes.ts';
import { SERVER_LIMITS } from '../http/serverLimits.ts';
import type { Logger } from '../log.ts';
import type { ServedMetrics } from '../servedMetrics.ts';
import type { Transport } from './transport.ts';

const CHECK_MS = 10_000;
/** The header Date has whole seconds. */
const DATE_MS = 1000;

interface ClockCheckOptions {
  transport: Transport;
  now(): EpochMs;
  /** Milliseconds of a monotonic clock. */
  monotonic(): number;
  log: Pick<Logger, 'info' | 'error'>;
  metrics: Pick<ServedMetrics, 'clockAhead'>;
}

class ClockError extends Error {
  // Not 503: the API server quotes the text of a 500 in the error of the write, but not that of a 503.
  readonly status = 500;
}

export function createClockCheck({ transport, now, monotonic, log, metrics }: ClockCheckOptions) {
  const offset = () => now() - monotonic();
  // Until the first answer of an API server this clock counts as right.
  let checked = { difference: 0, offset: offset() };
  let wasWrong = false;

  /** Compares the clocks now. An API server that does not answer changes nothing. */
  const check = async () => {
    const sent = { at: now(), offset: offset() };
    const dated = (at: EpochMs) => {
      // By the clock as it was at the sending: it may have been set since.
      const received = sent.offset + monotonic();
      checked = { difference: differenceOf(at, sent.at, received), offset: sent.offset };
    };
    await transport.send({ path: '/version', dated }).catch(() => undefined);
    metrics.clockAhead(difference() / 1000);
    const found = problem();
    if (found && !wasWrong) log.error(`not ready: ${found}`);
    if (!found && wasWrong) log.info('ready: the clock is right again');
    wasWrong = found !== undefined;
  };

  // Includes the time by which the clock was set since the check: otherwise Gates would open too early until the next.
  const difference = () => checked.difference + offset() - checked.offset;
  /** Why the clock can't be used; undefined if it can. */
  const problem = () => problemOf(difference());

  /** The time. @throws ClockError if the clock can't be used */
  const time = (): EpochMs => {
    const found = problem();
    if (found) throw new ClockError(found);
    return now();
  };

  /** Calls `check` in intervals until the process ends. */
  const repeat = () => void setInterval(check, CHECK_MS).unref();

  return { check, problem, time, repeat };
}

/** Milliseconds by which this clock is ahead; negative if it is behind. The API server has answered in between. */
function differenceOf(api: EpochMs, sent: EpochMs, received: EpochMs): number {
  if (sent > api + DATE_MS) return sent - api - DATE_MS;
  return Math.min(received - api, 0);
}

function problemOf(difference: number): string | undefined {
  if (Math.abs(difference) <= SERVER_LIMITS.clockSeconds * 1000) return undefined;
  const seconds = Math.round(Math.abs(difference) / 1000);
  return `the clock is ${seconds} s ${difference > 0 ? 'ahead of' : 'behind'} the API server's`;
}
