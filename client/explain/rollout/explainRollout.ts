/** The explanation of a Rollout, from its status and its related objects. */
import { WATCHES_LABEL } from '../../../api/annotations.ts';
import { READY } from '../../../api/conditions.ts';
import { KINDS } from '../../../api/kinds.ts';
import type { EpochMs } from '../../../api/kubernetes.ts';
import type { Blocker, FluxBinding, HistoryEntry, Rollout } from '../../../api/types.ts';
import { bindingsOfRollout } from '../../../core/binding/boundObjects.ts';
import { requiredByBinding, unionOfRequired } from '../../../core/gate/closedGates.ts';
import { findCondition } from '../../../core/kube/conditions.ts';
import { shortDuration } from '../../../core/kube/duration.ts';
import { withoutEmpty } from '../../../core/kube/json.ts';
import { refKey } from '../../../core/kube/names.ts';
import { objectsOfRollout } from '../../../core/managedField/managedFields.ts';
import { IMAGE_POLICY_NOT_FOUND } from '../../../core/policy/imagePolicy.ts';
import { pinRecordOf } from '../../../core/record/pinAndSchedule.ts';
import { isInRecovery } from '../../../core/rollout/deployment/entry.ts';
import {
  hasNoBake,
  heldDeployment,
  isUnfinished,
  succeededDeployments,
} from '../../../core/rollout/deployment/history.ts';
import { requesterOf, requestsOf } from '../../../core/rollout/evaluation/rolloutRequests.ts';
import { awaitsFix } from '../../../core/rollout/rolloutConditions.ts';
import { upstreamRefs } from '../../../core/rollout/upstream/dependencies.ts';
import { withoutCommands } from '../../../core/text/commands.ts';
import { firstFew } from '../../../core/text/firstFew.ts';
import { isRequest } from '../../actions/writes/plannedWrite.ts';
import { rollback } from '../../actions/writes/rollbackWrite.ts';
import {
  type Application,
  type ApplicationState,
  type Cause,
  causeIf,
  type Deployment,
  type FailureView,
  isFailedObject,
  type Next,
  type Outcome,
  outcomeOf,
  type Step,
  type WaitingVersion,
} from '../application.ts';
import {
  type RelatedObjects,
  relatedByNamespace,
  unreadAbout,
  unreadTexts,
  watchesOtherNamespaces,
} from '../related.ts';
import { notSetText, staleCauses } from '../staleStatus.ts';
import { STEP_KINDS } from '../stepKinds.ts';
import { causesOf } from './causes.ts';
import { conditionSteps } from './conditionSteps.ts';
import { bakeSteps, bindingSteps, checkSteps } from './deploymentSteps.ts';
import { gateSteps } from './gateSteps.ts';
import { rolloutGateSteps } from './rolloutGateSteps.ts';
import { blockerOf, isAbout, storedBlockers } from './storedBlockers.ts';

/** The explanations of many Rollouts, in their order. Linear, except for the objects that share a namespace. */
export function explainRollouts(rollouts: readonly Rollout[], related: RelatedObjects, now: EpochMs): Application[] {
  const relatedOf = relatedByNamespace(related);
  return rollouts.map((rollout) => {
    const own = relatedOf(rollout.metadata.namespace ?? '');
    const { healthChecks } = watchesOtherNamespaces(rollout) ? related : own;
    return explainRollout(rollout, { ...own, healthChecks }, now);
  });
}

export function explainRollout(rollout: Rollout, related: RelatedObjects, now: EpochMs): Application {
  const { metadata, status } = rollout;
  const { namespace = '', name = '', uid } = metadata;
  const { [WATCHES_LABEL]: _, ...labels } = metadata.labels ?? {};
  const bound = bindingsOfRollout(rollout, related.bindings);
  const waiting = waitingVersion(rollout);
  const history = (status?.history ?? []).map(({ knownHealth: _, ...entry }): Deployment => entry);
  const version = waiting?.version;
  const steps = [
    ...conditionSteps(rollout, version),
    ...rolloutGateSteps(rollout, related, version, now),
    ...gateSteps(rollout, bound, related, version, now),
    ...checkSteps(rollout, related),
    ...bindingSteps(rollout, bound, related.objects),
    ...bakeSteps(rollout, bound, related),
  ];
  const state = applicationState(rollout, waiting, steps);
  const failure = failureOf(rollout, steps);
  const closed = gatesOfHeldDeployment(rollout, bound, steps);
  const known = causesOf(rollout, steps, closed);
  const causes = [
    ...known,
    ...failureCauses(rollout, failure, known),
    ...notSetCauses(rollout, related, now),
    ...staleCauses(rollout, now),
    ...(state === 'done' ? unboundCauses(rollout, bound, related) : []),
  ];
  const next = nextOf(rollout, closed, steps, version);
  return {
    namespace,
    name,
    labels,
    state,
    headline: headline(rollout, history[0], waiting, steps),
    ...withoutEmpty({
      uid,
      title: status?.title,
      description: status?.description,
      source: status?.source,
      runs: history[0],
      waiting,
      failure,
      pinned: rollout.spec?.wantedVersion,
      pin: pinRecordOf(rollout),
      next,
    }),
    steps,
    causes,
    history,
    unread: unreadTexts(unreadAbout(related, bound)),
    releases: status?.availableReleasesCount ?? status?.availableReleases?.length ?? 0,
  };
}

