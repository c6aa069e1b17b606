/**
 * docs/rollouts.md "In the way", read aloud: what has to hold for a version that was deployed. It knows no timeouts and no
 * bakes: test/scenario/rollout/model.ts has the bakes, and the scenarios beside it the timeouts.
 */

export interface Circumstances {
  deployed: string;
  /** The deployment before, as it stands after this one was made; undefined for the first. */
  before: { tag: string; bakeStatus?: string } | undefined;
  wantedVersion: string | undefined;
  forceDeploy: string | undefined;
  bypassGates: string | undefined;
  unblocked: boolean;
  /** What the ImagePolicy selects now, and what it leaves out; undefined when there is none. */
  policy: { latest: string; below?: string | undefined } | undefined;
  known: string[];
  rolloutGates: { passing?: boolean; allowedVersions?: string[]; rejectedVersions?: string[] }[];
  /** Whether each Gate of `spec.gates` is open, for this version or for all. */
  gatesOpenFor: boolean[];
  /** Whether each Gate that a bound object requires is open for all. */
  gatesOfBoundOpen: boolean[];
  unhealthy: boolean;
  onFailure: 'Continue' | 'Hold';
  going: boolean;
}

const LEGAL_TAG = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/;

/** Versions here are `1.x.0`. */
const minor = (tag: string) => Number(tag.split('.')[1]);

/** Why it should not have been deployed, a sentence each. */
export function objections(of: Circumstances): string[] {
  const { deployed, before, policy, rolloutGates } = of;
  const isFirst = before === undefined;
  // "A force-deploy of the version already deployed is taken off without effect."
  const forceDeploy = of.forceDeploy === before?.tag ? undefined : of.forceDeploy;
  const byHand = (of.wantedVersion || forceDeploy) === deployed;
  const because = (holds: boolean, sentence: string) => (holds ? [] : [sentence]);
  const always = [
    ...because(!of.going, 'the Rollout is being deleted'),
    ...because(LEGAL_TAG.test(deployed), 'the tag is not legal'),
    ...because(of.gatesOpenFor.every(Boolean), 'a Gate in spec.gates is closed'),
    ...because(of.gatesOfBoundOpen.every(Boolean), 'a Gate that a bound object requires is closed'),
    ...because(!rolloutGates.some((gate) => gate.rejectedVersions?.includes(deployed)), 'a RolloutGate rejects it'),
    ...because(!of.wantedVersion || of.wantedVersion === deployed, 'wantedVersion names another one'),
    ...because(deployed !== before?.tag, 'it is deployed already'),
  ];
  if (byHand) {
    const isKnown = of.wantedVersion === deployed || of.known.includes(deployed);
    return [...always, ...because(isKnown, 'force-deploy of a version that is not available')];
  }
  const bypassed = of.bypassGates === deployed;
  const passing = isFirst || bypassed || rolloutGates.every((gate) => gate.passing !== false);
  const listed =
    bypassed ||
    rolloutGates.every((gate) => gate.passing === false || (gate.allowedVersions?.includes(deployed) ?? true));
  const automatic = [
    ...because(!forceDeploy, 'force-deploy names another one'),
    ...because(policy !== undefined, 'there is no ImagePolicy'),
    ...because(of.known.includes(deployed), 'it was never discovered'),
    ...because(!policy?.below || minor(deployed) < minor(policy.below), 'the ImagePolicy does not select it any more'),
    ...because(isFirst || minor(deployed) > minor(before.tag), 'it is not newer'),
    ...because(passing, 'a RolloutGate is not passing'),
    ...because(isFirst || listed, 'a RolloutGate does not allow it'),
    ...because(isFirst || !of.unhealthy || before.bakeStatus === 'Failed', 'a HealthCheck is Unhealthy'),
    ...because(
      before?.bakeStatus !== 'Deploying' && before?.bakeStatus !== 'InProgress',
      'the version before it is on its way',
    ),
    ...because(
      of.onFailure !== 'Hold' || before?.bakeStatus !== 'Failed' || of.unblocked,
      'the version before it has failed',
    ),
  ];
  return [...always, ...automatic];
}
