/** Events are sent in order until the sink accepts them; a full queue blocks its callers. Time is a list of waits. */
import { describe, expect, it } from 'vitest';
import { createOutbox, type SinkAnswer } from '../../../server/audit/outbox.ts';

const TAKEN: SinkAnswer = { outcome: 'taken' };
const failed = (why = 'status 503', retryAfterMs?: number): SinkAnswer => ({
  outcome: 'failed',
  why,
  ...(retryAfterMs !== undefined && { retryAfterMs }),
});
const settle = () => new Promise<void>((resolve) => setImmediate(resolve));
const refused: SinkAnswer = { outcome: 'refused', why: 'status 400' };

/** Answers in turn; the last one is repeated. `hold` delays answers until `release`. */
function outboxOf(answers: SinkAnswer[], limits = { events: 100, bytes: 1_000_000 }) {
  const posted: string[] = [];
  const waits: number[] = [];
  const counts = { sent: 0, failed: 0, dropped: 0 };
  const logged: string[] = [];
  let held: (() => void)[] | undefined;
  const outbox = createOutbox({
    limits,
    post: async (body) => {
      posted.push(JSON.parse(body).id);
      if (held) await new Promise<void>((resolve) => held!.push(resolve));
      return answers.length > 1 ? answers.shift()! : answers[0]!;
    },
    wait: async (ms) => void waits.push(ms),
    count: (result) => {
      counts[result] += 1;
    },
    log: {
      info: (_, message) => void logged.push(message),
      warn: (fields, message) => void logged.push(`${message}: ${(fields as { why: string }).why}`),
    },
  });
  return {
    outbox,
    posted,
    waits,
    counts,
    logged,
    hold: () => {
      held = [];
    },
    async release() {
      const all = held ?? [];
      held = undefined;
      for (const each of all) each();
      await settle();
    },
  };
}

const event = (id: string, more: object = {}) => ({ id, type: 'com.kuberik.audit.Closed', subject: 'Gate/x', ...more });

describe('a sink that fails', () => {
  it('gets an event again until it accepts it, in order, with growing pauses', async () => {
    const box = outboxOf([...Array.from({ length: 8 }, () => failed()), TAKEN]);
    await box.outbox.add(event('a'));
    await box.outbox.add(event('b'));
    await settle();
    expect(box.posted).toEqual([...Array(9).fill('a'), 'b']);
    expect(box.waits).toEqual([1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000]);
    expect(box.counts).toEqual({ sent: 2, failed: 8, dropped: 0 });
    expect(box.outbox.waiting()).toBe(0);
  });

  it('is retried after its Retry-After', async () => {
    const box = outboxOf([failed('status 429', 120_000), TAKEN]);
    await box.outbox.add(event('a'));
    await settle();
    expect(box.waits).toEqual([120_000]);
  });

  it('is retried after an hour at most: longer timers end at once', async () => {
    const box = outboxOf([failed('status 503', 31_536_000_000), TAKEN]);
    await box.outbox.add(event('a'));
    await settle();
    expect(box.waits).toEqual([3_600_000]);
  });

  it('is logged when it begins to, for another reason, and when it is over', async () => {
    const box = outboxOf([failed(), failed(), failed('ECONNREFUSED'), TAKEN]);
    await box.outbox.add(event('a'));
    await settle();
    const again = 'event not taken, trying again';
    expect(box.logged).toEqual([`${again}: status 503`, `${again}: ECONNREFUSED`, 'the sink takes events again']);
  });
});

