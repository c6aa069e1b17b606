/** Counts requests to the API server by user, verb and resource, from its audit log. */
import { statSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { auditEvents } from '../local/auditLog.ts';
import { Problem } from '../local/process/problem.ts';

export interface RequestCount {
  /** The last part of the user name: `metacontroller`. */
  user: string;
  verb: string;
  /** With its subresource: `rollouts/status`. */
  resource: string;
  count: number;
}

/** The current end of the log, for `requestsSince`. */
export const endOf = (file: string): number => statSync(file).size;

/** Growth of the audit log in a quiet second: leases and renewed watches. */
const QUIET_BYTES = 20_000;

const PATIENCE_MS = 600_000;

/** Resolves after a second with hardly any requests; throws if there is none in ten minutes. */
export async function untilQuiet(file: string): Promise<void> {
  const start = performance.now();
  for (let before = -1, size = endOf(file); size - before > QUIET_BYTES; ) {
    if (performance.now() - start > PATIENCE_MS)
      throw new Problem(
        `The cluster isn't quiet after ten minutes: its audit log grows by ${size - before} bytes a second.`,
      );
    before = size;
    await wait(1000);
    size = endOf(file);
  }
}

/** Request counts, most frequent first, without watches, probes and discovery. Each page of a list counts. */
export async function requestsSince(file: string, start: number): Promise<RequestCount[]> {
  const counts = new Map<string, RequestCount>();
  for await (const event of auditEvents(file, start)) {
    if (!event?.objectRef || event.verb === 'watch') continue;
    const { resource = '', subresource } = event.objectRef;
    const user = event.user.username.split(':').at(-1) ?? '';
    const found = { user, verb: event.verb, resource: subresource ? `${resource}/${subresource}` : resource, count: 0 };
    const key = `${found.user} ${found.verb} ${found.resource}`;
    const known = counts.get(key) ?? found;
    known.count += 1;
    counts.set(key, known);
  }
  return [...counts.values()].sort((a, b) => b.count - a.count);
}

const OURS = ['metacontroller', 'rollout-hooks'];

/** The requests of driver and hook server, without those of Flux and the bench. */
export function ours(requests: readonly RequestCount[]): RequestCount[] {
  return requests.filter(({ user }) => OURS.includes(user));
}
