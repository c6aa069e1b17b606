/**
 * A closed Gate suspends its object; `gate.fluxcd.io/suspended` stores the previous `spec.suspend`, and the opening
 * restores exactly that (docs/reference/writes.md, W15, W23 and W24).
 */
import { AWAITS_ARTIFACT, GATE_STATE, SUSPENDED } from '../../api/annotations.ts';
import type { FluxObject } from '../../api/flux.ts';
import type { EpochMs } from '../../api/kubernetes.ts';
import { annotate } from '../kube/annotate.ts';
import { isApplyBy } from '../kube/writers.ts';
import { applierOf, applierState, objectKeyOf, waitEnds } from './applier.ts';
import { formatState, isBypassed, parseState, type StateAnnotation } from './stateAnnotation.ts';

type PreviousSuspend = 'true' | 'false' | 'unset';

interface SuspensionWrite {
  /** The object as decided so far. */
  object: FluxObject;
  /** The object as the writer sent it. */
  sent: FluxObject;
  oldObject: FluxObject | undefined;
  /** Whether the stored object was behind a closed Gate already: its spec is what counts. */
  isHeld: boolean;
  /**
   * `all`: the Gates that `object` requires. `names` and `closings`: those that keep it from running, without and with
   * their closings (see `closingKey`).
   */
  gates: { all: readonly unknown[]; names: string[]; closings: string[] };
  fieldManager: string | undefined;
  /** Whether the writer bypasses the closed Gates. */
  bypass: boolean;
  /** Whether a deployment of one of the object's Rollouts bypasses the closed Gates: see bypassGrant.ts. */
  bypassing: boolean;
  /** The Kustomization that applies the object, if it exists; read only if `asksToResume`. */
  applier?: FluxObject | undefined;
  now: EpochMs;
}

/** The object with the right `spec.suspend`, stored previous value and state. */
export function settleSuspension(call: SuspensionWrite): FluxObject {
  const write = withoutOwnSuspension(call);
  const previous = storedPrevious(write);
  const state = parseState(write.oldObject?.metadata.annotations?.[GATE_STATE]);
  // Suspending an object during its deletion would leave its workloads behind.
  if (write.object.metadata.deletionTimestamp && previous === undefined)
    return withRecords(write.object, undefined, state);
  if (write.gates.names.length > 0) return behindClosedGates(write, previous, state);
  const open: StateAnnotation | undefined = write.gates.all.length > 0 ? { is: 'open' } : undefined;
  if (isAwaiting(write.object)) return untilFetched(write, previous, state, open);
  if (previous === undefined) return withRecords(write.object, undefined, open);
  // The object was suspended only for its artifact: no Gate held its spec, so no apply has to come first.
  if (isAwaiting(write.oldObject) && state?.is !== 'opening' && state?.is !== 'closed') {
    return withRecords(setSuspend(write.object, suspendValue(previous)), undefined, open);
  }
  // The object was running for a bypassing deployment when its Gates opened: there is nothing to resume.
  if (state?.is === 'passing') return withRecords(write.object, undefined, open);
  const since = state?.is === 'opening' ? state.since : write.now;
  const suspend = resumed(write, previous, since);
  if (suspend === 'wait') return withRecords(write.object, previous, { is: 'opening', since });
  return withRecords(setSuspend(write.object, suspend), undefined, open);
}

/**
 * Suspends the object until its source has fetched the artifact. Afterwards the object gets the value that a user has
 * set last for spec.suspend.
 * If a Gate was closed before, the object also waits for its applier's apply.
 */
function untilFetched(
  write: SuspensionWrite,
  previous: PreviousSuspend | undefined,
  state: StateAnnotation | undefined,
  open: StateAnnotation | undefined,
): FluxObject {
  const isOpening = state?.is === 'closed' && previous !== undefined && applierOf(write.object) !== undefined;
  const opening: StateAnnotation | undefined = isOpening ? { is: 'opening', since: write.now } : open;
  const requested = write.oldObject && wasTouched(write) ? previousFrom(write.sent) : previousInWrite(write.object);
  const wanted = previous === undefined ? previousAtFirstSuspension(write) : (requested ?? previous);
  return withRecords(setSuspend(write.object, true), wanted, state?.is === 'opening' ? state : opening);
}

/**
 * The write without the suspension of an earlier call.
 * Several of our webhooks may be called for one write, and Gates open or close between two of the calls.
 * A suspension by an earlier call is not the writer's, and is not stored yet.
 */
function withoutOwnSuspension(write: SuspensionWrite): SuspensionWrite {
  const { object, sent, oldObject } = write;
  if (!oldObject || parsePrevious(oldObject) !== undefined) return write;
  // With open Gates the text may come from a manifest exported during an earlier freeze, and the
  // suspension from a user.
  if (oldObject.spec?.suspend === true && write.gates.names.length === 0) return write;
  const before = (each: FluxObject) => {
    const own = previousInWrite(each);
    return own === undefined ? each : setSuspend(each, suspendValue(own));
  };
  return { ...write, object: before(object), sent: before(sent) };
}

