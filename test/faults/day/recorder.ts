/**
 * Every version of the Rollouts that was ever stored, in order, from etcd itself: the API server's own watch begins
 * anew when it restarts, etcd's goes on where it was cut off.
 */
import { setTimeout as wait } from 'node:timers/promises';
import type { AnyObject } from '../../cluster/support/cluster.ts';

export interface Recorder {
  /** Stored versions of the Rollout of a namespace so far, oldest first. */
  of(namespace: string): AnyObject[];
  /** Stops, and rejects with what went wrong. */
  stop(): Promise<void>;
}

/** A line of etcd's JSON gateway for Watch; numbers are texts and bytes base64. */
interface Line {
  result?: { compact_revision?: string; events?: { kv: { key: string; value?: string; mod_revision: string } }[] };
}

const FIRST = '/registry/kuberik.com/rollouts/';
/** The key after all that begin with FIRST. */
const LAST = FIRST.replace(/\/$/, '0');
const base64 = (text: string) => Buffer.from(text).toString('base64');

/** `url` is etcd's, such as `http://127.0.0.1:2379`. */
export function recordRollouts(url: string): Recorder {
  const abort = new AbortController();
  const seen = new Map<string, AnyObject[]>();
  let next = 1n;
  let problem: Error | undefined;

  function take({ result }: Line): void {
    if (result?.compact_revision) problem = new Error(`etcd has forgotten revision ${next}`);
    for (const { kv } of result?.events ?? []) {
      next = BigInt(kv.mod_revision) + 1n;
      if (!kv.value) continue;
      const object = JSON.parse(Buffer.from(kv.value, 'base64').toString('utf8')) as AnyObject;
      const { namespace = '' } = object.metadata;
      seen.set(namespace, [...(seen.get(namespace) ?? []), object]);
    }
  }

  async function watch(): Promise<void> {
    const body = JSON.stringify({
      create_request: { key: base64(FIRST), range_end: base64(LAST), start_revision: String(next) },
    });
    const response = await fetch(`${url}/v3/watch`, { method: 'POST', body, signal: abort.signal });
    let rest = '';
    for await (const text of response.body!.pipeThrough(new TextDecoderStream())) {
      const lines = `${rest}${text}`.split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines.filter(Boolean)) take(JSON.parse(line));
    }
  }

  const watching = (async () => {
    while (!abort.signal.aborted && !problem) {
      await watch().catch(() => {});
      if (!abort.signal.aborted) await wait(100);
    }
  })();

  return {
    of: (namespace) => seen.get(namespace) ?? [],
    stop: async () => {
      abort.abort();
      await watching;
      if (problem) throw problem;
    },
  };
}
