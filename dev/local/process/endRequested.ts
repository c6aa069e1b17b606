/**
 * Resolves on a signal to end, or when the npm that started this process dies. The listeners stay: npm repeats the
 * Ctrl-C of the terminal, and without a listener the second signal would kill this process before it has ended its
 * children.
 */
export function endRequested(): Promise<void> {
  return new Promise((end) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => end());
    const parent = process.ppid;
    if (process.env.npm_lifecycle_event === undefined) return;
    setInterval(() => process.ppid !== parent && end(), 500).unref();
  });
}
