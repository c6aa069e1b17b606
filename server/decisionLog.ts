/** The port `DecisionLog`: a line for each decision, once. */
import type { DecisionLog, EventSink } from '../api/ports.ts';
import { identityOf } from '../core/kube/names.ts';
import { createLineLimit } from './lineLimit.ts';
import type { Logger } from './log.ts';
import { Lru } from './lru.ts';

/** Keys of recent decisions: each of thousands of held objects is decided again at every sync. */
const MAX_LOGGED_KEYS = 10_000;

/** @param clock milliseconds that only grow */
export function createDecisionLog(
  log: Pick<Logger, 'debug' | 'info' | 'warn' | 'isLevelEnabled'>,
  clock: () => number,
): DecisionLog {
  const logged = new Lru<{ at: number }>(MAX_LOGGED_KEYS);
  const limited = createLineLimit(log, clock);

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
      const fields = { kind, ...(namespace && { namespace }), name, reason, ...(user !== undefined && { user }) };
      const write = () => (warning ? log.warn(fields, message) : log.info(fields, message));
      if (isCheap) limited(`${namespace} ${reason}`, { namespace, reason }, write);
      else write();
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
