/** The port `DecisionLog`: one line for each decision. */
import { createHash } from 'node:crypto';
import type { DecisionLog, EventSink } from '../api/ports.ts';
import { identityOf } from '../core/kube/names.ts';
import { createLineLimit } from './lineLimit.ts';
import type { Logger } from './log.ts';
import { Lru } from './lru.ts';

/**
 * The number of recent decisions that aren't logged again: every sync repeats the decision on each of thousands of held
 * objects.
 */
const MAX_LOGGED_KEYS = 10_000;

/** In place of a key, which may have a text of a user, as large as an object. */
const digest = (key: string) => createHash('sha256').update(key).digest('base64');

/** @param clock milliseconds of a monotonic clock */
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
      isRateLimited,
    }) {
      const now = clock();
      const id = digest(key);
      const before = logged.get(id);
      if (before && now - before.at < againAfterMs) return;
      logged.set(id, { at: now });
      const fields = { kind, ...(namespace && { namespace }), name, reason, ...(user !== undefined && { user }) };
      const write = () => (warning ? log.warn(fields, message) : log.info(fields, message));
      if (isRateLimited) limited(`${namespace} ${reason}`, { namespace, reason }, write);
      else write();
    },
    considered(line) {
      if (!log.isLevelEnabled('debug')) return;
      const { message, ...fields } = line();
      log.debug(fields, message);
    },
  };
}

/** A sink that logs each Event as a decision. */
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
