/** Actions on a Rollout: from its steps, its pin, its failure and its requests; and on one of its versions. */
import { DEPLOY_MESSAGE } from '../../api/annotations.ts';
import { apiVersionOf, KINDS } from '../../api/kinds.ts';
import type { EpochMs } from '../../api/kubernetes.ts';
import type { Budget, Rollout, RolloutGate } from '../../api/types.ts';
import { closureKey } from '../../core/gate/closedGates.ts';
import { evaluateGates, isMissing } from '../../core/gate/evaluateGates.ts';
import { ANY_REF, gatesNamedBy } from '../../core/gate/gateRefs.ts';
import { byRefKey, identityOf, refKey } from '../../core/kube/names.ts';
import { heldBefore } from '../../core/rollout/evaluation/bypassTarget.ts';
import { requestsOf } from '../../core/rollout/evaluation/rolloutRequests.ts';
import { grantCovers } from '../../core/suspension/bypassGrant.ts';
import type { Application, ObjectRef, Step } from '../explain/application.ts';
import { finder, type RelatedObjects } from '../explain/related.ts';
import { STEP_KINDS } from '../explain/stepKinds.ts';
import { type Action, type ActionType, rightOn } from './action.ts';
import { bypassRights, rolloutGateVersionActions } from './gateActions.ts';
import { offer, possibleActions } from './offer.ts';
import { scheduleOf } from './writes/rolloutGateWrites.ts';

type Explained = Pick<Application, 'steps' | 'waiting' | 'failure' | 'causes'>;
type RelatedGates = Pick<RelatedObjects, 'gates' | 'rolloutGates'>;

/** Actions on a Rollout; those that remove the cause come first. */
export function rolloutActions(rollout: Rollout, explained: Explained, related: RelatedGates, now: EpochMs): Action[] {
  const { steps, waiting, failure, causes } = explained;
  const version = waiting?.version;
  const bypassing = heldBefore(rollout, version)?.version.tag ?? version;
  const blocking = steps.filter(({ state }) => state === 'blocks');
  const ofSteps = [
    ...blocking.flatMap((step) => stepActions(rollout, step, explained, related)),
    ...(version === undefined ? [] : scheduleActions(rollout, version, blocking, related)),
  ];
  const ofFailure = failure ? failureActions(rollout, failure, steps) : [];
  const isBehindGate = blocking.some(({ kind }) => kind === 'gate');
  const all = [
    ...(version === undefined ? [...ofFailure, ...ofSteps] : [...ofSteps, ...ofFailure]),
    ...(version !== undefined && isDeployable(rollout, version, steps)
      ? actionsOn(rollout, 'deploy', { version })
      : []),
    ...withdrawActions(rollout),
    ...actionsOn(rollout, 'unpin', {}, steps.find(({ kind }) => kind === 'pin')?.id),
    ...(version === undefined ? [] : rejectActions(blocking, version, related)),
    ...(bypassing === undefined ? [] : bypassActions(rollout, bypassing, steps, related, now)),
  ];
  const first = causes[0]?.step;
  const isFirst = ({ step }: Action) => step !== undefined && step === first;
  const found = possibleActions(all, now);
  return [
    ...withPrimary([...found.filter(isFirst), ...found.filter((action) => !isFirst(action))], isBehindGate),
    ...(version === undefined ? [] : possibleActions(unrejectActions(steps, version, related), now)),
  ];
}

function stepActions(rollout: Rollout, step: Step, { waiting, causes }: Explained, related: RelatedGates): Action[] {
  const { kind, object, id } = step;
  const version = waiting?.version;
  if (!object) return [];
  if (kind === 'gate') return gateStepActions(rollout, step, object, version, related);
  if (kind === 'rolloutGate' && version !== undefined) {
    const gate = finder(related.rolloutGates)(object);
    const entry = rollout.status?.gates?.find((each) => each.name === object.name && each.kind !== 'Gate');
    const isClosed = (gate ? gate.spec?.passing : entry?.passing) === false;
    const needsApproval = step.needsApproval === true;
    return rolloutGateVersionActions({ gate, object, version, isClosed, needsApproval, step: id });
  }
  // A budget that is closed, or that has an invalid spec, has no version to continue.
  const isBlocked = causes.some(({ code, step: of }) => code === 'VersionBlocked' && of === id);
  if (kind !== 'budget' || version === undefined || !isBlocked) return [];
  // The image is named, because the budget may block that tag of other images too.
  const { image = '' } = rollout.status ?? {};
  const label = `Continue ${version} despite its failures`;
  const request = { type: 'continue', object: refOf(object), version, ...(image && { image }) } as const;
  return offer(request, budgetSketch(object, version, image), { step: id, label });
}

