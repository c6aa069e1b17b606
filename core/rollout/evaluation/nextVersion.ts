/** Which version comes next. */
import type { HistoryEntry, VersionInfo } from '../../../api/types.ts';
import { isLegalTag } from '../../kube/tag.ts';
import type { Rollback, RollbackTarget } from '../deployment/rollback.ts';
import type { RolloutContext } from './observed.ts';
import { type RolloutGatesResult, rejectedBy } from './rolloutGates.ts';

/** The version that comes next, and how it was chosen. */
export type Choice =
  | NextChoice
  /** It waits for RolloutGates, upstream Rollouts, a budget, or the decision about a rollback. */
  | { trigger: 'Automatic'; is: 'waiting'; version: string }
  /** The requested version can't be deployed. `rejectedBy`: the RolloutGate that rejects it. */
  | { trigger: 'Manual' | 'InitialVersion'; is: 'impossible'; version: string; problem: string; rejectedBy?: string }
  /** There is no version, or the requested one is deployed already. */
  | { trigger: 'Automatic' | 'Manual'; is: 'nothing'; version?: undefined };

/** A version that is deployed once nothing blocks it. InitialVersion: it ran before the Rollout existed. */
export type NextChoice = { is: 'next'; version: string } & (
  | { trigger: 'Automatic' | 'Manual' | 'InitialVersion' }
  | { trigger: 'Rollback'; rollback: RollbackTarget }
);

/** The versions from which the next one is chosen. */
interface Versions {
  /** Newest first, as `automatic`. */
  candidates: readonly VersionInfo[];
  /** The versions that automation may deploy unless something blocks them. */
  automatic: readonly VersionInfo[];
  rollback: Rollback | undefined;
}

/**
 * The next version. A history begins with initialVersion; later, in this order: wantedVersion, force-deploy, a
 * rollback, the newest candidate that the RolloutGates allow.
 */
export function chooseNext(context: RolloutContext, { candidates, automatic, rollback }: Versions): Choice {
  const { observed, state, requests } = context;
  const { spec } = observed.rollout;
  const { forceDeploy } = requests;
  if (!state.history[0] && spec?.initialVersion) return choiceOf('InitialVersion', spec.initialVersion, context);
  if (spec?.wantedVersion) return choiceOf('Manual', spec.wantedVersion, context);
  if (forceDeploy) {
    const isKnown = state.available.some(({ tag }) => tag === forceDeploy);
    if (isKnown) return choiceOf('Manual', forceDeploy, context);
    const problem = `force deploy version ${forceDeploy} is not in available releases`;
    return { trigger: 'Manual', is: 'impossible', version: forceDeploy, problem };
  }
  if (rollback?.is === 'possible') return { trigger: 'Rollback', is: 'next', version: rollback.to.tag, rollback };
  const next = rollback?.until === undefined ? automatic[0] : undefined;
  if (next) return { trigger: 'Automatic', is: 'next', version: next.tag };
  const [newest] = candidates;
  return newest
    ? { trigger: 'Automatic', is: 'waiting', version: newest.tag }
    : { trigger: 'Automatic', is: 'nothing' };
}

function choiceOf(
  trigger: 'Manual' | 'InitialVersion',
  version: string,
  { observed: { rolloutGates }, state: { history } }: RolloutContext,
): Choice {
  if (!isLegalTag(version)) {
    const problem = `version ${JSON.stringify(version)} is not a valid image tag, so it is not deployed: correct it`;
    return { trigger, is: 'impossible', version, problem };
  }
  if (version === history[0]?.version.tag) return { trigger: 'Manual', is: 'nothing' };
  const gate = rejectedBy(rolloutGates, version);
  if (gate === undefined) return { trigger, is: 'next', version };
  const problem = `RolloutGate '${gate}' rejects version ${version}: to deploy it, remove it from spec.rejectedVersions`;
  return { trigger, is: 'impossible', version, problem, rejectedBy: gate };
}

/**
 * The versions that lists, upstream Rollouts and approvals allow, newest first; a RolloutGate that is not passing is a
 * blocker instead. A first deployment ignores the lists, unless they all allow a candidate: then they choose it.
 */
export function automaticVersions(
  { eligible, onEveryList }: RolloutGatesResult,
  head: HistoryEntry | undefined,
  gateFirstDeployment: boolean,
): VersionInfo[] {
  const isUngated = head === undefined && !gateFirstDeployment && onEveryList.length === 0;
  return isUngated ? eligible : onEveryList;
}

/**
 * Whether automation selects a newer version. Only then can upstream Rollouts, health, a running bake or a missing
 * ImagePolicy block the version. A user's choice ignores them, and a rollback goes to a version that has passed them.
 * RolloutGates block `initialVersion` too, if they block first deployments.
 */
export function isAutomatic({ trigger }: Choice): boolean {
  return trigger === 'Automatic';
}
