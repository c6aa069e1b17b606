/**
 * A closed Gate suspends its object; `gate.fluxcd.io/suspended` stores the previous `spec.suspend`, and the opening
 * restores exactly that (docs/reference/writes.md, W15, W23 and W24).
 */
import { AWAITS_ARTIFACT, GATE_STATE, SUSPENDED } from '../../api/annotations.ts';
import type { FluxObject } from '../../api/flux.ts';
import type { EpochMs } from '../../api/kubernetes.ts';
import { annotateAll } from '../kube/annotate.ts';
import { isApplyBy } from '../kube/writers.ts';
import { applierOf, applierState, objectKeyOf, waitEnds } from './applier.ts';
import { formatState, isBypassed, readState, type StateAnnotation } from './stateAnnotation.ts';

/** The value of `spec.suspend` before our suspension, as the annotation SUSPENDED stores it. */
type PreviousSuspend = 'true' | 'false' | 'unset';

interface SuspensionWrite {
  /** The object as decided so far. */
  object: FluxObject;
  /** The object as the writer sent it. */
  sent: FluxObject;
  oldObject: FluxObject | undefined;
  /** Whether the stored object was behind a closed Gate already: then its spec counts, not the writer's. */
  wasBehindClosedGate: boolean;
  /**
   * The Gates that `object` requires (`all`), and the closed ones: as names, and with their closures (see
   * `closureKey`).
   */
  gates: { all: readonly unknown[]; names: string[]; closures: string[] };
  fieldManager: string | undefined;
  /** Whether the writer bypasses the closed Gates. */
  isBypass: boolean;
  /** Whether the newest deployment of one of the object's Rollouts bypasses the closed Gates: see bypassGrant.ts. */
  isBypassing: boolean;
  /** The Kustomization that applies the object, if it exists; read only if `endsOpening`. */
  applier?: FluxObject | undefined;
  now: EpochMs;
}

/**
 * The object with the right `spec.suspend`, stored previous value and state. The first that is true decides:
 *
 * 1. it is being deleted, and we have not suspended it: as written;
 * 2. a Gate is closed: suspended (`closed`), or running after a bypass (`bypassed`) or for one (`bypassing`);
 * 3. its source has not fetched the version yet: suspended until then;
 * 4. we have not suspended it: as written (`open`, or no state if it requires no Gate);
 * 5. we have suspended it only until its source had the version: resumed;
 * 6. it ran for a deployment that bypassed the Gates: goes on running;
 * 7. the Kustomization that applies it has yet to do so: suspended (`opening`);
 * 8. resumed.
 *
 * Resumed means the value of `spec.suspend` from before the suspension, unless this write sets one.
 */
export function settleSuspension(call: SuspensionWrite): FluxObject {
  const write = withoutOwnSuspension(call);
  const previous = storedPrevious(write);
  const state = readState(write.oldObject);
  // Suspending an object during its deletion would leave its workloads behind.
  if (write.object.metadata.deletionTimestamp && previous === undefined)
    return withState(write.object, undefined, state);
  if (write.gates.names.length > 0) return holdOrBypass(write, previous, state);
  const open: StateAnnotation | undefined = write.gates.all.length > 0 ? { is: 'open' } : undefined;
  if (awaitsArtifact(write.object)) return suspendUntilFetched(write, previous, state, open);
  if (previous === undefined) return withState(write.object, undefined, open);
  // The object was suspended only for its artifact: no Gate held its spec, so no apply has to come first.
  if (awaitsArtifact(write.oldObject) && state?.is !== 'opening' && state?.is !== 'closed') {
    return withState(setSuspend(write.object, resumedValue(write, previous)), undefined, open);
  }
  // The object was running for a bypassing deployment when its Gates opened: there is nothing to resume.
  if (state?.is === 'bypassing') return withState(write.object, undefined, open);
  const since = state?.is === 'opening' ? state.since : write.now;
  if (waitsForApplier(write, since)) return withState(write.object, previous, { is: 'opening', since });
  return withState(setSuspend(write.object, resumedValue(write, previous)), undefined, open);
}

/**
 * Suspends the object until its source has fetched the artifact. Afterwards the object gets the value that a user has
 * set last for spec.suspend.
 * If a Gate was closed before, the object also waits for its applier's apply.
 */
function suspendUntilFetched(
  write: SuspensionWrite,
  previous: PreviousSuspend | undefined,
  state: StateAnnotation | undefined,
  open: StateAnnotation | undefined,
): FluxObject {
  const isOpening = state?.is === 'closed' && previous !== undefined && applierOf(write.object) !== undefined;
  const opening: StateAnnotation | undefined = isOpening ? { is: 'opening', since: write.now } : open;
  const requested = write.oldObject && changesSuspend(write) ? previousFrom(write.sent) : previousInWrite(write.object);
  const wanted = previous === undefined ? previousAtFirstSuspension(write) : (requested ?? previous);
  return withState(setSuspend(write.object, true), wanted, state?.is === 'opening' ? state : opening);
}

/**
 * The write without the suspension of an earlier call.
 * Several of our webhooks may be called for one write, and Gates open or close between two of the calls.
 * A suspension by an earlier call is not the writer's, and is not stored yet.
 */
