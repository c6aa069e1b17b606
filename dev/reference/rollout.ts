/**
 * docs/rollouts.md "What can be in the way" and "After a failure", read aloud: what has to hold for a version that was deployed. It
 * knows no timeouts and no bakes: dev/judges/bakes.ts has them.
 */

export interface Past {
  tag: string;
  bakeStatus?: string | undefined;
  /** It was a rollback of this version. */
  rolledBackFrom?: string | undefined;
}

/** Another Rollout: its deployments, newest first, and how many hours ago their bakes ended. */
export interface Stage {
  history: { tag: string; bakeStatus: string; hours: number; retried: boolean }[];
  rolledBack: string[];
}

export interface RolloutGateSpec {
  passing?: boolean;
  allowedVersions?: string[];
  rejectedVersions?: string[];
  /** `expireAfter` is an hour. */
  approvals?: { required: number; notByRequester: boolean; expire: boolean };
  /** Who has approved what, and how many hours ago. */
  given?: { by: string; tag: string; hours: number }[];
}

export interface Circumstances {
  deployed: string;
  /** It says of itself that it is a rollback of this version. */
  rolledBackFrom: string | undefined;
  /** The deployments before, newest first, as they stand after this one was made. */
  past: readonly Past[];
  wantedVersion: string | undefined;
  forceDeploy: string | undefined;
  bypassGates: string | undefined;
  unblocked: boolean;
  /** What the ImagePolicy selects now, and what it leaves out; undefined when there is none. */
  policy: { latest: string; below?: string | undefined } | undefined;
  known: string[];
  /** Of those, the ones that have been known here for long enough. */
  oldEnough: string[];
  /** Those that were rolled back, and that nobody has deployed since. */
  rolledBack: string[];
  /** Those that cannot be undone, whoever says so. */
  barriers: string[];
  rolloutGates: RolloutGateSpec[];
  /** Who has asked for everything that is asked for by hand. */
  requester: string;
  /** `spec.gateFirstDeployment`. */
  gateFirst: boolean | undefined;
  /** It has bakeTime, deployTimeout or healthCheckSelector. */
  bakes: boolean;
  /** Whether the target repository has it; undefined where nothing is copied before it is deployed. */
  inTarget: boolean | undefined;
  /** `stage` is missing where there is none. */
  after: { bakedHours: number; stage: Stage | undefined }[];
  /** Whether each Gate that it names or that selects it is open, for this version or for all. */
  gatesOpenFor: boolean[];
  /** Whether each Gate that a bound object requires is open for all. */
  gatesOfBoundOpen: boolean[];
  unhealthy: boolean;
  /** What is Unhealthy is named by the failure before, or has become so since that deployment. */
  brokenByFailed: boolean;
  onFailure: 'Continue' | 'Hold' | 'Rollback';
  going: boolean;
}

const LEGAL_TAG = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/;

/** Versions here are `1.x.0`. */
const minor = (tag: string) => Number(tag.split('.')[1]);

const because = (holds: boolean, sentence: string) => (holds ? [] : [sentence]);

/** docs/promotion.md "What counts". */
function hasPassed({ bakedHours, stage }: Circumstances['after'][number], tag: string): boolean {
  if (!stage || stage.rolledBack.includes(tag)) return false;
  const deployments = stage.history.filter((entry) => entry.tag === tag);
  const [last] = deployments.filter(({ bakeStatus, retried }) => bakeStatus !== 'Cancelled' || retried);
  return last !== undefined && last.bakeStatus === 'Succeeded' && last.hours >= bakedHours;
}

/** docs/promotion.md "Whose approval counts". */
function isApproved({ approvals, given = [] }: RolloutGateSpec, of: Circumstances): boolean {
  if (!approvals) return true;
  const asked = [of.wantedVersion, of.forceDeploy, of.bypassGates].includes(of.deployed);
  const people = given
    .filter(({ tag, hours }) => tag === of.deployed && !(approvals.expire && hours >= 1))
    .map(({ by }) => by)
    .filter((by) => !by.startsWith('system:') && !(approvals.notByRequester && asked && by === of.requester));
  return new Set(people).size >= approvals.required;
}

/** docs/rollouts.md "Without bake settings": how a deployment begins. */
export function beginning({ bakes, isBound }: { bakes: boolean; isBound: boolean }): 'Deploying' | 'Succeeded' {
  return bakes || isBound ? 'Deploying' : 'Succeeded';
}

/** docs/rollouts.md `currentVersion`, `rollingOutVersion`, where nothing is ever applied: what has Succeeded runs. */
export function runs(history: readonly Past[], isBound: boolean): { current?: string; rollingOut?: string } {
  const [head] = history;
  if (!head) return {};
  if (!isBound || head.bakeStatus === 'Succeeded') return { current: head.tag };
  const before = history.find(({ bakeStatus }) => bakeStatus === 'Succeeded');
  return { rollingOut: head.tag, ...(before && { current: before.tag }) };
}

