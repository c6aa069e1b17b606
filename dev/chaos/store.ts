/**
 * Records every stored version of the kinds in the audit log, in order, into a file. Reads from etcd: its watch
 * continues where it was cut off, while the API server's starts over after a restart.
 */
import { createWriteStream } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { fileLines } from '../../connection/read/fileLines.ts';
import type { AnyObject } from '../client/send.ts';
import type { SeenVersion } from '../oracle/writes.ts';
import { GROUPS } from './audit.ts';

export interface Store {
  versions(): number;
  /** Ends the recording; rejects if versions are missing. */
  stop(): Promise<void>;
}

/** A line of etcd's JSON gateway for Watch; numbers are texts and bytes base64. */
interface Line {
  result?: { compact_revision?: string; events?: { kv: { key: string; value?: string; mod_revision: string } }[] };
}

const base64 = (text: string) => Buffer.from(text).toString('base64');
const textOf = (bytes: string) => Buffer.from(bytes, 'base64').toString('utf8');

/** `etcdUrl`: such as `http://127.0.0.1:2379`. */
export function recordInto(file: string, etcdUrl: string): Store {
  const out = createWriteStream(file);
  const abort = new AbortController();
  let versions = 0;
  let next = 1;
  let problem: Error | undefined;

  function takeLine({ result }: Line): void {
    if (result?.compact_revision) problem = new Error(`etcd has forgotten revision ${next}`);
    for (const { kv } of result?.events ?? []) {
      const revision = Number(kv.mod_revision);
      next = revision + 1;
      const key = textOf(kv.key);
      if (!GROUPS.some((group) => key.startsWith(`/registry/${group}/`))) continue;
      const object = kv.value && (JSON.parse(textOf(kv.value)) as AnyObject);
      if (object) delete object.metadata.managedFields;
      versions++;
      out.write(`${JSON.stringify({ key, revision, seenMs: Date.now(), object })}\n`);
    }
  }

  async function watch(): Promise<void> {
    // `0` follows `/`: the range ends after all keys with the prefix.
    const range = { key: base64('/registry/'), range_end: base64('/registry0') };
    const body = JSON.stringify({ create_request: { ...range, start_revision: String(next) } });
    const response = await fetch(`${etcdUrl}/v3/watch`, { method: 'POST', body, signal: abort.signal });
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
    versions: () => versions,
    stop: async () => {
      abort.abort();
      await watching;
      await new Promise((done) => out.end(done));
      if (problem) throw problem;
    },
  };
}

export async function* readStored(file: string): AsyncGenerator<SeenVersion> {
  for await (const line of fileLines(file, { isBeingWritten: true })) yield JSON.parse(line) as SeenVersion;
}
