/** A bounded queue that delivers events to a sink, in order and at least once. */

/**
 * The sink's answer to one event. `refused`: it rejects this event, or the sender; `failed`: it may take the event
 * later.
 */
export type SinkAnswer = { outcome: 'taken' } | { outcome: 'refused' | 'failed'; why: string; retryAfterMs?: number };

interface OutboxOptions {
  /** Limits of the queue, and again of the list of refused events. */
  limits: { events: number; bytes: number };
  /** Never rejects. */
  post(body: string): Promise<SinkAnswer>;
  wait(ms: number): Promise<unknown>;
  /** Counts one finished attempt, or one dropped event. */
  count(result: 'sent' | 'failed' | 'dropped'): void;
  log: { info(fields: object, message: string): void; warn(fields: object, message: string): void };
}

const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 60_000;
/** The longest Retry-After that is obeyed. Node ends a timer of more than 24 days at once. */
const LONGEST_RETRY_AFTER_MS = 3_600_000;
/** After this many refusals in a row the sender pauses: the cause may be the sender itself, such as its token. */
const MAX_REFUSED_IN_A_ROW = 20;
/** An event is dropped after this many refusals, if the sink took other events between them. */
const MAX_REFUSALS = 5;

interface Refused {
  body: string;
  refusals: number;
  /** The value of `taken` at the last refusal that counts. */
  takenBefore: number;
}

export function createOutbox({ limits, post, wait, count, log }: OutboxOptions) {
  const events = createList<{ body: string }>(limits);
  const refused = createList<Refused>(limits);
  let isSending = false;
  let isRetrying = false;
  let taken = 0;
  let refusedInARow = 0;
  let whenRoom: (() => void)[] = [];
  let problem: string | undefined;

  /** Posts the event, counts the attempt, and logs a change of the problem. */
  async function attempt(body: string): Promise<SinkAnswer> {
    const answer = await post(body);
    if (answer.outcome === 'taken') {
      if (problem !== undefined) log.info({}, 'the sink takes events again');
      problem = undefined;
      taken += 1;
      refusedInARow = 0;
      count('sent');
      return answer;
    }
    count('failed');
    if (answer.why !== problem) log.warn({ why: answer.why, waiting: waiting() }, 'event not taken, trying again');
    problem = answer.why;
    return answer;
  }

  /** Sends the event until the sink takes it. If the sink refuses it, moves it to the list of refused events. */
  async function deliver(body: string): Promise<void> {
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
      const answer = await attempt(body);
      if (answer.outcome === 'taken') return;
      if (answer.outcome === 'refused' && !refused.isFullFor(body)) {
        refused.add({ body, refusals: 1, takenBefore: taken });
        void retryRefused();
        refusedInARow += 1;
        if (refusedInARow > MAX_REFUSED_IN_A_ROW) await wait(FIRST_PAUSE_MS);
        return;
      }
      await wait(Math.max(pause, Math.min(answer.retryAfterMs ?? 0, LONGEST_RETRY_AFTER_MS)));
    }
  }

  async function sendAll(): Promise<void> {
    if (isSending) return;
    isSending = true;
    for (let event = events.first(); event !== undefined; event = events.first()) {
      await deliver(event.body);
      events.remove(event);
      const woken = whenRoom;
      whenRoom = [];
      for (const wake of woken) wake();
    }
    isSending = false;
  }

  /** Sends refused events again, concurrently with the others, which must not wait for them. */
  async function retryRefused(): Promise<void> {
    if (isRetrying) return;
    isRetrying = true;
    for (let pause = FIRST_PAUSE_MS; refused.length() > 0; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
      await wait(pause);
      for (const each of refused.all()) {
        const answer = await attempt(each.body);
        if (answer.outcome === 'failed') break;
        if (answer.outcome === 'refused') {
          // If the sink has taken no event in between, the cause may be the sender, so this refusal doesn't count.
          if (each.takenBefore === taken) {
            // The others would be refused too, so only one is sent per pause.
            refused.remove(each);
            refused.add(each);
            break;
          }
          each.refusals += 1;
          each.takenBefore = taken;
          if (each.refusals < MAX_REFUSALS) continue;
          log.warn({ why: answer.why, ...namesOf(each.body) }, 'event dropped');
          count('dropped');
        }
        refused.remove(each);
      }
    }
    isRetrying = false;
  }

  const waiting = () => events.length() + refused.length();

  return {
    /** Adds the event. Resolves once there is room for it. */
    async add(event: object): Promise<void> {
      const body = JSON.stringify(event);
      while (events.isFullFor(body)) await new Promise<void>((resolve) => whenRoom.push(resolve));
      events.add({ body });
      void sendAll();
    },
    /** The number of events that the sink has not taken. */
    waiting,
  };
}

/** An ordered list with limits. An empty list accepts an event of any size. */
function createList<Item extends { body: string }>(limits: OutboxOptions['limits']) {
  const items = new Set<Item>();
  let bytes = 0;
  return {
    all: (): Item[] => [...items],
    first: (): Item | undefined => items.values().next().value,
    length: () => items.size,
    isFullFor: (body: string) =>
      items.size > 0 && (items.size >= limits.events || bytes + Buffer.byteLength(body) > limits.bytes),
    add(item: Item) {
      items.add(item);
      bytes += Buffer.byteLength(item.body);
    },
    remove(item: Item) {
      items.delete(item);
      bytes -= Buffer.byteLength(item.body);
    },
  };
}

function namesOf(body: string): object {
  const { id, type, subject } = JSON.parse(body);
  return { id, type, subject };
}
