/** Who asked the API server for what, from its audit log. */
import { statSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { linesOf } from '../local/process/lines.ts';

export interface RequestCount {
  /** `metacontroller` of `system:serviceaccount:metacontroller:metacontroller`. */
  user: string;
  verb: string;
  /** With its subresource: `rollouts/status`. */
  resource: string;
  count: number;
}

/** Where the log ends now: requests from here on are counted by `requestsSince`. */
export const endOf = (file: string): number => statSync(file).size;

/** Of audit log in a second: leases and watches that begin anew. */
const QUIET_BYTES = 20_000;

/** Resolves after a second in which hardly anything was asked. */
export async function untilQuiet(file: string): Promise<void> {
  for (let before = -1, size = endOf(file); size - before > QUIET_BYTES; ) {
    before = size;
    await wait(1000);
    size = endOf(file);
  }
}

/** Most frequent first; watches, probes and discovery are left out. A page of a list is a request. */
export async function requestsSince(file: string, start: number): Promise<RequestCount[]> {
  const counts = new Map<string, RequestCount>();
  for await (const line of linesOf(file, start)) {
    const event = parsed(line);
    if (!event?.objectRef || event.verb === 'watch') continue;
    const { resource, subresource } = event.objectRef;
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

/** Those of driver and hook server: the others are Flux's, and a bench's own. */
export function ours(requests: readonly RequestCount[]): RequestCount[] {
  return requests.filter(({ user }) => OURS.includes(user));
}

interface Event {
  verb: string;
  user: { username: string };
  objectRef?: { resource: string; subresource?: string };
}

/** undefined: the end of the log, which is being written. */
function parsed(line: string): Event | undefined {
  try {
    return JSON.parse(line) as Event;
  } catch {
    return undefined;
  }
}
