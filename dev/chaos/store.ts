/** Everything stored of the kinds in the audit log, as a file: what is recorded while processes die is judged when they are at rest. */
import { createWriteStream } from 'node:fs';
import type { SeenVersion } from '../judges/writes.ts';
import { linesOf } from '../local/process/lines.ts';
import { GROUPS } from './audit.ts';
import { recordStored } from './recorder.ts';

export interface Store {
  /** So far. */
  versions(): number;
  stop(): Promise<void>;
}

export function recordInto(file: string, etcdUrl: string): Store {
  const out = createWriteStream(file);
  let versions = 0;
  const recorder = recordStored(etcdUrl, '/registry/', ({ key, revision, object }) => {
    if (!GROUPS.some((group) => key.startsWith(`/registry/${group}/`))) return;
    versions++;
    if (object) delete object.metadata.managedFields;
    out.write(`${JSON.stringify({ key, revision, seenMs: Date.now(), object })}\n`);
  });
  return {
    versions: () => versions,
    stop: async () => {
      await recorder.stop();
      await new Promise((done) => out.end(done));
    },
  };
}

export async function* readStored(file: string): AsyncGenerator<SeenVersion> {
  for await (const line of linesOf(file)) yield JSON.parse(line) as SeenVersion;
}
