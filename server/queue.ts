/** Background work, bounded in length and concurrency. Whoever adds to it never gets an error. */

export interface BoundedQueue<Item> {
  /** False when the queue is full: the item is dropped. */
  push(item: Item): boolean;
  /** Resolves when everything pushed so far is done. */
  idle(): Promise<void>;
}

export interface QueueOptions<Item> {
  /** Items waiting, those at work not counted. */
  limit: number;
  atOnce: number;
  work(item: Item): Promise<void>;
  /** Called for each rejection of `work`. */
  failed(item: Item, error: unknown): void;
}

export function createQueue<Item>({ limit, atOnce, work, failed }: QueueOptions<Item>): BoundedQueue<Item> {
  const waiting: Item[] = [];
  let working = 0;
  let whenIdle: (() => void)[] = [];

  async function run(item: Item): Promise<void> {
    try {
      await work(item);
    } catch (error) {
      failed(item, error);
    }
    working -= 1;
    next();
  }

  function next(): void {
    while (working < atOnce && waiting.length > 0) {
      working += 1;
      void run(waiting.shift()!);
    }
    if (working > 0) return;
    const told = whenIdle;
    whenIdle = [];
    for (const tell of told) tell();
  }

  return {
    push(item) {
      if (waiting.length >= limit) return false;
      waiting.push(item);
      next();
      return true;
    },
    idle: () =>
      new Promise((resolve) => {
        if (working === 0 && waiting.length === 0) resolve();
        else whenIdle.push(resolve);
      }),
  };
}
