/** Signals that end with another one, which gets one listener for all of them: Node warns where a signal has more than ten. */
export function branches(outer: AbortSignal): () => AbortSignal {
  const all = new Set<AbortController>();
  const abort = () => {
    for (const each of all) each.abort();
    all.clear();
  };
  outer.addEventListener('abort', abort, { once: true });
  return () => {
    const branch = new AbortController();
    if (outer.aborted) branch.abort();
    else all.add(branch);
    return branch.signal;
  };
}
