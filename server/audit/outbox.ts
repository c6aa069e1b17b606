/** Events to deliver to a sink, in order and at least once; the number held in memory is limited. */

/** `taken`; `refused`: the sink rejects this event; `failed`: the sink may accept the event later. */
export type SinkAnswer = { outcome: 'taken' } | { outcome: 'refused' | 'failed'; why: string; retryAfterMs?: number };

interface OutboxOptions {
  limits: { events: number; bytes: number };
  /** Never rejects. */
  post(body: string): Promise<SinkAnswer>;
  wait(ms: number): Promise<unknown>;
  /** Counts each attempt that ended, and each event that was dropped. */
  count(result: 'sent' | 'failed' | 'dropped'): void;
  log: { info(fields: object, message: string): void; warn(fields: object, message: string): void };
}

interface Outbox {
  /** Adds the event. Resolves once there is room for it. */
  add(event: object): Promise<void>;
  /** Events that were not taken yet. */
  waiting(): number;
}

const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 60_000;
/**
 * An event is dropped after this many refusals: it would keep all later events waiting forever.
 * If the sink refuses every event, all are dropped this way, one after another.
 */
const MAX_REFUSALS = 5;

export function createOutbox({ limits, post, wait, count, log }: OutboxOptions): Outbox {
  const bodies: string[] = [];
  let bytes = 0;
  let isSending = false;
  let whenRoom: (() => void)[] = [];
  let problem: string | undefined;

  async function deliver(body: string): Promise<void> {
    let refusals = 0;
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
      const answer = await post(body);
      if (answer.outcome === 'taken') {
        if (problem !== undefined) log.info({}, 'the sink takes events again');
        problem = undefined;
        return count('sent');
      }
      count('failed');
      if (answer.why !== problem)
        log.warn({ why: answer.why, waiting: bodies.length }, 'event not taken, trying again');
      problem = answer.why;
      if (answer.outcome === 'refused' && ++refusals === MAX_REFUSALS) {
        log.warn({ why: answer.why, ...namesOf(body) }, 'event dropped');
        return count('dropped');
      }
      await wait(Math.max(pause, answer.retryAfterMs ?? 0));
    }
  }

  async function sendAll(): Promise<void> {
    if (isSending) return;
    isSending = true;
    for (let body = bodies[0]; body !== undefined; body = bodies[0]) {
      await deliver(body);
      bodies.shift();
      bytes -= Buffer.byteLength(body);
      const woken = whenRoom;
      whenRoom = [];
      for (const wake of woken) wake();
    }
    isSending = false;
  }

  const isFull = (size: number) => bodies.length > 0 && (bodies.length >= limits.events || bytes + size > limits.bytes);

  return {
    async add(event) {
      const body = JSON.stringify(event);
      const size = Buffer.byteLength(body);
      while (isFull(size)) await new Promise<void>((resolve) => whenRoom.push(resolve));
      bodies.push(body);
      bytes += size;
      void sendAll();
    },
    waiting: () => bodies.length,
  };
}

function namesOf(body: string): object {
  const { id, type, subject } = JSON.parse(body);
  return { id, type, subject };
}
