/**
 * docs/rollouts.md "What can be in the way" and "After a failure", as plainly as possible: the conditions of a
 * deployment. Timeouts and bakes are in dev/oracle/bakes.ts.
 */

interface Past {
  tag: string;
  bakeStatus?: string | undefined;
  /** The version that this deployment rolled back. */
  rolledBackFrom?: string | undefined;
  lastRetryTimestamp?: string | undefined;
  image?: string | undefined;
}

/** An upstream Rollout: its deployments, newest first. `hours`: how long ago the bake ended. */
export interface UpstreamRollout {
  history: { tag: string; bakeStatus: string; hours: number; retried: boolean }[];
  rolledBack: string[];
}

export interface RolloutGateSpec {
  passing?: boolean;
  allowedVersions?: string[];
  rejectedVersions?: string[];
  /** `expireAfter` is an hour. */
  approvals?: { required: number; notByRequester: boolean; expire: boolean };
  /** Approvals, `hours` old. */
  given?: { by: string; tag: string; hours: number }[];
}

export interface Circumstances {
  deployed: string;
  /** The version that the deployment rolls back. */
  rolledBackFrom: string | undefined;
  /** The earlier deployments, newest first, in their state after this deployment. */
  past: readonly Past[];
  wantedVersion: string | undefined;
  forceDeploy: string | undefined;
  bypassGates: string | undefined;
  unblocked: boolean;
  /** The version that the ImagePolicy selects, and the end of its range; undefined without an ImagePolicy. */
  policy: { latest: string; below?: string | undefined } | undefined;
  /** The image from which the ImagePolicy selects. */
  image?: string | undefined;
  known: string[];
  /** Known versions that are old enough to deploy. */
  oldEnough: string[];
  /** Versions that were rolled back and not deployed since. */
  rolledBack: string[];
  /** Versions that can't be rolled back. */
  barriers: string[];
  rolloutGates: RolloutGateSpec[];
  /** The user of every manual request. */
  requester: string;
  /** `spec.gateFirstDeployment`. */
  gateFirst: boolean | undefined;
  /** Whether the Rollout has bakeTime, deployTimeout or healthCheckSelector. */
  bakes: boolean;
  /** Whether the target repository has the version; undefined if releases aren't copied. */
  inTarget: boolean | undefined;
  /** `spec.after`; `upstream` is undefined if that Rollout doesn't exist. */
  after: { bakedHours: number; upstream: UpstreamRollout | undefined }[];
  /** Whether each Gate of the Rollout, named or selecting, is open for the version. */
  gatesOpenFor: boolean[];
  /** Whether each Gate of a bound object is open for every version. */
  gatesOfBoundOpen: boolean[];
  unhealthy: boolean;
  /** Whether the unhealthy HealthCheck is named by the failed deployment, or became Unhealthy after it. */
  brokenByFailed: boolean;
  onFailure: 'Continue' | 'Hold' | 'Rollback';
  isDeleted: boolean;
}

const LEGAL_TAG = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/;

/** Versions here are `1.x.0`. */
const minor = (tag: string) => Number(tag.split('.')[1]);

const unless = (holds: boolean, sentence: string) => (holds ? [] : [sentence]);

/** docs/promotion.md "What counts". */
function hasSucceeded({ bakedHours, upstream }: Circumstances['after'][number], tag: string): boolean {
  if (!upstream || upstream.rolledBack.includes(tag)) return false;
  const deployments = upstream.history.filter((entry) => entry.tag === tag);
  const [last] = deployments.filter(({ bakeStatus, retried }) => bakeStatus !== 'Cancelled' || retried);
  return last !== undefined && last.bakeStatus === 'Succeeded' && last.hours >= bakedHours;
}

/** docs/promotion.md "Whose approval counts". */
function isApproved({ approvals, given = [] }: RolloutGateSpec, of: Circumstances): boolean {
  if (!approvals) return true;
  const isRequested = [of.wantedVersion, of.forceDeploy, of.bypassGates].includes(of.deployed);
  const approvers = given
    .filter(({ tag, hours }) => tag === of.deployed && !(approvals.expire && hours >= 1))
    .map(({ by }) => by)
    .filter((by) => !by.startsWith('system:') && !(approvals.notByRequester && isRequested && by === of.requester));
  return new Set(approvers).size >= approvals.required;
}

