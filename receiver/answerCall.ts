/**
 * The common part of signed calls and calls with ID tokens: annotating the Gate, limiting callers, logging refusals.
 */
import { GATES } from '../api/kinds.ts';
import type { EpochMs, NamespacedName } from '../api/kubernetes.ts';
import type { ReceiverPorts } from '../api/ports.ts';
import type { Gate } from '../api/types.ts';
import { identityOf, refKey } from '../core/kube/names.ts';
import type { CallDecision } from '../core/receiver/acceptCall.ts';

/** The most attempts to write: another replica, or a user, may write the Gate in between. */
const MAX_ATTEMPTS = 4;
/** The most calls per path and process that may be valid: each costs reads and a write. */
const MAX_CALLS_PER_MINUTE = 60;
/** The most log lines for one key: any client can call. */
export const MAX_LINES_PER_MINUTE = 10;

export interface CallOutcome {
  status: 200 | 400 | 404 | 429 | 503;
  retryAfterSeconds?: number;
  /** The reason of a refusal, for our log. */
  reason?: string;
}

/** Decides on the call and annotates the Gate. After a conflict it reads the Gate again and decides again. */
export async function answerCall(
  found: Gate,
  decide: (gate: Gate) => Promise<CallDecision | CallOutcome>,
  { cluster, writer }: ReceiverPorts,
): Promise<CallOutcome> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    // Read again on each attempt: the call may have been used in the meantime.
    const gate = attempt === 0 ? found : await cluster.get<Gate>({ ...GATES, ...identityOf(found) });
    if (!gate) return { status: 404 };
    if (gate.metadata.deletionTimestamp) return { status: 503, reason: 'the Gate is being deleted' };
    const decision = await decide(gate);
    if (!('annotations' in decision)) return decision;
    const written = await writer.annotate(gate, decision.annotations);
    if (written === 'stored') return { status: 200 };
    if (written === 'forbidden')
      return {
        status: 503,
        reason: "the server isn't allowed to patch the Gate: bind a role to it, such as rollout-hooks-gate-receiver",
      };
  }
  return { status: 503, reason: 'other clients kept writing the Gate', retryAfterSeconds: 1 };
}

/** The limits of calls and of log lines, for each path. */
export function createLimits({ now, log }: Pick<ReceiverPorts, 'now' | 'log'>) {
  const isLogged = createCallLimit(now, MAX_LINES_PER_MINUTE);
  return {
    isWithinLimit: createCallLimit(now, MAX_CALLS_PER_MINUTE),
    /**
     * Logs the outcome's reason, which the caller's empty answer lacks, and returns the outcome. Callers can't flood
     * the log.
     */
    withLog(path: string, ref: NamespacedName, outcome: CallOutcome): CallOutcome {
      const { status, reason } = outcome;
      if (reason && isLogged(path)) {
        log.warn({ gate: refKey(ref), status }, `call refused: ${reason}`);
      }
      return outcome;
    },
  };
}

/**
 * A function that returns false once a key has exceeded its calls per minute. The map stays small, because only a few
 * keys are ever counted.
 */
export function createCallLimit(now: () => EpochMs, perMinute: number): (key: string) => boolean {
  let minute = 0;
  let counts = new Map<string, number>();
  return (key) => {
    const current = Math.floor(now() / 60_000);
    if (current !== minute) {
      minute = current;
      counts = new Map();
    }
    const count = (counts.get(key) ?? 0) + 1;
    counts.set(key, count);
    return count <= perMinute;
  };
}
