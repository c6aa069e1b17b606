/** The port `DecisionLog`: a line for each decision, once. */
import type { DecisionLog, EventSink } from '../api/ports.ts';
import { identityOf } from '../core/kube/names.ts';
import type { Logger } from './log.ts';
import { Lru } from './lru.ts';

/** Keys of recent decisions: each of thousands of held objects is decided again at every sync. */
const MAX_LOGGED_KEYS = 10_000;
/** Lines of cheap decisions with one reason, in one namespace. */
const MAX_CHEAP_LINES_PER_MINUTE = 60;
const MAX_LINE_COUNTS = 1000;
const MINUTE_MS = 60_000;

/** @param clock milliseconds that only grow */
export function createDecisionLog(
  log: Pick<Logger, 'debug' | 'info' | 'warn' | 'isLevelEnabled'>,
  clock: () => number,
): DecisionLog {
  const logged = new Lru<{ at: number }>(MAX_LOGGED_KEYS);
  const counts = new Lru<{ minute: number; count: number }>(MAX_LINE_COUNTS);

  /** Counts one more line, and returns how many there are in this minute. */
  const countLine = (what: string): number => {
    const minute = Math.floor(clock() / MINUTE_MS);
    const known = counts.get(what);
    const count = known?.minute === minute ? known.count + 1 : 1;
    counts.set(what, { minute, count });
    return count;
  };

  return {
    decided({
      kind,
      namespace,
      name,
      reason,
      message,
      user,
      key,
      againAfterMs = Number.POSITIVE_INFINITY,
      warning,
      isCheap,
    }) {
      const now = clock();
      const before = logged.get(key);
      if (before && now - before.at < againAfterMs) return;
      logged.set(key, { at: now });
      const count = isCheap ? countLine(`${namespace} ${reason}`) : 0;
      if (count > MAX_CHEAP_LINES_PER_MINUTE + 1) return;
      if (count > MAX_CHEAP_LINES_PER_MINUTE) {
        const text = `more than ${MAX_CHEAP_LINES_PER_MINUTE} lines in this minute: further ones are not logged`;
        return log.warn({ namespace, reason }, text);
      }
      const fields = { kind, ...(namespace && { namespace }), name, reason, ...(user !== undefined && { user }) };
      if (warning) log.warn(fields, message);
      else log.info(fields, message);
    },
    considered(line) {
      if (!log.isLevelEnabled('debug')) return;
      const { message, ...fields } = line();
      log.debug(fields, message);
    },
  };
}

/** Each Event is a decision: it is logged too. */
export function loggedEvents(decisions: DecisionLog): EventSink {
  return {
    record({ regarding, type, reason, message, key }) {
      const { kind, metadata } = regarding;
      const about = { kind, ...identityOf({ metadata }) };
      const whose = `${metadata.uid ?? `${kind} ${about.namespace}/${about.name}`}`;
      decisions.decided({ ...about, reason, message, key: `event ${whose} ${key}`, warning: type === 'Warning' });
    },
  };
}
