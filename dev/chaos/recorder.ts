/**
 * Every version of objects that was ever stored, in order, from etcd itself: the API server's own watch starts over when it
 * restarts, etcd's continues where it was cut off.
 */
import { setTimeout as wait } from 'node:timers/promises';
import type { AnyObject } from '../client/send.ts';
import type { StoredVersion } from '../judges/writes.ts';

/** A line of etcd's JSON gateway for Watch; numbers are texts and bytes base64. */
interface Line {
  result?: { compact_revision?: string; events?: { kv: { key: string; value?: string; mod_revision: string } }[] };
}

const base64 = (text: string) => Buffer.from(text).toString('base64');
const textOf = (bytes: string) => Buffer.from(bytes, 'base64').toString('utf8');

/**
 * Custom resources below `prefix`, which ends in a slash: the built-in kinds are not stored as JSON, and left out. `url` is etcd's, such as
 * `http://127.0.0.1:2379`.
 */
export function recordStored(
  url: string,
  prefix: string,
  take: (version: StoredVersion) => void,
): { stop(): Promise<void> } {
  const abort = new AbortController();
  /** The key after all that begin with the prefix. */
  const end = prefix.replace(/\/$/, '0');
  let next = 1;
  let problem: Error | undefined;

  function takeLine({ result }: Line): void {
    if (result?.compact_revision) problem = new Error(`etcd has forgotten revision ${next}`);
    for (const { kv } of result?.events ?? []) {
      const revision = Number(kv.mod_revision);
      next = revision + 1;
      const value = kv.value && textOf(kv.value);
      if (value && !value.startsWith('{')) continue;
      take({ key: textOf(kv.key), revision, object: value ? (JSON.parse(value) as AnyObject) : undefined });
    }
  }

  async function watch(): Promise<void> {
    const body = JSON.stringify({
      create_request: { key: base64(prefix), range_end: base64(end), start_revision: String(next) },
    });
    const response = await fetch(`${url}/v3/watch`, { method: 'POST', body, signal: abort.signal });
    let rest = '';
    for await (const text of response.body!.pipeThrough(new TextDecoderStream())) {
      const lines = `${rest}${text}`.split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines.filter(Boolean)) takeLine(JSON.parse(line));
    }
  }

  const watching = (async () => {
    while (!abort.signal.aborted && !problem) {
      await watch().catch(() => {});
      if (!abort.signal.aborted) await wait(100);
    }
  })();

  return {
    // Rejects with what went wrong.
    stop: async () => {
      abort.abort();
      await watching;
      if (problem) throw problem;
    },
  };
}
