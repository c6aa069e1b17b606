/**
 * A closed gate suspends its object; `gate.fluxcd.io/suspended` stores the previous `spec.suspend`, and the opening
 * restores exactly that (docs/reference/writes.md, W15, W23 and W24).
 */
import { AWAITS_ARTIFACT, GATE_STATE, SUSPENDED } from '../../api/annotations.ts';
import type { FluxObject } from '../../api/flux.ts';
import type { EpochMs } from '../../api/kubernetes.ts';
import { annotate } from '../kube/annotate.ts';
import { isApplyBy } from '../kube/writers.ts';
import { applierOf, applierState, objectKeyOf, waitEnds } from './applier.ts';
import { formatState, isBypassed, parseState, type StateAnnotation } from './stateAnnotation.ts';

type Memory = 'true' | 'false' | 'unset';

interface SuspensionCase {
  /** As decided so far. */
  object: FluxObject;
  /** As the writer sent it. */
  sent: FluxObject;
  oldObject: FluxObject | undefined;
  /** The stored object was behind a closed gate already: its spec is what counts. */
  held: boolean;
  /**
   * `all` Gates that `object` requires; what keeps it from running, without and with the closings (see `closingKey`).
   */
  gates: { all: readonly unknown[]; names: string[]; closings: string[] };
  fieldManager: string | undefined;
  /** The writer bypasses the closed gates. */
  bypass: boolean;
  /** A deployment of one of its Rollouts bypasses the closed gates: see bypassGrant.ts. */
  bypassing: boolean;
  /** The Kustomization that applies the object, if it exists; read only if `asksToResume`. */
  applier?: FluxObject | undefined;
  now: EpochMs;
}

/** The object with suspend, the memory and the state as they must be. */
export function settleSuspension(write: SuspensionCase): FluxObject {
  const at = asWritten(write);
  const memory = memoryOf(at);
  const state = parseState(at.oldObject?.metadata.annotations?.[GATE_STATE]);
  // Suspended only now that it is being deleted, it would leave behind what it applied.
  if (at.object.metadata.deletionTimestamp && memory === undefined) return finish(at.object, undefined, state);
  if (at.gates.names.length > 0) return behindClosedGates(at, memory, state);
  const open: StateAnnotation | undefined = at.gates.all.length > 0 ? { is: 'open' } : undefined;
  if (isAwaiting(at.object)) return untilFetched(at, memory, state, open);
  if (memory === undefined) return finish(at.object, undefined, open);
  // Suspended for its artifact only: nothing of its spec was held, so no apply has to come first.
  if (isAwaiting(at.oldObject) && state?.is !== 'opening' && state?.is !== 'closed') {
    return finish(setSuspend(at.object, recall(memory)), undefined, open);
  }
  // An object that bypasses the gates when they open runs its spec already.
  if (state?.is === 'passing') return finish(at.object, undefined, open);
  const since = state?.is === 'opening' ? state.since : at.now;
  const suspend = resumed(at, memory, since);
  if (suspend === 'wait') return finish(at.object, memory, { is: 'opening', since });
  return finish(setSuspend(at.object, suspend), undefined, open);
}

/**
 * Suspended until the artifact is fetched. A value that a user sets meanwhile is what suspend will be.
 * After a closed gate the applier's apply has to come as well.
 */
function untilFetched(
  at: SuspensionCase,
  memory: Memory | undefined,
  state: StateAnnotation | undefined,
  open: StateAnnotation | undefined,
): FluxObject {
  const isOpening = state?.is === 'closed' && memory !== undefined && applierOf(at.object) !== undefined;
  const opening: StateAnnotation | undefined = isOpening ? { is: 'opening', since: at.now } : open;
  const requested = at.oldObject && wasTouched(at) ? memoryFrom(at.sent) : ownMemory(at.object);
  const wanted = memory === undefined ? remember(at) : (requested ?? memory);
  return finish(setSuspend(at.object, true), wanted, state?.is === 'opening' ? state : opening);
}

/**
 * The write without the suspension of an earlier call.
 * Several of our webhooks may be called for one write, and Gates open or close between two of the calls.
 * What an earlier call has suspended is not the writer's suspension, and not stored yet.
 */
function asWritten(at: SuspensionCase): SuspensionCase {
  const { object, sent, oldObject } = at;
  if (!oldObject || parseMemory(oldObject) !== undefined) return at;
  // With open Gates it may as well be the export of an earlier freeze, applied to what a person has suspended since.
  if (oldObject.spec?.suspend === true && at.gates.names.length === 0) return at;
  const before = (each: FluxObject) => {
    const own = ownMemory(each);
    return own === undefined ? each : setSuspend(each, recall(own));
  };
  return { ...at, object: before(object), sent: before(sent) };
}

/**
 * Whether the version that the object is to have is still being fetched: see
 * core/managedField/atomicUpdate.ts.
 */
