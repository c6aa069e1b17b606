/** Why a Flux object is suspended or waits: by its Gates, its Rollouts, its applier, its source, or a user. */
import { DEPLOYED } from '../../../api/annotations.ts';
import { GATE_CLOSED, READY } from '../../../api/conditions.ts';
import type { FluxObject } from '../../../api/flux.ts';
import { governedKindOf } from '../../../api/kinds.ts';
import type { EpochMs, NamespacedName } from '../../../api/kubernetes.ts';
import type { DeploymentRef, FluxBinding, Gate, Rollout } from '../../../api/types.ts';
import { unknownAnnotations } from '../../../core/admission/unknownAnnotations.ts';
import { type ClosedGates, closedAmong, closedText, closureKeys } from '../../../core/gate/closedGates.ts';
import { evaluateGates } from '../../../core/gate/evaluateGates.ts';
import { ANY_REF } from '../../../core/gate/gateRefs.ts';
import { findCondition } from '../../../core/kube/conditions.ts';
import { byRefKey, groupOf, identityOf, without } from '../../../core/kube/names.ts';
import { formatTime } from '../../../core/kube/time.ts';
import { deploymentText, parseDeployments } from '../../../core/managedField/deployment.ts';
import { evaluateRecordedGates, recordedRefs } from '../../../core/objectGates/objectGates.ts';
import { currentState, isSuspendedByUs, suspensionReason } from '../../../core/objectGates/objectState.ts';
import { applierWaitText } from '../../../core/suspension/applier.ts';
import { firstFew } from '../../../core/text/firstFew.ts';
import { fluxActions } from '../../actions/gateActions.ts';
import { possibleActions } from '../../actions/offer.ts';
import { type Cause, causeIf, type Next, type ObjectRef, objectRef } from '../application.ts';
import { earlierFailure, fluxFailure } from '../fluxFailure.ts';
import { type Unread, unreadTexts } from '../related.ts';
import { notSetText } from '../staleStatus.ts';
import type { Explanation } from './explanation.ts';

interface FluxObjectContext {
  /** The FluxBinding of the object; absent if the object names neither Gates nor Rollouts. */
  binding?: FluxBinding | undefined;
  gates: readonly Gate[];
  /** The Gates that select the object now: its annotations may not record them yet. */
  selecting?: readonly NamespacedName[];
  /** The Rollouts to which the object is bound. */
  rollouts?: readonly Rollout[];
  unread: readonly Unread[];
}

export function explainFluxObject(
  object: FluxObject,
  { binding, gates, selecting = [], rollouts = [], unread }: FluxObjectContext,
  now: EpochMs,
): Explanation {
  const kind = governedKindOf(groupOf(object.apiVersion), object.kind);
  const ref = kind ? objectRef(kind, identityOf(object)) : plainRef(object);
  const name = `${ref.kind} ${ref.namespace}/${ref.name}`;
  const hidden = new Set(unread.filter((each) => each.kind === 'Gate').map(({ namespace }) => namespace));
  const gatesByKey = byRefKey(gates);
  const required = evaluateRecordedGates(object, gatesByKey, ANY_REF, now);
  const unrecorded = evaluateGates(without(selecting, recordedRefs(object, ANY_REF)), gatesByKey, now);
  const readable = required.all.filter(({ ref }) => !hidden.has(ref.namespace));
  const closed = closedAmong([...readable, ...unrecorded], required.limit);
  const isSuspended = object.spec?.suspend === true;
  const isManual = isSuspended && !isSuspendedByUs(object);
  const isOpen = required.heldBy.length === 0 && !closed;
  const held = holdOf(object, closed, isOpen);
  const unreported = isSuspended ? [] : unreportedDeployments(object, binding);
  const [failure, earlier] = [fluxFailure(object), earlierFailure(object)];
  const causes: Cause[] = [
    ...holdCauses(name, closed, held),
    ...(isManual ? [manualSuspensionCause(object, name)] : []),
    ...(failure ? [{ code: failure.reason, text: `${name} has failed: ${failure.message}` }] : []),
    ...rollouts.flatMap((rollout) => causeIf('NotSet', notSetText(object, rollout, now))),
    ...(unreported.length > 0
      ? [notAppliedCause(name, unreported)]
      : // Other causes are about closed Gates; if all are known to be open, this report is some seconds old.
        bindingCauses(name, binding, closed !== undefined || (isOpen && hidden.size === 0))),
    ...(earlier
      ? [{ code: earlier.reason, text: `${name} had failed before its last change: ${earlier.message}` }]
      : []),
    ...(failure || earlier ? [] : progressCauses(object, name)),
  ];
  const next = nextOf(closed, held, readable.length < required.all.length);
  return {
    object: ref,
    headline:
      (held && HOLDS[held].headline) ??
      (failure ? `failed: ${failure.reason}` : causes.length > 0 ? 'not held; still reconciling' : 'not held'),
    state: failure ? 'failed' : held ? 'held' : causes.length > 0 ? 'underWay' : 'free',
    causes: [...(causes.length > 0 ? causes : [unexplained(name, held)]), ...unknownAnnotationCauses(object)],
    ...(next && { next }),
    actions: possibleActions(fluxActions(object, ref, closed, gates, isManual), now),
    unread: unreadTexts(unread),
  };
}