/** The budget, as the Rollout's status reports it. */
function budgetSketch({ kind, namespace, name }: ObjectRef, version: string, image: string): Budget {
  const row = { image, version, failed: 1, blocked: true };
  return { apiVersion: '', kind, metadata: { namespace, name }, spec: {}, status: { versions: [row] } } as Budget;
}

function gateStepActions(
  rollout: Rollout,
  { id: step, missing, needsApproval }: Step,
  object: ObjectRef,
  version: string | undefined,
  { gates }: RelatedGates,
): Action[] {
  const gate = finder(gates)(object);
  const target = refOf(object);
  if (missing) {
    const isNamed = gatesNamedBy(rollout, ANY_REF).some((ref) => refKey(ref) === refKey(object));
    const ofRollout = { type: 'unrequire', object: { kind: 'Rollout', ...identityOf(rollout) } } as const;
    const { kind: _, ...ref } = target;
    return [
      ...offer({ type: 'create', object: target }, undefined, { step }),
      // Only a bound object may require it.
      ...(isNamed ? offer({ ...ofRollout, gate: ref }, rollout, { step }) : []),
    ];
  }
  return [
    ...(needsApproval && version !== undefined
      ? offer({ type: 'approve', object: target, version, rollout: identityOf(rollout) }, gate, {
          step,
          rolloutUid: rollout.metadata.uid,
        })
      : []),
    ...offer({ type: 'open', object: target }, gate, { step }),
  ];
}

/**
 * The bypass of all RolloutGates, if only RolloutGates of schedules hold the version: a schedule would overwrite a
 * change of its RolloutGate.
 */
function scheduleActions(
  rollout: Rollout,
  version: string,
  blocking: readonly Step[],
  { rolloutGates }: RelatedGates,
): Action[] {
  const find = finder<RolloutGate>(rolloutGates);
  const gates = blocking.filter(({ kind }) => kind === 'rolloutGate' || kind === 'gate');
  const isOfSchedule = ({ kind, object }: Step) => {
    const gate = kind === 'rolloutGate' && object ? find(object) : undefined;
    return gate !== undefined && scheduleOf(gate) !== undefined;
  };
  return gates.length > 0 && gates.every(isOfSchedule)
    ? actionsOn(rollout, 'bypassRolloutGates', { version }, gates[0]?.id)
    : [];
}

function failureActions(
  rollout: Rollout,
  failure: NonNullable<Application['failure']>,
  steps: readonly Step[],
): Action[] {
  const step = steps.find(({ kind }) => kind === 'failure')?.id ?? 'bake';
  const failed = rollout.status?.history?.[0]?.version.tag;
  return [
    // The failed version still runs.
    ...(failure.rollbackTo === undefined ? [] : actionsOn(rollout, 'rollback', { version: failure.rollbackTo }, step)),
    ...(failed === undefined ? [] : actionsOn(rollout, 'retry', { version: failed }, step)),
    ...(failure.unblocks && failed !== undefined ? actionsOn(rollout, 'unblock', { version: failed }, step) : []),
  ];
}

/** Whether a manual deployment would end the wait: not behind a closed Gate, nor if approvals are missing. */
function isDeployable(rollout: Rollout, version: string, steps: readonly Step[]): boolean {
  const blocking = steps.filter(({ state }) => state === 'blocks');
  const isRequested = requestsOf(rollout).forceDeploy === version;
  const holds = blocking.some(({ kind }) => STEP_KINDS[kind].holdsAutomation);
  // A manual deployment bypasses these waits, which end automatically.
  const waits = steps.some(({ kind, state }) => (kind === 'age' || kind === 'upstream') && state === 'waits');
  return (
    !isRequested && (holds || waits) && !blocking.some(({ kind, needsApproval }) => kind === 'gate' || needsApproval)
  );
}

function withdrawActions(rollout: Rollout): Action[] {
  const { forceDeploy: version } = requestsOf(rollout);
  return version === undefined ? [] : actionsOn(rollout, 'withdraw', { version });
}

function rejectActions(blocking: readonly Step[], version: string, { rolloutGates }: RelatedGates): Action[] {
  const find = finder(rolloutGates);
  return blocking.flatMap(({ kind, object }) =>
    kind === 'rolloutGate' && object ? offer({ type: 'reject', object: refOf(object), version }, find(object)) : [],
  );
}

/** The approvals that end a rejection. They are never primary, because a user has rejected the version. */
function unrejectActions(steps: readonly Step[], version: string, { rolloutGates }: RelatedGates): Action[] {
  return steps.flatMap(({ kind, state, object, id }) => {
    const gate = kind === 'rolloutGate' && state === 'failed' && object ? finder(rolloutGates)(object) : undefined;
    return gate && !gate.spec?.approvals
      ? offer({ type: 'approve', object: { kind: 'RolloutGate', ...identityOf(gate) }, version }, gate, { step: id })
      : [];
  });
}

