/** Hands what a run has stored to the judges. Here it is known exactly when each write was received, and what was stored by then. */
import type { AnyObject } from '../client/send.ts';
import { type Findings, Judge } from '../judges/judge.ts';
import type { Write, Writes } from '../judges/writes.ts';
import { bodyOf, targetOf } from './apiServer/requests.ts';
import { keyOf } from './apiServer/storage.ts';
import type { World } from './world/world.ts';

/** A hook answers within its timeout, and the driver's write takes a while. */
const DECIDED_MS = 15_000;
/** How long a decision may be behind what was stored: the delay of a report, a driver that waits and tries again. */
const BEHIND_MS = 30_000;
/** The same where events are held back or processes are down, which is over some time after it. */
const BEHIND_WHILE_FAULTY_MS = 120_000;

export function judged(world: World, rules: { clocksAreRight: boolean } = { clocksAreRight: true }): Findings {
  const byKey = new Map<string, Write[]>();
  const byRevision = new Map<string, Write>();
  for (const answered of world.writes) {
    const { user, request, code, object, receivedRevision, answeredRevision, receivedMs, answeredMs, bypass } =
      answered;
    if (code >= 300 || request.path.includes('dryRun=All') || !object) continue;
    const { kind } = targetOf(request.path)!;
    const past = bypass ?? passesBy(world, object);
    const key = etcdKey(`${kind.group}/${kind.resource}`, object);
    const revision = request.method === 'DELETE' ? undefined : Number(object.metadata.resourceVersion);
    const write: Write = {
      user,
      verb: request.method.toLowerCase(),
      code,
      receivedAt: receivedRevision,
      receivedMs,
      answeredAt: answeredRevision,
      answeredMs,
      ...(revision !== undefined && { revision }),
      ...(past !== undefined && { bypass: past }),
      isApply: request.headers['content-type']?.startsWith('application/apply-patch') === true,
      annotations: bodyOf(request).metadata?.annotations ?? {},
    };
    byKey.set(key, [...(byKey.get(key) ?? []), write]);
    if (revision !== undefined && !byRevision.has(`${key}@${revision}`)) byRevision.set(`${key}@${revision}`, write);
  }
  const writes: Writes = {
    of: (key) => byKey.get(key) ?? [],
    writerOf: (key, revision) => byRevision.get(`${key}@${revision}`),
    unanswered: () => [],
    shownAt: (revision) => revision,
  };
  const wasFaulty = (ms: number) => world.faults.some(([at]) => at > ms - BEHIND_WHILE_FAULTY_MS && at <= ms + 1000);
  const judge = new Judge(writes, (ms) => ms - (wasFaulty(ms) ? BEHIND_WHILE_FAULTY_MS : BEHIND_MS), {
    decidedMs: DECIDED_MS,
    ...rules,
  });
  for (const { resource, object, type, revision, at } of world.server.storage.events) {
    const stored = type === 'DELETED' ? undefined : object;
    judge.take({ key: etcdKey(resource, object), revision, object: stored, seenMs: at });
  }
  return judge.findings;
}

/** The grant by which a deployment of one of its Rollouts goes past the closed Gates of this object; only the webhook writes it. */
function passesBy(world: World, { metadata }: AnyObject): string | undefined {
  const state = metadata.annotations?.['gate.fluxcd.io/state'] ?? '';
  if (!state.startsWith('passing: ')) return undefined;
  const gates = state.slice('passing: '.length).split(',');
  const grants = world.server.storage.events.flatMap(({ object }) =>
    object.kind === 'Rollout' && object.metadata.namespace === metadata.namespace
      ? (object.metadata.annotations?.['gate.fluxcd.io/bypassed-gates'] ?? [])
      : [],
  );
  return grants.find((grant) => gates.every((gate) => grant.includes(gate)));
}

function etcdKey(resource: string, object: AnyObject): string {
  return `/registry/${resource}/${keyOf(object).replace(/^\//, '')}`;
}