function unknownAnnotationCauses(object: FluxObject): Cause[] {
  const unknown = unknownAnnotations(object);
  if (unknown.length === 0) return [];
  return [{ code: 'UnknownAnnotation', text: `Unknown annotations have no effect: ${firstFew(unknown, 3)}` }];
}

function unexplained(name: string, held: Hold | undefined): Cause {
  if (held === 'fetching') return { code: 'Fetching', text: `${name} is ${HOLDS.fetching.headline}` };
  return { code: 'Fine', text: `Nothing holds ${name}` };
}

/** The reference of an object of a kind that is not in the table of kinds. */
function plainRef({ apiVersion, kind, metadata }: FluxObject): ObjectRef {
  const { namespace, name } = identityOf({ metadata });
  return { group: groupOf(apiVersion), kind, resource: `${kind.toLowerCase()}s`, namespace, name };
}

/** Of changes that take seconds, unless a part of the installation does not work. */
const SOON = 'within seconds. If it is not, the command doctor finds the cause';

interface HoldRow {
  headline: string;
  /** The next change, whatever the Gates do; absent if their openings decide. */
  next?: string;
  code?: string;
  /** The cause, with `code`. `closed`: the text about the closed Gates. */
  cause?(name: string, closed: string): string;
}

/** How an object is held, or why it runs behind a closed Gate. */
const HOLDS = {
  held: {
    headline: 'held by a closed Gate',
    code: GATE_CLOSED,
    cause: (name, closed) => `${name} is held: ${closed}`,
  },
  bypassed: {
    headline: 'runs although a Gate is closed',
    code: 'Bypassed',
    cause: (name, closed) => `${name} runs although ${closed}: it was bypassed`,
  },
  deploymentBypasses: {
    headline: 'runs although a Gate is closed',
    next: 'it is suspended again once the deployment is applied everywhere, or after an hour',
    code: 'Bypassed',
    cause: (name, closed) => `${name} runs although ${closed}: a deployment bypasses it`,
  },
  notSuspended: {
    headline: 'runs although a Gate is closed',
    next: `it is suspended ${SOON}`,
    code: 'NotSuspended',
    cause: (name, closed) => `${name} is not suspended yet although ${closed}`,
  },
  notResumed: {
    headline: 'its Gates are open; not resumed yet',
    next: `it is resumed ${SOON}`,
    code: 'NotResumed',
    cause: (name) => `${name} is still suspended although its Gates are open`,
  },
  opening: { headline: 'its Gates are open; waiting for the Kustomization that applies it' },
  fetching: { headline: 'suspended until its source has fetched the version' },
  byGate: { headline: 'held by a Gate' },
  manually: { headline: 'suspended manually' },
  deleting: {
    headline: 'is being deleted',
    code: 'Deleting',
    cause: (name) => `${name} is being deleted: Gates neither suspend nor resume it now`,
  },
} as const satisfies Record<string, HoldRow>;

type Hold = keyof typeof HOLDS;