const ALL_GATES = { namespace: '', name: '' };

/** The bypass of closed Gates; empty if only missing Gates block the version, for which there are other actions. */
function bypassActions(
  rollout: Rollout,
  version: string,
  steps: readonly Step[],
  { gates: known }: RelatedGates,
  now: EpochMs,
): Action[] {
  const ofGates = steps.filter(({ kind }) => kind === 'gate');
  const first = ofGates.find(({ state, missing }) => state === 'blocks' && !missing);
  if (!first) return [];
  const blocking = ofGates.filter(({ state }) => state === 'blocks');
  const blockingKeys = new Set(blocking.flatMap(({ object }) => (object ? refKey(object) : [])));
  const refs = ofGates.flatMap(({ object }) => object ?? []);
  // The webhook also requires the right for a closed Gate that is open for this version.
  const closed = evaluateGates(refs, byRefKey(known), now).filter(
    (gate) => blockingKeys.has(gate.key) || !(gate.isOpen || isMissing(gate)),
  );
  const isLimited = blocking.some(({ object }) => !object);
  const isNewest = version === rollout.status?.history?.[0]?.version.tag;
  // What the Gates hold despite this bypass, such as an object that never ran, another one doesn't release either.
  if (isNewest && !isLimited && grantCovers(rollout, closed.map(closureKey), now)) return [];
  const gates = closed.map((gate) => gate.ref);
  const which = isLimited ? 'all closed Gates' : closed.map(({ key }) => `Gate ${key}`).join(', ');
  const ref = identityOf(rollout);
  return offer({ type: 'bypass', object: { kind: 'Rollout', ...ref }, version }, rollout, {
    text: `Only ${version} bypasses ${which}, once. Your name and reason are recorded.`,
    // Beyond a limit the right on all Gates, because any of them may hold a bound object.
    rights: [...bypassRights(isLimited ? [ALL_GATES, ...gates] : gates), rightOn('patch', 'Rollout', ref)],
    step: first.id,
  });
}

/** The actions, with the approval of the version marked as the primary one: it allows only this version. */
function withPrimary(actions: Action[], isBehindGate: boolean): Action[] {
  const likely = actions.find(
    ({ request }) => request.type === 'approve' && (request.object.kind === 'Gate' || !isBehindGate),
  );
  return actions.map((action) => (action === likely ? { ...action, primary: true } : action));
}

function actionsOn(rollout: Rollout, type: ActionType, given: { version?: string }, step?: string): Action[] {
  return offer({ type, object: { kind: 'Rollout', ...identityOf(rollout) }, ...given }, rollout, { step });
}

function refOf({ kind, namespace, name }: ObjectRef) {
  return { kind: kind as Action['request']['object']['kind'], namespace, name };
}

type KnownVersions = Pick<Application, 'namespace' | 'name' | 'pinned' | 'runs' | 'history'>;

/**
 * Actions on one version of an application. For a version that ran before, only the rollback: after a manual deployment
 * the newer version would replace it at once.
 */
export function versionActions(application: KnownVersions, version: string, now: EpochMs): Action[] {
  const { namespace, name, runs, history } = application;
  const object = { kind: 'Rollout' as const, namespace, name };
  const found = rolloutSketch(application);
  if (runs?.version.tag === version) {
    const text = `Stays on ${version}: nothing newer is deployed until you unpin.`;
    return possibleActions(offer({ type: 'pin', object, version }, found, { text }), now);
  }
  const ran = history.some((each) => each.version.tag === version && each.bakeStatus === 'Succeeded');
  const rollbacks = ran ? possibleActions(offer({ type: 'rollback', object, version }, found), now) : [];
  if (rollbacks.length > 0) return rollbacks;
  const deploy = offer({ type: 'deploy', object, version }, found, {
    label: `Deploy ${version}`,
    submit: 'Deploy',
    text: `Deploys ${version} manually. Newer versions are then candidates again: to stay on ${version}, pin it.`,
  });
  return possibleActions([...deploy, ...offer({ type: 'pin', object, version }, found)], now);
}

/** A Rollout with the fields that the application has. */
function rolloutSketch({ namespace, name, pinned, history }: KnownVersions): Rollout {
  return {
    apiVersion: apiVersionOf(KINDS.Rollout),
    kind: 'Rollout',
    metadata: { namespace, name, annotations: { [DEPLOY_MESSAGE]: '' } },
    spec: pinned === undefined ? {} : { wantedVersion: pinned },
    status: { history },
  } as unknown as Rollout;
}
