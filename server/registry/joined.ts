/** A function that shares running work: callers with the same key get one answer, or one failure. */
export function joined<T>(): (key: string, start: () => Promise<T>) => Promise<T> {
  const underWay = new Map<string, Promise<T>>();
  return (key, start) => {
    const running = underWay.get(key);
    if (running) return running;
    const started = start().finally(() => underWay.delete(key));
    underWay.set(key, started);
    return started;
  };
}