/** Why it should not have been deployed, a sentence each. */
export function objections(of: Circumstances): string[] {
  const { deployed, past, rolloutGates } = of;
  const [before] = past;
  // "A force-deploy of the version already deployed is taken off without effect."
  const forceDeploy = of.forceDeploy === before?.tag ? undefined : of.forceDeploy;
  const byHand = (of.wantedVersion || forceDeploy) === deployed;
  const always = [
    ...because(!of.going, 'the Rollout is being deleted'),
    ...because(LEGAL_TAG.test(deployed), 'the tag is not legal'),
    ...because(of.gatesOpenFor.every(Boolean), 'a Gate that it names, or that selects it, is closed'),
    ...because(of.gatesOfBoundOpen.every(Boolean), 'a Gate that a bound object requires is closed'),
    ...because(!rolloutGates.some((gate) => gate.rejectedVersions?.includes(deployed)), 'a RolloutGate rejects it'),
    ...because(!of.wantedVersion || of.wantedVersion === deployed, 'wantedVersion names another one'),
    ...because(deployed !== before?.tag, 'it is deployed already'),
  ];
  if (of.rolledBackFrom !== undefined) {
    const asked = of.wantedVersion || forceDeploy;
    return [...always, ...because(!asked, 'somebody asks for a version'), ...notBack(of)];
  }
  // "Approvals hold every deployment but a rollback."
  always.push(
    ...because(
      rolloutGates.every((gate) => isApproved(gate, of)),
      'a RolloutGate lacks approvals of it',
    ),
  );
  // "The deployment waits for it, by hand too; a rollback does not."
  always.push(...because(of.inTarget !== false, 'the target repository does not have it'));
  if (byHand) {
    const isKnown = of.wantedVersion === deployed || of.known.includes(deployed);
    return [...always, ...because(isKnown, 'force-deploy of a version that is not available')];
  }
  return [...always, ...because(!forceDeploy, 'force-deploy names another one'), ...notForward(of)];
}

/** "Once the bake failed, the last version in the history that succeeded is deployed again automatically, once." */
function notBack({ deployed, rolledBackFrom, past, barriers, onFailure }: Circumstances): string[] {
  const [before] = past;
  const good = lastGood(past);
  const since = past.slice(0, good).map(({ tag }) => tag);
  return [
    ...because(onFailure === 'Rollback', `onFailure is ${onFailure}`),
    ...because(before?.bakeStatus === 'Failed', 'nothing has failed'),
    ...because(before?.tag === rolledBackFrom, 'another version has failed'),
    ...because(before?.rolledBackFrom === undefined, 'it was a rollback that has failed'),
    ...because(past[good]?.tag === deployed, 'it is not the last version that succeeded'),
    ...because(!since.some((tag) => barriers.includes(tag)), 'a version that cannot be undone was deployed since'),
  ];
}

function notForward(of: Circumstances): string[] {
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
    ...because(policy !== undefined, 'there is no ImagePolicy'),
    ...because(of.known.includes(deployed), 'it was never discovered'),
    ...because(of.oldEnough.includes(deployed), 'it has not been known for long enough'),
    ...because(!of.rolledBack.includes(deployed), 'it was rolled back'),
    ...because(!policy?.below || minor(deployed) < minor(policy.below), 'the ImagePolicy does not select it any more'),
    ...because(isFirst || minor(deployed) > minor(before.tag), 'it is not newer'),
    ...because(isFree || passing, 'a RolloutGate is not passing'),
    ...because(isFree || listed, 'a RolloutGate does not allow it'),
    ...because(bypassed || of.after.every((each) => hasPassed(each, deployed)), 'a stage does not have it Succeeded'),
    ...because(isFirst || !of.unhealthy || excused, 'a HealthCheck is Unhealthy'),
    ...because(
      before?.bakeStatus !== 'InProgress' && !(of.bakes && before?.bakeStatus === 'Deploying'),
      'the version before it is on its way',
    ),
    ...because(!holds || of.unblocked, 'the version before it has failed'),
    ...because(!failed || !mayGoBack(of), 'the version before it has failed and is to be rolled back first'),
  ];
}

function mayGoBack({ past, barriers, rolloutGates, onFailure }: Circumstances): boolean {
  const good = lastGood(past);
  const target = past[good]?.tag;
  return (
    onFailure === 'Rollback' &&
    past[0]?.rolledBackFrom === undefined &&
    target !== undefined &&
    !past.slice(0, good).some(({ tag }) => barriers.includes(tag)) &&
    !rolloutGates.some((gate) => gate.rejectedVersions?.includes(target))
  );
}

/** Its index; beyond the end where there is none. */
function lastGood(past: readonly Past[]): number {
  const index = past.findIndex(({ tag, bakeStatus }) => bakeStatus === 'Succeeded' && tag !== past[0]?.tag);
  return index < 0 ? past.length : index;
}