/** docs/rollouts.md "Without bake settings": the first bakeStatus of a deployment. */
export function initialBakeStatus({ bakes, isBound }: { bakes: boolean; isBound: boolean }): 'Deploying' | 'Succeeded' {
  return bakes || isBound ? 'Deploying' : 'Succeeded';
}

/**
 * docs/rollouts.md `currentVersion`, `rollingOutVersion`, if Flux applies nothing: a version that Succeeded is current.
 */
export function versionsOf(history: readonly Past[], isBound: boolean): { current?: string; rollingOut?: string } {
  const [head] = history;
  if (!head) return {};
  if (!isBound || head.bakeStatus === 'Succeeded') return { current: head.tag };
  const before = history.find(({ bakeStatus }) => bakeStatus === 'Succeeded');
  return { rollingOut: head.tag, ...(before && { current: before.tag }) };
}

/** Reasons, as sentences, why the version shouldn't have been deployed. */
export function objections(of: Circumstances): string[] {
  const { deployed, past, rolloutGates } = of;
  const [before] = past;
  // "A force-deploy of the version already deployed is taken off without effect."
  const forceDeploy = of.forceDeploy === before?.tag ? undefined : of.forceDeploy;
  const isManual = (of.wantedVersion || forceDeploy) === deployed;
  const always = [
    ...unless(!of.isDeleted, 'the Rollout is being deleted'),
    ...unless(LEGAL_TAG.test(deployed), 'the tag is not legal'),
    ...unless(of.gatesOpenFor.every(Boolean), 'a Gate that it names, or that selects it, is closed'),
    ...unless(of.gatesOfBoundOpen.every(Boolean), 'a Gate that a bound object requires is closed'),
    ...unless(!rolloutGates.some((gate) => gate.rejectedVersions?.includes(deployed)), 'a RolloutGate rejects it'),
    ...unless(!of.wantedVersion || of.wantedVersion === deployed, 'wantedVersion names another one'),
    ...unless(deployed !== before?.tag, 'it is deployed already'),
  ];
  if (of.rolledBackFrom !== undefined) {
    const requested = of.wantedVersion || forceDeploy;
    return [...always, ...unless(!requested, 'a user requests a version'), ...rollbackObjections(of)];
  }
  // "Approvals hold every deployment but a rollback."
  always.push(
    ...unless(
      rolloutGates.every((gate) => isApproved(gate, of)),
      'a RolloutGate lacks approvals of it',
    ),
  );
  // "The deployment waits for it, by hand too; a rollback does not."
  always.push(...unless(of.inTarget !== false, 'the target repository does not have it'));
  if (isManual) {
    const isKnown = of.wantedVersion === deployed || of.known.includes(deployed);
    return [...always, ...unless(isKnown, 'force-deploy of a version that is not available')];
  }
  return [...always, ...unless(!forceDeploy, 'force-deploy names another version'), ...automaticObjections(of)];
}

/** "Once the bake failed, the last version in the history that succeeded is deployed again automatically, once." */
function rollbackObjections(of: Circumstances): string[] {
  const { deployed, rolledBackFrom, past, barriers, onFailure } = of;
  const [before] = past;
  const good = lastGood(past);
  return [
    ...unless(onFailure === 'Rollback', `onFailure is ${onFailure}`),
    ...unless(before?.bakeStatus === 'Failed', 'nothing has failed'),
    ...unless(before?.tag === rolledBackFrom, 'another version has failed'),
    ...unless(before?.rolledBackFrom === undefined, 'it was a rollback that has failed'),
    ...unless(past[good]?.tag === deployed, 'it is not the last version that succeeded'),
    ...unless(!crossesBarrier(past, good, barriers), 'it crosses a version that cannot be undone'),
    ...unless(isOfImage(of), 'it was deployed from another image'),
  ];
}