/** `isOpen`: whether all its Gates are open, as far as they may be read. */
function holdOf(object: FluxObject, closed: ClosedGates | undefined, isOpen: boolean): Hold | undefined {
  const state = currentState(object, closureKeys(closed));
  if (object.metadata.deletionTimestamp) return 'deleting';
  if (object.spec?.suspend !== true) {
    if (!closed) return undefined;
    return state === 'bypassed' ? state : state === 'bypassing' ? 'deploymentBypasses' : 'notSuspended';
  }
  if (closed) return 'held';
  const reason = suspensionReason(object);
  if (reason === undefined) return 'manually';
  if (reason === 'applier') return 'opening';
  if (reason === 'artifact') return 'fetching';
  return isOpen ? 'notResumed' : 'byGate';
}

/** `hasUnread`: whether a Gate of the object could not be read. */
function nextOf(closed: ClosedGates | undefined, held: Hold | undefined, hasUnread: boolean): Next | undefined {
  const { next }: Partial<HoldRow> = held ? HOLDS[held] : {};
  if (next) return { text: next };
  if (!closed || held === 'deleting') return undefined;
  const openings = closed.gates.flatMap(({ until }) => until ?? []);
  return !closed.limit && openings.length === closed.gates.length
    ? {
        text: `${hasUnread ? 'the Gates that could be read' : 'its Gates'} open automatically`,
        at: formatTime(Math.max(...openings)),
      }
    : { text: 'no automatic change. It stays as it is until its Gates open' };
}

function holdCauses(name: string, closed: ClosedGates | undefined, held: Hold | undefined): Cause[] {
  const { code = '', cause }: Partial<HoldRow> = held ? HOLDS[held] : {};
  return causeIf(code, cause?.(name, closed ? closedText(closed) : ''));
}

/** The cause for a manual suspension, with the field manager, which alone shows the writer: a command or a Git sync. */
function manualSuspensionCause({ metadata }: FluxObject, name: string): Cause {
  const entry = (metadata.managedFields ?? []).find(({ fieldsV1 }) => {
    const spec = fieldsV1?.['f:spec'];
    return typeof spec === 'object' && spec !== null && 'f:suspend' in spec;
  });
  const by = entry?.manager
    ? `, written by the field manager '${entry.manager}'${entry.time ? ` at ${entry.time}` : ''}`
    : '';
  return {
    code: 'SuspendedManually',
    text: `${name} was suspended manually, not by a Gate: spec.suspend is true${by}`,
  };
}

/**
 * The object's deployments that its FluxBinding does not report yet. It reports a deployment at once after Flux has
 * applied it, and otherwise minutes later.
 */
function unreportedDeployments({ metadata }: FluxObject, binding: FluxBinding | undefined): DeploymentRef[] {
  if (!binding) return [];
  const reported = parseDeployments(binding.status?.deployed);
  return parseDeployments(metadata.annotations?.[DEPLOYED]).filter((carried) => {
    const known = reported.find(({ rollout }) => rollout === carried.rollout);
    return !known || (known.uid === carried.uid && known.id < carried.id);
  });
}

function notAppliedCause(name: string, deployments: readonly DeploymentRef[]): Cause {
  const versions = deployments.map(deploymentText).join(', ');
  return { code: 'Progressing', text: `${name} is waiting for Flux to apply ${versions}` };
}

/**
 * The causes in the object's FluxBinding.
 * @param hasGateCauses whether other causes are about closed Gates, or the FluxBinding's message about them is outdated
 */
function bindingCauses(name: string, binding: FluxBinding | undefined, hasGateCauses: boolean): Cause[] {
  if (!binding) return [];
  const { awaits, conditions } = binding.status ?? {};
  const ready = findCondition(conditions, READY);
  if (awaits) return [{ code: 'Resuming', text: `${name} is suspended ${applierWaitText(awaits)}` }];
  const isCovered = ready?.status === 'True' || (hasGateCauses && ready?.reason === GATE_CLOSED);
  if (!ready || isCovered) return [];
  const text = ready.reason === 'InvalidAnnotations' ? `${name}: ${ready.message}` : `${name} is ${ready.message}`;
  return [{ code: ready.reason, text }];
}

/** The cause if Flux is reconciling, or waits for another object. */
function progressCauses({ status, spec }: FluxObject, name: string): Cause[] {
  const ready = findCondition(status?.conditions, READY);
  if (spec?.suspend === true || !ready || ready.status === 'True') return [];
  return [{ code: ready.reason, text: `Flux reports for ${name}: ${ready.message}` }];
}