/** Whether the object's new version is still being fetched: see core/managedField/atomicUpdate.ts. */
function isAwaiting(object: FluxObject | undefined): boolean {
  return object?.metadata.annotations?.[AWAITS_ARTIFACT] !== undefined;
}

/** Whether the write ends the wait for the applier, as the decorator's write does. */
export function asksToResume(sent: FluxObject, oldObject: FluxObject | undefined): boolean {
  const stateOf = (object: FluxObject | undefined) => parseState(object?.metadata.annotations?.[GATE_STATE])?.is;
  return stateOf(oldObject) === 'opening' && stateOf(sent) === 'open';
}

function behindClosedGates(
  write: SuspensionWrite,
  previous: PreviousSuspend | undefined,
  state: StateAnnotation | undefined,
): FluxObject {
  const resumesItself = write.bypass && wasTouched(write) && write.sent.spec?.suspend !== true;
  const staysResumed = isBypassed(state, write.gates.closings) && !(write.bypass && write.sent.spec?.suspend === true);
  if (resumesItself) return withRecords(write.object, undefined, { is: 'bypassed', gates: write.gates.closings });
  if (staysResumed && state) return withRecords(write.object, undefined, state);
  if (write.bypassing) return runForBypass(write, previous ?? previousAtFirstSuspension(write), state);
  return withRecords(setSuspend(write.object, true), previous ?? previousAtFirstSuspension(write), {
    is: 'closed',
    gates: write.gates.names,
  });
}

/**
 * The object running; the stored previous value stays, because the object is held again once the deployment is applied.
 * If a user suspends it meanwhile, it stays suspended.
 */
function runForBypass(
  write: SuspensionWrite,
  previous: PreviousSuspend,
  state: StateAnnotation | undefined,
): FluxObject {
  const isSuspended = write.oldObject?.spec?.suspend !== true && write.object.spec?.suspend === true;
  // If the webhook is called twice for one write, the first call has suspended the object until
  // its artifact is fetched.
  const isOurs = isAwaiting(write.object) && !isAwaiting(write.oldObject) && isAwaiting(write.sent);
  const isStopped = state?.is === 'passing' && isSuspended && !isOurs;
  const own = isStopped ? 'true' : previous;
  const suspend = isAwaiting(write.object) || suspendValue(own);
  return withRecords(setSuspend(write.object, suspend), own, { is: 'passing', gates: write.gates.closings });
}

/** The value of suspend now that the Gates are open; `wait` until the applier's next apply. */
function resumed(write: SuspensionWrite, previous: PreviousSuspend, since: EpochMs): boolean | undefined | 'wait' {
  // The applier's apply: the new spec and the resumption arrive together.
  if (isApplyBy(write.fieldManager, write.sent, ['spec', 'suspend'])) return write.sent.spec?.suspend;
  if (isApplyBy(write.fieldManager, write.sent) || !write.oldObject) return suspendValue(previous);
  if (wasTouched(write)) return write.sent.spec?.suspend;
  if (!applierOf(write.object)) return suspendValue(previous);
  if (!asksToResume(write.sent, write.oldObject)) return 'wait';
  const end = waitEnds(applierState(write.applier, objectKeyOf(write.object), since, write.now), since);
  return end !== undefined && end <= write.now ? suspendValue(previous) : 'wait';
}

function wasTouched({ sent, oldObject }: SuspensionWrite): boolean {
  return sent.spec?.suspend !== oldObject?.spec?.suspend;
}

/**
 * The previous value that the webhook has stored; on CREATE (a backup restored) the object's own, if it is suspended.
 */
function storedPrevious({ object, oldObject }: SuspensionWrite): PreviousSuspend | undefined {
  return oldObject ? parsePrevious(oldObject) : previousInWrite(object);
}

/** The previous value of spec.suspend to store, at the first suspension. */
function previousAtFirstSuspension({ object, oldObject, isHeld }: SuspensionWrite): PreviousSuspend {
  return previousFrom(isHeld ? oldObject : object);
}

function previousFrom(object: FluxObject | undefined): PreviousSuspend {
  const suspend = object?.spec?.suspend;
  return suspend === true ? 'true' : suspend === false ? 'false' : 'unset';
}

function previousInWrite(object: FluxObject): PreviousSuspend | undefined {
  return object.spec?.suspend === true ? parsePrevious(object) : undefined;
}

function parsePrevious(object: FluxObject): PreviousSuspend | undefined {
  const text = object.metadata.annotations?.[SUSPENDED];
  return text === 'true' || text === 'false' || text === 'unset' ? text : undefined;
}

function suspendValue(previous: PreviousSuspend): boolean | undefined {
  return previous === 'unset' ? undefined : previous === 'true';
}

function setSuspend(object: FluxObject, suspend: boolean | undefined): FluxObject {
  if (object.spec?.suspend === suspend) return object;
  const { suspend: _, ...spec } = object.spec ?? {};
  return { ...object, spec: suspend === undefined ? spec : { ...spec, suspend } };
}

function withRecords(
  object: FluxObject,
  previous: PreviousSuspend | undefined,
  state: StateAnnotation | undefined,
): FluxObject {
  return annotate(annotate(object, SUSPENDED, previous), GATE_STATE, state && formatState(state));
}