function automaticObjections(of: Circumstances): string[] {
  const { deployed, past, policy, rolloutGates } = of;
  const [before] = past;
  const isFirst = before === undefined;
  const bypassed = of.bypassGates === deployed;
  const passing = bypassed || rolloutGates.every((gate) => gate.passing !== false);
  const listed =
    bypassed ||
    rolloutGates.every((gate) => gate.passing === false || (gate.allowedVersions?.includes(deployed) ?? true));
  // "RolloutGates hold the first deployment too, unless it says gateFirstDeployment: false."
  const isFree = isFirst && of.gateFirst === false;
  const failed = before?.bakeStatus === 'Failed';
  const holds =
    failed && (of.onFailure === 'Hold' || (of.onFailure === 'Rollback' && before.rolledBackFrom !== undefined));
  const excused = failed && !holds && of.brokenByFailed;
  return [
    ...unless(policy !== undefined, 'there is no ImagePolicy'),
    ...unless(of.known.includes(deployed), 'it was never discovered'),
    ...unless(of.oldEnough.includes(deployed), 'it has not been known for long enough'),
    ...unless(!of.rolledBack.includes(deployed), 'it was rolled back'),
    ...unless(!policy?.below || minor(deployed) < minor(policy.below), 'the ImagePolicy does not select it any more'),
    ...unless(isFirst || minor(deployed) > minor(before.tag), 'it is not newer'),
    ...unless(isFree || passing, 'a RolloutGate is not passing'),
    ...unless(isFree || listed, 'a RolloutGate does not allow it'),
    ...unless(
      bypassed || of.after.every((each) => hasSucceeded(each, deployed)),
      'an upstream Rollout does not have it Succeeded',
    ),
    ...unless(isFirst || !of.unhealthy || excused, 'a HealthCheck is Unhealthy'),
    ...unless(
      before?.bakeStatus !== 'InProgress' && !(of.bakes && before?.bakeStatus === 'Deploying'),
      'the version before it is rolling out',
    ),
    ...unless(!holds || of.unblocked, 'the version before it has failed'),
    ...unless(!failed || !mayRollBack(of), 'the version before it has failed and is to be rolled back first'),
  ];
}

/** Whether the deployment to go back to was made from the present image, as far as the history has images. */
function isOfImage({ past, image }: Circumstances): boolean {
  const images = past.slice(0, lastGood(past) + 1).flatMap((each) => each.image ?? []);
  return !image || images.length === 0 || images.at(-1) === image;
}

function mayRollBack(of: Circumstances): boolean {
  const { past, barriers, rolloutGates, onFailure } = of;
  const good = lastGood(past);
  const target = past[good]?.tag;
  return (
    onFailure === 'Rollback' &&
    past[0]?.rolledBackFrom === undefined &&
    target !== undefined &&
    !crossesBarrier(past, good, barriers) &&
    isOfImage(of) &&
    !rolloutGates.some((gate) => gate.rejectedVersions?.includes(target))
  );
}

/** "No rollback goes from it, or from a later release, to an earlier one." */
function crossesBarrier(past: readonly Past[], good: number, barriers: readonly string[]): boolean {
  const isDeployed = (tag: string) => past.slice(0, good).some((entry) => entry.tag === tag);
  const isBetween = (tag: string) => minor(tag) > minor(past[good]!.tag) && minor(tag) <= minor(past[0]!.tag);
  return past[good] !== undefined && barriers.some((tag) => isDeployed(tag) || isBetween(tag));
}

/**
 * "A version that failed when it was deployed again later doesn't count as succeeded." The index of the deployment to
 * go back to; the length of the list if there is none.
 */
function lastGood(past: readonly Past[]): number {
  const decides = past.filter(({ bakeStatus, lastRetryTimestamp }) => bakeStatus !== 'Cancelled' || lastRetryTimestamp);
  const index = past.findIndex(
    (entry) =>
      entry.bakeStatus === 'Succeeded' &&
      entry.tag !== past[0]?.tag &&
      decides.find(({ tag }) => tag === entry.tag) === entry,
  );
  return index < 0 ? past.length : index;
}