function notSetCauses(rollout: Rollout, { objects }: RelatedObjects, now: EpochMs): Cause[] {
  const { name = '', namespace } = rollout.metadata;
  const own = objectsOfRollout(name, objects).filter(({ metadata }) => metadata.namespace === namespace);
  return own.flatMap((object) => causeIf('NotSet', notSetText(object, rollout, now)));
}

function unboundCauses({ spec }: Rollout, bound: readonly FluxBinding[], { unread }: RelatedObjects): Cause[] {
  const isKnown = unread.every(({ kind }) => kind !== 'FluxBinding');
  if (bound.length > 0 || !isKnown || spec?.releaseConfigMap) return [];
  return [{ code: 'NothingBound', text: 'No Flux object is bound to it, so none gets its version' }];
}

/** The closed Gates of bound objects by which a deployment is held while it rolls out. */
function gatesOfHeldDeployment(rollout: Rollout, bound: readonly FluxBinding[], steps: readonly Step[]): Step[] {
  if (heldDeployment(rollout) === undefined) return [];
  const { refs, limit } = unionOfRequired(bound.map(({ spec }) => requiredByBinding(spec)));
  const required = new Set([...refs.map(refKey), ...(limit ? [limit] : [])].map((key) => `gate/${key}`));
  return steps.filter(({ id, state }) => state === 'blocks' && required.has(id));
}

function waitingVersion(rollout: Rollout): WaitingVersion | undefined {
  const { status, spec } = rollout;
  const version = status?.pendingVersion;
  if (version === undefined) return undefined;
  const isManual = version === spec?.wantedVersion || version === requestsOf(rollout).forceDeploy;
  const requested = isManual ? requesterOf(rollout, version) : undefined;
  const release = status?.availableReleases?.find(({ tag }) => tag === version);
  return { version, ...withoutEmpty({ requested, firstSeen: release?.firstSeen }) };
}

function applicationState(
  rollout: Rollout,
  waiting: WaitingVersion | undefined,
  steps: readonly Step[],
): ApplicationState {
  const { status } = rollout;
  const [head] = status?.history ?? [];
  if (hasFailed(rollout)) return 'problem';
  if (waiting && head && hasNoBake(head, rollout) && isUnfinished(head)) return 'waits';
  if (isUnfinished(head)) return head?.bakeStatus === 'Deploying' ? 'deploying' : 'baking';
  if (head?.bakeStatus === 'Failed') return 'failed';
  if (steps.some(isFailedObject)) return 'problem';
  if (waiting) return 'waits';
  return head ? 'done' : 'empty';
}

/** Whether the Rollout can't continue: its ImagePolicy does not exist, or its spec is invalid. */
function hasFailed({ status }: Rollout): boolean {
  const ready = findCondition(status?.conditions, READY);
  return ready?.status === 'False' && ready.reason === 'RolloutFailed';
}

const OUTCOME_TEXTS: Record<Outcome, string> = {
  Deploying: 'is being deployed',
  InProgress: 'is baking',
  Succeeded: 'runs',
  Failed: 'has failed',
  Cancelled: 'was cancelled',
  Unknown: 'runs',
};

