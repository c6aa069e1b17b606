/**
 * Compares each deployment of a run with the naive reference of dev/fuzz/naive/rollout.ts. A deployment is decided from live reads some time before it is
 * stored: it is wrong only if the reference objects to it at every moment of that time. Gates, approvals, budgets and health are left to dev/chaos.
 */
import type { AnyObject } from '../client/send.ts';
import { type Circumstances, objections } from '../fuzz/naive/rollout.ts';
import { keyOf } from './apiServer/storage.ts';
import type { World } from './world/world.ts';

/** A hook answers within its timeout, and the driver's write takes a while. */
const DECIDED_MS = 15_000;
const ROLLOUTS = 'kuberik.com/rollouts';
const KINDS = [ROLLOUTS, 'kuberik.com/rolloutgates', 'image.toolkit.fluxcd.io/imagepolicies'];

/** What was stored at a time, by resource and key. */
interface Moment {
  until: number;
  objects: ReadonlyMap<string, AnyObject>;
}

/** Sentences about deployments that the reference would not have made. */
export function unlikeReference(world: World): string[] {
  const moments: Moment[] = [];
  let objects: ReadonlyMap<string, AnyObject> = new Map();
  const problems: string[] = [];
  for (const { at, resource, object, before, type } of world.server.storage.events) {
    if (!KINDS.includes(resource)) continue;
    moments.push({ until: at, objects });
    const next = new Map(objects);
    if (type === 'DELETED') next.delete(`${resource} ${keyOf(object)}`);
    else next.set(`${resource} ${keyOf(object)}`, object);
    objects = next;
    const [head] = object.status?.history ?? [];
    if (resource !== ROLLOUTS || !head || type === 'DELETED' || head.id === before?.status?.history?.[0]?.id) continue;
    const possible = moments
      .filter(({ until }) => until >= at - DECIDED_MS)
      .map((moment) => objectionsAt(moment.objects, object));
    const [first = []] = possible.sort((a, b) => a.length - b.length);
    if (first.length === 0) continue;
    problems.push(`Rollout ${keyOf(object)} deploys ${head.version.tag} (${head.id}), though ${first.join('; ')}`);
  }
  return problems;
}

function objectionsAt(objects: Moment['objects'], after: AnyObject): string[] {
  const key = keyOf(after);
  const rollout = objects.get(`${ROLLOUTS} ${key}`);
  if (!rollout) return ['there is no such Rollout'];
  const { spec, metadata, status = {} } = rollout;
  const [head, ...past] = after.status.history;
  const marked = (name: string): string | undefined => metadata.annotations?.[`rollout.kuberik.com/${name}`];
  const policy = objects.get(
    `image.toolkit.fluxcd.io/imagepolicies ${metadata.namespace}/${spec.releasesImagePolicy.name}`,
  );
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
    forceDeploy: marked('force-deploy'),
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
    going: metadata.deletionTimestamp !== undefined,
  };
  return objections(circumstances);
}
