/**
 * Compares this machine's clock with the API server's. Gates, schedules and bakes end by the clock: a replica whose
 * clock is ahead opens Gates that are still closed. So such a replica is not ready.
 */
import type { EpochMs } from '../../api/kubernetes.ts';
import { SERVER_LIMITS } from '../http/serverLimits.ts';
import type { Logger } from '../log.ts';
import type { Transport } from './transport.ts';

const CHECK_MS = 10_000;
/** The header Date has whole seconds. */
const DATE_MS = 1000;

interface ClockCheckOptions {
  transport: Transport;
  now(): EpochMs;
  log: Pick<Logger, 'info' | 'error'>;
}

interface ClockCheck {
  /** Compares the clocks now. An API server that does not answer changes nothing. */
  check(): Promise<void>;
  /** Why the clock can't be used; undefined if it can. */
  problem(): string | undefined;
  /** Calls `check` in intervals until the process ends. */
  repeat(): void;
}

export function createClockCheck({ transport, now, log }: ClockCheckOptions): ClockCheck {
  let problem: string | undefined;

  const check = async () => {
    const sent = now();
    let difference: number | undefined;
    const dated = (at: EpochMs) => {
      difference = differenceOf(at, sent, now());
    };
    await transport.send({ path: '/version', dated }).catch(() => undefined);
    if (difference === undefined) return;
    const found = problemOf(difference);
    if (found && !problem) log.error(`not ready: ${found}`);
    if (!found && problem) log.info('ready: the clock is right again');
    problem = found;
  };

  return { check, problem: () => problem, repeat: () => void setInterval(check, CHECK_MS).unref() };
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