function headline(
  { status, spec }: Rollout,
  head: Deployment | undefined,
  waiting: WaitingVersion | undefined,
  steps: readonly Step[],
): string {
  const current = status?.currentVersion;
  const held = blockerOf(status?.blockers, 'PinnedVersion')?.version;
  const broken = steps.filter(isFailedObject).map(({ title }) => title);
  const parts = [
    ...(waiting ? [`${waiting.version} waits`] : []),
    head ? `${head.version.tag} ${OUTCOME_TEXTS[outcomeOf(head)]}` : 'nothing is deployed',
    ...(head && current !== undefined && current !== head.version.tag ? [`${current} runs`] : []),
    ...(head?.rolledBackFrom === undefined ? [] : [`${head.rolledBackFrom} was rolled back`]),
    ...(!waiting && held !== undefined ? [`${held} waits while ${spec?.wantedVersion} is pinned`] : []),
    ...(broken.length > 0 ? [`${firstFew(broken, 1)} failed`] : []),
  ];
  return parts.join(', ');
}

// A failed deployment: the reports of its HealthChecks, and the last good version.

function failureOf(rollout: Rollout, steps: readonly Step[]): FailureView | undefined {
  const { history = [] } = rollout.status ?? {};
  if (history[0]?.bakeStatus !== 'Failed') return undefined;
  const [good] = succeededDeployments(history);
  const back = rollback(rollout, undefined, { stays: true });
  return {
    ...withoutEmpty({
      lastGood: good?.version.tag,
      lastGoodId: good?.id,
      rollbackTo: isRequest(back) ? back.brings?.version : undefined,
    }),
    unblocks: rollout.spec?.onFailure === 'Hold' || steps.some(({ kind }) => kind === 'failure'),
  };
}

/** The causes about failed HealthChecks and the last good version. `known`: the other causes. */
function failureCauses({ status }: Rollout, failure: FailureView | undefined, known: readonly Cause[]): Cause[] {
  if (!failure) return [];
  const { failedHealthChecks = [] } = status!.history![0] as HistoryEntry;
  // Condition DeploymentBlocked quotes the first unhealthy HealthCheck.
  const isOneQuoted = known.some(({ code }) => code === 'UnhealthyHealthChecks');
  const quoted = isOneQuoted ? blockerOf(status?.blockers, 'Health') : undefined;
  const checks = failedHealthChecks
    .filter((each) => each.message && !(quoted && isAbout(quoted, { kind: KINDS.HealthCheck.kind, ...each })))
    .map(({ namespace, name, message }) => ({
      code: 'HealthCheckFailed',
      // At deployTimeout it may only have been Pending.
      text: `HealthCheck ${namespace}/${name} was not Healthy: ${withoutCommands(message!)}`,
    }));
  const { lastGood, lastGoodId } = failure;
  const good =
    lastGood === undefined ? [] : [`${lastGood} is the last version that succeeded (deployment ${lastGoodId})`];
  return [...checks, ...good.map((text) => ({ code: 'LastGoodVersion', text }))];
}

// The next automatic change, and its time.

function nextOf(
  rollout: Rollout,
  closed: readonly Step[],
  steps: readonly Step[],
  version: string | undefined,
): Next | undefined {
  const [head] = rollout.status?.history ?? [];
  const isAwaited = head && isUnfinished(head) && (version === undefined || !hasNoBake(head, rollout));
  if (isAwaited && !awaitsFix(rollout)) return nextOfHeld(head, closed) ?? nextOfDeployment(head, rollout, steps);
  if (version !== undefined) return nextOfVersion(rollout, steps, version);
  if (!hasFailed(rollout)) return undefined;
  const missing = storedBlockers(rollout, undefined).find(({ reason }) => reason === IMAGE_POLICY_NOT_FOUND);
  return {
    text: missing
      ? `no automatic change until ${titleOf(missing)} exists: create it, or correct spec.releasesImagePolicy`
      : 'no automatic change until the problem is corrected. The command doctor checks what the Rollout references',
  };
}

/** The next change of a deployment that these closed Gates hold; undefined without one. */
function nextOfHeld({ version: { tag } }: HistoryEntry, closed: readonly Step[]): Next | undefined {
  if (closed.length === 0) return undefined;
  const at = lastOf(closed);
  const lasting = closed.filter(({ until }) => until === undefined);
  if (lasting.length > 0) return { text: `no automatic change. ${tag} is waiting for ${titlesText(lasting)}` };
  return { text: `${titlesText(closed)} ${closed.length === 1 ? 'opens' : 'open'}`, ...(at && { at }) };
}

