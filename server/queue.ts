interface QueueOptions<Item> {
  /** The most items that wait; running ones don't count. */
  limit: number;
  atOnce: number;
  /** Lanes take turns; without lanes the order is first in, first out. */
  lanes?: {
    of(item: Item): string;
    /** The most running items of one lane. */
    atOnce: number;
    /** Called for a waiting item that a full queue drops in favour of a shorter lane. */
    evicted(item: Item): void;
  };
  work(item: Item): Promise<void>;
  /** Called for each rejection of `work`. */
  failed(item: Item, error: unknown): void;
}

interface Lane<Item> {
  waiting: Item[];
  working: number;
}

/** Background work, bounded in length and concurrency. Adding to it neither waits nor throws. */
export function createQueue<Item>({ limit, atOnce, lanes, work, failed }: QueueOptions<Item>) {
  /** Lanes with waiting or running items. The next one to take its turn comes first. */
  const all = new Map<string, Lane<Item>>();
  const perLane = lanes?.atOnce ?? atOnce;
  let waiting = 0;
  let working = 0;
  let whenIdle: (() => void)[] = [];

  async function run(item: Item, name: string, lane: Lane<Item>): Promise<void> {
    try {
      await work(item);
    } catch (error) {
      failed(item, error);
    }
    working -= 1;
    lane.working -= 1;
    if (lane.working === 0 && lane.waiting.length === 0) all.delete(name);
    next();
  }

  function next(): void {
    while (working < atOnce) {
      const turn = [...all].find(([, lane]) => lane.waiting.length > 0 && lane.working < perLane);
      if (!turn) break;
      const [name, lane] = turn;
      all.delete(name);
      all.set(name, lane);
      waiting -= 1;
      working += 1;
      lane.working += 1;
      void run(lane.waiting.shift()!, name, lane);
    }
    if (working > 0) return;
    const resolvers = whenIdle;
    whenIdle = [];
    for (const resolve of resolvers) resolve();
  }

  /** Evicts an item of the longest lane; false if no lane is longer than `length` by more than one. */
  function makeRoom(length: number): boolean {
    const [longest] = [...all.values()].sort((a, b) => b.waiting.length - a.waiting.length);
    if (!lanes || !longest || longest.waiting.length <= length + 1) return false;
    waiting -= 1;
    lanes.evicted(longest.waiting.pop()!);
    return true;
  }

  return {
    /** Adds the item; false if the queue is full, and the item dropped. */
    push(item: Item): boolean {
      const name = lanes?.of(item) ?? '';
      const lane = all.get(name) ?? { waiting: [], working: 0 };
      if (waiting >= limit && !makeRoom(lane.waiting.length)) return false;
      all.set(name, lane);
      lane.waiting.push(item);
      waiting += 1;
      next();
      return true;
    },
    /** Resolves when everything pushed so far is done. */
    idle: () =>
      new Promise<void>((resolve) => {
        if (working === 0 && waiting === 0) resolve();
        else whenIdle.push(resolve);
      }),
  };
}