function isAwaiting(object: FluxObject | undefined): boolean {
  return object?.metadata.annotations?.[AWAITS_ARTIFACT] !== undefined;
}

/** Whether the write says that an object which waits for its applier should wait no more, as the decorator does. */
export function asksToResume(sent: FluxObject, oldObject: FluxObject | undefined): boolean {
  const stateOf = (object: FluxObject | undefined) => parseState(object?.metadata.annotations?.[GATE_STATE])?.is;
  return stateOf(oldObject) === 'opening' && stateOf(sent) === 'open';
}

function behindClosedGates(
  at: SuspensionCase,
  memory: Memory | undefined,
  state: StateAnnotation | undefined,
): FluxObject {
  const resumesItself = at.bypass && wasTouched(at) && at.sent.spec?.suspend !== true;
  const staysResumed = isBypassed(state, at.gates.closings) && !(at.bypass && at.sent.spec?.suspend === true);
  if (resumesItself) return finish(at.object, undefined, { is: 'bypassed', gates: at.gates.closings });
  if (staysResumed && state) return finish(at.object, undefined, state);
  if (at.bypassing) return pass(at, memory ?? remember(at), state);
  return finish(setSuspend(at.object, true), memory ?? remember(at), { is: 'closed', gates: at.gates.names });
}

/**
 * The object runs, and the stored previous value stays: once the deployment is applied, the object is held again.
 * A user who suspends it meanwhile is obeyed.
 */
function pass(at: SuspensionCase, memory: Memory, state: StateAnnotation | undefined): FluxObject {
  const isSuspended = at.oldObject?.spec?.suspend !== true && at.object.spec?.suspend === true;
  // If we are called twice for one write, the first call has suspended it until its artifact is fetched.
  const isOurs = isAwaiting(at.object) && !isAwaiting(at.oldObject) && isAwaiting(at.sent);
  const isStopped = state?.is === 'passing' && isSuspended && !isOurs;
  const own = isStopped ? 'true' : memory;
  const suspend = isAwaiting(at.object) || recall(own);
  return finish(setSuspend(at.object, suspend), own, { is: 'passing', gates: at.gates.closings });
}

/** What suspend becomes now that the gates are open; `wait` while the applier's apply is still to come. */
function resumed(at: SuspensionCase, memory: Memory, since: EpochMs): boolean | undefined | 'wait' {
  // The applier's apply: the new spec and the resumption arrive together.
  if (isApplyBy(at.fieldManager, at.sent, ['spec', 'suspend'])) return at.sent.spec?.suspend;
  if (isApplyBy(at.fieldManager, at.sent) || !at.oldObject) return recall(memory);
  if (wasTouched(at)) return at.sent.spec?.suspend;
  if (!applierOf(at.object)) return recall(memory);
  if (!asksToResume(at.sent, at.oldObject)) return 'wait';
  const end = waitEnds(applierState(at.applier, objectKeyOf(at.object), since, at.now), since);
  return end !== undefined && end <= at.now ? recall(memory) : 'wait';
}

function wasTouched({ sent, oldObject }: SuspensionCase): boolean {
  return sent.spec?.suspend !== oldObject?.spec?.suspend;
}

/** Only what the webhook stored counts; on CREATE (a backup restored) the object's own, if it is suspended. */
function memoryOf({ object, oldObject }: SuspensionCase): Memory | undefined {
  return oldObject ? parseMemory(oldObject) : ownMemory(object);
}

/** The value of spec.suspend to store, at the first suspension. */
function remember({ object, oldObject, held }: SuspensionCase): Memory {
  return memoryFrom(held ? oldObject : object);
}

function memoryFrom(object: FluxObject | undefined): Memory {
  const suspend = object?.spec?.suspend;
  return suspend === true ? 'true' : suspend === false ? 'false' : 'unset';
}

function ownMemory(object: FluxObject): Memory | undefined {
  return object.spec?.suspend === true ? parseMemory(object) : undefined;
}

function parseMemory(object: FluxObject): Memory | undefined {
  const text = object.metadata.annotations?.[SUSPENDED];
  return text === 'true' || text === 'false' || text === 'unset' ? text : undefined;
}

function recall(memory: Memory): boolean | undefined {
  return memory === 'unset' ? undefined : memory === 'true';
}

function setSuspend(object: FluxObject, suspend: boolean | undefined): FluxObject {
  if (object.spec?.suspend === suspend) return object;
  const { suspend: _, ...spec } = object.spec ?? {};
  return { ...object, spec: suspend === undefined ? spec : { ...spec, suspend } };
}

function finish(object: FluxObject, memory: Memory | undefined, state: StateAnnotation | undefined): FluxObject {
  return annotate(annotate(object, SUSPENDED, memory), GATE_STATE, state && formatState(state));
}