describe('an event that the sink refuses', () => {
  /** A sink that refuses the events of these ids. */
  function refusing(...ids: string[]) {
    const refusals = new Set(ids);
    const waits: (() => void)[] = [];
    const [sent, logged]: [string[], string[]] = [[], []];
    const counts = { sent: 0, failed: 0, dropped: 0 };
    const outbox = createOutbox({
      limits: { events: 3, bytes: 1_000_000 },
      post: async (body) => {
        const { id } = JSON.parse(body);
        if (refusals.has(id)) return refused;
        sent.push(id);
        return TAKEN;
      },
      wait: () => new Promise<void>((resolve) => waits.push(resolve)),
      count: (result) => {
        counts[result] += 1;
      },
      log: { info: () => {}, warn: (fields, message) => void logged.push(`${message} ${(fields as any).id ?? ''}`) },
    });
    const later = async (times = 1) => {
      for (let i = 0; i < times; i++) {
        waits.shift()?.();
        await settle();
      }
    };
    return { ...outbox, refusals, sent, counts, later, logged };
  }

  it('keeps no other waiting, however many there are', async () => {
    const box = refusing('a', 'b', 'c');
    for (const id of ['a', 'b', 'c', 'd', 'e']) await box.add(event(id));
    await settle();
    expect(box.sent).toEqual(['d', 'e']);
  });

  it('is sent again, and dropped after five refusals between which the sink took others', async () => {
    const box = refusing('a');
    await box.add(event('a'));
    for (const id of ['b', 'c', 'd']) {
      await box.add(event(id));
      await box.later();
    }
    expect([box.counts, box.waiting()]).toEqual([{ sent: 3, failed: 4, dropped: 0 }, 1]);
    await box.later(10);
    expect([box.counts.dropped, box.waiting()]).toEqual([0, 1]);
    await box.add(event('e'));
    await box.later();
    expect([box.counts.dropped, box.waiting()]).toEqual([1, 0]);
    expect(box.logged.at(-1)).toBe('event dropped a');
  });

  it('is kept if the sink took others only before it began to refuse every event', async () => {
    const box = refusing('a');
    await box.add(event('a'));
    await box.add(event('b'));
    await settle();
    await box.later(20);
    box.refusals.clear();
    await box.later();
    expect([box.sent, box.counts.dropped, box.waiting()]).toEqual([['b', 'a'], 0, 0]);
  });

  it('is kept while the sink refuses every event, as without a valid token, and sent when it no longer does', async () => {
    const box = refusing('a', 'b');
    await box.add(event('a'));
    await box.add(event('b'));
    await settle();
    await box.later(20);
    expect([box.counts.dropped, box.waiting()]).toEqual([0, 2]);
    box.refusals.delete('b');
    await box.later(3);
    expect([box.sent, box.counts.dropped, box.waiting()]).toEqual([['b'], 0, 1]);
    box.refusals.clear();
    await box.later();
    expect([box.sent, box.waiting()]).toEqual([['b', 'a'], 0]);
  });

  it('fills no more than another queue: then all wait', async () => {
    const ids = ['a', 'b', 'c', 'd', 'e', 'f'];
    const box = refusing(...ids);
    for (const id of ids) await box.add(event(id));
    let isIn = false;
    void box.add(event('g')).then(() => {
      isIn = true;
    });
    await settle();
    expect([isIn, box.waiting()]).toEqual([false, 6]);
  });
});

describe('a full queue', () => {
  it.each([
    ['by number', { events: 2, bytes: 1_000_000 }],
    ['by bytes', { events: 100, bytes: 2 * JSON.stringify(event('a')).length }],
  ])('%s keeps the third event waiting until there is room, and loses none', async (_, limits) => {
    const box = outboxOf([TAKEN], limits);
    box.hold();
    await box.outbox.add(event('a'));
    await box.outbox.add(event('b'));
    let isIn = false;
    const third = box.outbox.add(event('c')).then(() => {
      isIn = true;
    });
    await settle();
    expect([isIn, box.outbox.waiting()]).toEqual([false, 2]);
    await box.release();
    await third;
    await settle();
    expect(box.posted).toEqual(['a', 'b', 'c']);
  });

  it('takes an event that is larger than the whole queue alone', async () => {
    const box = outboxOf([TAKEN], { events: 10, bytes: 10 });
    await box.outbox.add(event('a', { text: 'x'.repeat(1000) }));
    await settle();
    expect(box.posted).toEqual(['a']);
  });
});

it('a sink that refuses every event is not asked without a pause', async () => {
  let posts = 0;
  let waits = 0;
  const outbox = createOutbox({
    limits: { events: 500, bytes: 1_000_000 },
    post: async () => {
      posts += 1;
      return refused;
    },
    wait: async () => {
      waits += 1;
      if (waits > 100) await new Promise(() => {});
      await settle();
    },
    count: () => {},
    log: { info: () => {}, warn: () => {} },
  });
  for (let i = 0; i < 500; i += 1) void outbox.add(event(`${i}`));
  for (let i = 0; i < 500; i += 1) await settle();
  expect(posts - waits).toBeLessThan(30);
});
