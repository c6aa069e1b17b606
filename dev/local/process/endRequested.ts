/**
 * Resolves when the process is asked to end: by a signal, or the death of the npm that started this. The listeners stay: npm passes
 * on the Ctrl-C that the terminal has already sent, and a second one without a listener would kill this process before it has
 * ended its children.
 */
export function endRequested(): Promise<void> {
  return new Promise((end) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => end());
    const parent = process.ppid;
    if (process.env.npm_lifecycle_event === undefined) return;
    setInterval(() => process.ppid !== parent && end(), 500).unref();
  });
}