function withoutOwnSuspension(write: SuspensionWrite): SuspensionWrite {
  const { object, sent, oldObject } = write;
  if (!oldObject || parsePrevious(oldObject) !== undefined) return write;
  // With open Gates the annotation may come from a manifest exported during an earlier freeze, and the suspension from
  // a user.
  if (oldObject.spec?.suspend === true && write.gates.names.length === 0) return write;
  const withoutOwn = (each: FluxObject) => {
    const own = previousInWrite(each);
    return own === undefined ? each : setSuspend(each, suspendValue(own));
  };
  return { ...write, object: withoutOwn(object), sent: withoutOwn(sent) };
}

/** Whether the source of the object is still fetching its new version: see core/managedField/atomicUpdate.ts. */
function awaitsArtifact(object: FluxObject | undefined): boolean {
  return object?.metadata.annotations?.[AWAITS_ARTIFACT] !== undefined;
}

/** Whether the write ends the wait for the applier, as the decorator's write does. */
export function endsOpening(sent: FluxObject, oldObject: FluxObject | undefined): boolean {
  return readState(oldObject)?.is === 'opening' && readState(sent)?.is === 'open';
}

/** The object behind closed Gates: running while a user or a deployment bypasses them, otherwise suspended. */
function holdOrBypass(
  write: SuspensionWrite,
  previous: PreviousSuspend | undefined,
  state: StateAnnotation | undefined,
): FluxObject {
  const { object, sent, isBypass, isBypassing, gates } = write;
  const wantsSuspension = sent.spec?.suspend === true;
  if (isBypass && changesSuspend(write) && !wantsSuspension)
    return withState(object, undefined, { is: 'bypassed', gates: gates.closures });
  if (isBypassed(state, gates.closures) && !(isBypass && wantsSuspension)) return withState(object, undefined, state);
  const stored = previous ?? previousAtFirstSuspension(write);
  if (isBypassing) return runForBypass(write, stored, state);
  return withState(setSuspend(object, true), stored, { is: 'closed', gates: gates.names });
}

/**
 * The object running for a deployment that bypasses its closed Gates. The stored previous value stays, because the
 * object is suspended again once the deployment is applied. If a user suspends it meanwhile, it stays suspended.
 */
function runForBypass(
  write: SuspensionWrite,
  previous: PreviousSuspend,
  state: StateAnnotation | undefined,
): FluxObject {
  const isSuspended = write.oldObject?.spec?.suspend !== true && write.object.spec?.suspend === true;
  // If the webhook is called twice for one write, the first call may have suspended the object until its artifact is
  // fetched.
  const isOurs = awaitsArtifact(write.object) && !awaitsArtifact(write.oldObject) && awaitsArtifact(write.sent);
  const isStopped = state?.is === 'bypassing' && isSuspended && !isOurs;
  const own = isStopped ? 'true' : previous;
  const suspend = awaitsArtifact(write.object) || suspendValue(own);
  return withState(setSuspend(write.object, suspend), own, { is: 'bypassing', gates: write.gates.closures });
}

/** Whether the object stays suspended until its applier's next apply, in which spec and resumption come together. */
function waitsForApplier(write: SuspensionWrite, since: EpochMs): boolean {
  const { object, sent, oldObject, fieldManager, applier, now } = write;
  if (!oldObject || isApplyBy(fieldManager, sent) || changesSuspend(write) || !applierOf(object)) return false;
  if (!endsOpening(sent, oldObject)) return true;
  const end = waitEnds(applierState(applier, objectKeyOf(object), since, now), since);
  return end === undefined || now < end;
}

/** The value of spec.suspend of an object that is resumed: the writer's if the write sets it, or else the previous. */
function resumedValue(write: SuspensionWrite, previous: PreviousSuspend): boolean | undefined {
  const { sent, oldObject, fieldManager } = write;
  const isByApply = isApplyBy(fieldManager, sent, ['spec', 'suspend']);
  const isByUser = oldObject && !isApplyBy(fieldManager, sent) && changesSuspend(write);
  return isByApply || isByUser ? sent.spec?.suspend : suspendValue(previous);
}

function changesSuspend({ sent, oldObject }: SuspensionWrite): boolean {
  return sent.spec?.suspend !== oldObject?.spec?.suspend;
}

/** The stored previous value. On CREATE (a backup, say) it is in the new object; undefined if that is not suspended. */
function storedPrevious({ object, oldObject }: SuspensionWrite): PreviousSuspend | undefined {
  return oldObject ? parsePrevious(oldObject) : previousInWrite(object);
}

/** The previous value to store at the first suspension. */
function previousAtFirstSuspension({ object, oldObject, wasBehindClosedGate }: SuspensionWrite): PreviousSuspend {
  return previousFrom(wasBehindClosedGate ? oldObject : object);
}

function previousFrom(object: FluxObject | undefined): PreviousSuspend {
  const suspend = object?.spec?.suspend;
  return typeof suspend === 'boolean' ? `${suspend}` : 'unset';
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

function withState(
  object: FluxObject,
  previous: PreviousSuspend | undefined,
  state: StateAnnotation | undefined,
): FluxObject {
  return annotateAll(object, { [SUSPENDED]: previous, [GATE_STATE]: state && formatState(state) });
}