/** The next change of a deployment that rolls out or bakes. */
function nextOfDeployment(head: HistoryEntry, rollout: Rollout, steps: readonly Step[]): Next {
  const { tag } = head.version;
  const until = steps.find(({ kind }) => kind === 'bake')?.until;
  if (head.bakeStatus !== 'InProgress') {
    const forever = rollout.spec?.deployTimeout === undefined ? '; spec.deployTimeout is not set' : '';
    if (hasNoBake(head, rollout)) return { text: `${tag} succeeds once Flux has applied it${forever}` };
    if (until) return { text: `${tag} fails unless it is applied and healthy`, at: until };
    return { text: `the bake of ${tag} starts once it is applied and healthy${forever}` };
  }
  // An object that fails after it had the version no longer delays the end of the bake.
  const isApplied = (step: Step) => step.state === 'passed' || (isFailedObject(step) && step.version === tag);
  const unapplied = steps.filter((step) => step.kind === 'binding' && !isApplied(step));
  if (unapplied.length > 0)
    return { text: `the bake of ${tag} ends once Flux has applied it to ${titlesText(unapplied)}` };
  const checks = steps.filter(({ kind }) => kind === 'check');
  const unhealthy = checks.filter(({ state }) => state === 'waits' || state === 'blocks');
  const are = unhealthy.length === 1 ? 'is' : 'are';
  if (unhealthy.length > 0) return { text: `the bake of ${tag} ends once ${titlesText(unhealthy)} ${are} Healthy` };
  const isRecovery = isInRecovery(rollout.status?.conditions);
  const watched = isRecovery ? ' if all HealthChecks are Healthy' : ', unless a HealthCheck fails';
  return { text: `the bake of ${tag} ends${checks.length > 0 ? watched : ''}`, ...(until && { at: until }) };
}

/** The next change of the version that waits. */
function nextOfVersion(rollout: Rollout, steps: readonly Step[], version: string): Next {
  const blocking = steps.filter(
    ({ kind, state }) =>
      kind !== 'binding' &&
      (state === 'blocks' || (!STEP_KINDS[kind].ofDeployment && (state === 'waits' || state === 'failed'))),
  );
  // Blockers without a step: the Rollout itself, or a type of a newer version of this software.
  const blockers = storedBlockers(rollout, version).filter(({ type }) => blocking.length === 0 || type === 'Problem');
  if (blocking.length === 0 && blockers.length === 0) return { text: `${version} is deployed within moments` };
  const failedVersion = rollout.status?.history?.[0]?.version.tag;
  const lasting = [
    ...blocking
      .filter(({ until, state }) => state === 'failed' || (state === 'blocks' && until === undefined))
      .map(({ kind, title }) => ({ title: kind === 'failure' ? `a retry or unblock of ${failedVersion}` : title })),
    ...blockers.filter(({ effect }) => effect === 'Blocks').map((each) => ({ title: titleOf(each) })),
  ];
  if (lasting.length > 0) return { text: `no automatic change. ${version} is waiting for ${titlesText(lasting)}` };
  const waits = [...blocking, ...blockers.map((each) => ({ title: titleOf(each), until: each.until }))];
  const at = lastOf(waits);
  if (at !== undefined) return { text: `${version} is deployed`, at };
  return { text: `${version} is deployed ${endText(waits, rollout)}` };
}

/** When waits without a known time end: `once it no longer waits for …`. */
function endText(
  waits: readonly (Pick<Step, 'title'> & Partial<Pick<Step, 'kind' | 'object'>>)[],
  rollout: Rollout,
): string {
  const [only] = waits.length === 1 ? waits : [];
  if (only?.kind === 'upstream') {
    const key = only.object && refKey(only.object);
    const bakedFor = upstreamRefs(rollout).find((each) => refKey(each) === key)?.bakedFor ?? 0;
    return `${bakedFor > 0 ? `${shortDuration(bakedFor)} after` : 'once'} it has succeeded in ${only.title}`;
  }
  if (only?.kind === 'budget') return `once ${only.title} grants it a slot`;
  return `once it no longer waits for ${titlesText(waits)}`;
}

function titleOf({ type, object, reason }: Blocker): string {
  if (object) return `${object.kind} ${object.name}`;
  return type === 'Problem' ? 'a fix of the problem in its condition Ready' : reason;
}

/** The time at which the last wait ends; undefined if one has no known end. */
function lastOf(waits: readonly { until?: string }[]): string | undefined {
  const times = waits.flatMap(({ until }) => until ?? []);
  return times.length === waits.length ? times.sort().at(-1) : undefined;
}

function titlesText(steps: readonly Pick<Step, 'title'>[]): string {
  return firstFew(
    steps.map(({ title }) => title),
    3,
  );
}
