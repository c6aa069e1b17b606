/**
 * The oracle's findings about a run. The simulation has the exact time of each receipt, and what was stored by then.
 */
import type { AnyObject } from '../client/send.ts';
import { type Findings, Oracle } from '../oracle/oracle.ts';
import type { GateLimits } from '../oracle/requiredGates.ts';
import { indexWrites, type Writes } from '../oracle/writes.ts';
import { bodyOf, targetOf } from './apiServer/requests.ts';
import { keyOf } from './apiServer/storage.ts';
import type { SimulatedCluster } from './cluster/simulatedCluster.ts';

/** The longest time between a decision and its storing: the hook's timeout, and the driver's write. */
const DECIDED_MS = 15_000;
/** The longest age of the caches in a decision: a delayed report, a driver that waits and retries. */
const BEHIND_MS = 30_000;
/** The longest age of the caches while events are held back or processes are down, and for some time after. */
const BEHIND_WHILE_FAULTY_MS = 120_000;
/** The longest time until an object is suspended and has its version, once the API server calls the webhook again. */
export const PATIENCE_MS = 90_000;

export interface Outcome {
  /** Sentences about broken rules. */
  violations: string[];
  deployments: number;
  virtualMs: number;
  cluster: SimulatedCluster;
  /** The times at which the steps began and everything had converged. */
  begin: number;
  convergedMs: number;
}

export function findingsOf(
  cluster: SimulatedCluster,
  { heldAt, ...rules }: { clocksAreRight: boolean; heldAt?: number | undefined; limits?: GateLimits } = {
    clocksAreRight: true,
  },
): Findings {
  const answered = indexWrites();
  for (const write of cluster.writes) {
    const { user, request, code, object, receivedMs, answeredMs, bypass } = write;
    if (code >= 300 || request.path.includes('dryRun=All') || !object) continue;
    const { kind } = targetOf(request.path)!;
    const key = etcdKey(`${kind.group}/${kind.resource}`, object);
    const revision = request.method === 'DELETE' ? undefined : Number(object.metadata.resourceVersion);
    answered.add(key, {
      user,
      verb: request.method.toLowerCase(),
      code,
      receivedAt: write.receivedRevision,
      receivedMs,
      answeredAt: write.answeredRevision,
      answeredMs,
      ...(revision !== undefined && { revision }),
      ...(bypass !== undefined && { bypass }),
      ...((write.hasFailedOpen || !cluster.hadAdmission(receivedMs, answeredMs)) && { isUngoverned: true }),
      isApply: request.headers['content-type']?.startsWith('application/apply-patch') === true,
      annotations: bodyOf(request).metadata?.annotations ?? {},
    });
  }
  const writes: Writes = {
    ...answered,
    unanswered: () => [],
    shownAt: (revision) => revision,
  };
  const wasFaulty = (ms: number) => cluster.faults.some(([at]) => at > ms - BEHIND_WHILE_FAULTY_MS && at <= ms + 1000);
  const oracle = new Oracle(writes, (ms) => ms - (wasFaulty(ms) ? BEHIND_WHILE_FAULTY_MS : BEHIND_MS), {
    decidedMs: DECIDED_MS,
    ...rules,
  });
  let left = heldAt;
  for (const { resource, object, type, revision, at } of cluster.server.storage.events) {
    if (left !== undefined && at > left) {
      oracle.findings.violations.push(...oracle.unheldAt(left, PATIENCE_MS));
      left = undefined;
    }
    const stored = type === 'DELETED' ? undefined : object;
    oracle.take({ key: etcdKey(resource, object), revision, object: stored, seenMs: at });
  }
  return oracle.findings;
}

function etcdKey(resource: string, object: AnyObject): string {
  return `/registry/${resource}/${keyOf(object).replace(/^\//, '')}`;
}
