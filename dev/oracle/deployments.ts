/**
 * Checks each deployment against the reference (dev/reference/rollout.ts). A hook decides from live reads, between the
 * deployment's own time and its storing: it is wrong only if the reference objects at every moment of that time. Gates,
 * approvals, budgets and health are checked elsewhere.
 */
import type { AnyObject } from '../client/send.ts';
import { type Circumstances, objections } from '../reference/rollout.ts';
import type { Write } from './writes.ts';

const ROLLOUTS = '/registry/kuberik.com/rollouts/';
const ROLLOUTGATES = '/registry/kuberik.com/rolloutgates/';
const POLICIES = '/registry/image.toolkit.fluxcd.io/imagepolicies/';
const REASON = 'gate.fluxcd.io/bypass-reason';
const FORCE_DEPLOY = 'rollout.kuberik.com/force-deploy';

/** The stored objects, by key, until a time. */
interface Moment {
  until: number;
  objects: ReadonlyMap<string, AnyObject>;
}

export class DeploymentChecker {
  private objects: ReadonlyMap<string, AnyObject> = new Map();
  private moments: Moment[] = [];
  /** By Rollout: the version that its force-deploy names, and the newest deployment when the annotation came. */
  private readonly requests = new Map<string, { version: string | undefined; after: number }>();
  private readonly decidedMs: number;

  /** @param decidedMs the longest time between the decision and the storing of a deployment */
  constructor(decidedMs: number) {
    this.decidedMs = decidedMs;
  }

  /** Violations in the next stored version of any object. */
  take(key: string, object: AnyObject | undefined, seenMs: number): string[] {
    if (![ROLLOUTS, ROLLOUTGATES, POLICIES].some((prefix) => key.startsWith(prefix))) return [];
    const before = this.objects.get(key);
    this.moments = this.moments.filter(({ until }) => until >= seenMs - this.decidedMs);
    this.moments.push({ until: seenMs, objects: this.objects });
    const next = new Map(this.objects);
    if (object) next.set(key, object);
    else next.delete(key);
    this.objects = next;
    const version = object?.metadata.annotations?.[FORCE_DEPLOY];
    if (this.requests.get(key)?.version !== version)
      this.requests.set(key, { version, after: before?.status?.history?.[0]?.id ?? 0 });
    const [head] = object?.status?.history ?? [];
    if (!object || !before || !key.startsWith(ROLLOUTS) || !head || head.id === before.status?.history?.[0]?.id)
      return [];
    const after = this.requests.get(key)?.after ?? 0;
    // A used request stays on the Rollout until a decorator removes it: newer versions may be deployed before.
    const isUsed = object.status.history.some(
      ({ id, version: { tag } }: AnyObject) => tag === version && id > after && id < head.id,
    );
    const used = isUsed ? version : undefined;
    const decided = Date.parse(head.timestamp);
    const possible = this.moments
      .filter(({ until }) => until >= Math.min(decided, seenMs))
      .map(({ objects }) => objectionsAt(objects, key, object, used));
    const [first = []] = possible.sort((a, b) => a.length - b.length);
    return first.length === 0 ? [] : [`deploys ${head.version.tag} (${head.id}), though ${first.join('; ')}`];
  }
}

/**
 * Deployments that bypass Gates with a reason that a user gave for another version. `writes`: all writes of the
 * Rollout.
 */
export function bypassesForOtherVersions(
  before: AnyObject | undefined,
  after: AnyObject,
  writes: readonly Write[],
): string[] {
  const known = new Set((before?.status?.history ?? []).map(({ id }: AnyObject) => id));
  const fresh: AnyObject[] = (after.status?.history ?? []).filter(
    ({ id, bypass }: AnyObject) => bypass && !known.has(id),
  );
  return fresh.flatMap(({ id, version, bypass }) => {
    const asked = writes.findLast(({ annotations }) => annotations?.[REASON] === bypass.reason)?.annotations;
    const wanted = asked?.[FORCE_DEPLOY] ?? version.tag;
    return wanted === version.tag ? [] : [`deploys ${version.tag} (${id}) by a bypass that is for ${wanted}`];
  });
}

/** @param used the version of a force-deploy that has been deployed */
function objectionsAt(objects: Moment['objects'], key: string, after: AnyObject, used: string | undefined): string[] {
  const rollout = objects.get(key);
  if (!rollout) return ['there is no such Rollout'];
  const { spec, metadata, status = {} } = rollout;
  const [head, ...past] = after.status.history;
  const marked = (name: string): string | undefined => metadata.annotations?.[`rollout.kuberik.com/${name}`];
  const policy = objects.get(`${POLICIES}${metadata.namespace}/${spec.releasesImagePolicy.name}`);
  const latest = policy?.status?.latestRef?.tag;
  const known: string[] = (after.status.availableReleases ?? []).map(({ tag }: AnyObject) => tag);
  const gates = [...objects.values()].filter(
    (each) =>
      each.kind === 'RolloutGate' &&
      each.metadata.namespace === metadata.namespace &&
      each.spec.rolloutRef.name === metadata.name,
  );
  const circumstances: Circumstances = {
    deployed: head.version.tag,
    rolledBackFrom: head.rolledBackFrom,
    past: past.map((entry: AnyObject) => ({ ...entry, tag: entry.version.tag, bakeStatus: entry.bakeStatus })),
    wantedVersion: spec.wantedVersion,
    forceDeploy: marked('force-deploy') === used ? undefined : marked('force-deploy'),
    bypassGates: marked('bypass-gates'),
    unblocked: marked('unblock-failed') !== undefined,
    policy: latest && { latest },
    known,
    oldEnough: known,
    rolledBack: status.rolledBackReleases ?? [],
    barriers: [],
    rolloutGates: gates.map(({ spec: { passing } }) => ({ passing })),
    requester: '',
    gateFirst: spec.gateFirstDeployment,
    bakes: Boolean(spec.bakeTime || spec.deployTimeout || spec.healthCheckSelector),
    inTarget: undefined,
    after: [],
    gatesOpenFor: [],
    gatesOfBoundOpen: [],
    unhealthy: false,
    brokenByFailed: false,
    onFailure: spec.onFailure ?? 'Continue',
    isDeleted: metadata.deletionTimestamp !== undefined,
  };
  return objections(circumstances);
}
