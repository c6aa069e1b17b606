/**
 * Suspension by closed Gates, and resumption by open ones: in each write the webhook decides, from live Gates, which
 * state is stored and whether the object is suspended. If no client writes, a decorator does: see stateTriggers.ts.
 * `gate.fluxcd.io/suspended` stores the previous `spec.suspend`, and the opening restores exactly that
 * (docs/reference/writes.md).
 */
import { GATE_STATE, SUSPENDED } from '../../api/annotations.ts';
import type { FluxObject } from '../../api/flux.ts';
import type { EpochMs } from '../../api/kubernetes.ts';
import { annotateAll } from '../kube/annotate.ts';
import { isApplyBy } from '../kube/writers.ts';
import type { ObjectGates } from '../objectGates/objectGates.ts';
import {
  awaitsArtifact,
  currentState,
  formatState,
  isSuspendedByUs,
  type ObjectState,
  storedState,
} from '../objectGates/objectState.ts';
import { applierOf, applierState, objectKeyOf, waitEnds } from './applier.ts';

/** The value of `spec.suspend` before our suspension, as the annotation SUSPENDED stores it. */
type PreviousSuspend = 'true' | 'false' | 'unset';

interface SuspensionWrite {
  /** The object as decided so far: behind a closed Gate with the stored spec, but for `suspend: true`. */
  object: FluxObject;
  /** The object as the writer sent it. */
  sent: FluxObject;
  old: FluxObject | undefined;
  /** The Gates that `object` requires. */
  gates: Pick<ObjectGates, 'all' | 'heldBy'>;
  fieldManager: string | undefined;
  /** Whether the writer bypasses the closed Gates. */
  writerBypasses: boolean;
  /** Whether the newest deployment of one of the object's Rollouts bypasses the closed Gates: see bypassGrant.ts. */
  deploymentBypasses: boolean;
  /** The Kustomization that applies the object, if it exists; read only if `endsOpening`. */
  applier?: FluxObject;
  now: EpochMs;
}

/** The suspension of an object, as `settleSuspension` stores it. */
interface Suspension {
  /** `spec.suspend`. */
  suspend: boolean | undefined;
  /** The annotation SUSPENDED: present while we suspend the object, or a deployment bypasses its Gates. */
  suspendBefore?: PreviousSuspend;
  /** The annotation GATE_STATE; absent if the object requires no Gate. */
  state?: ObjectState;
}

/** The object with its suspension decided. */
export function settleSuspension(write: SuspensionWrite): FluxObject {
  const stored = { suspendBefore: storedPrevious(write), state: storedState(write.old) };
  const { suspend, suspendBefore, state } = decideSuspension({ ...write, ...stored });
  return annotateAll(setSuspend(write.object, suspend), {
    [SUSPENDED]: suspendBefore,
    [GATE_STATE]: state && formatState(state),
  });
}

/** A write, with what the annotations have stored: `suspendBefore` is present if we have suspended the object. */
type WriteWithStored = SuspensionWrite & Pick<Suspension, 'suspendBefore' | 'state'>;

/** The suspension of the object after a write. All cases are in test/core/suspension/states.test.ts. */
function decideSuspension(write: WriteWithStored): Suspension {
  const { object, old, gates, suspendBefore, state, now } = write;
  const suspendAsWritten = object.spec?.suspend;
  // Suspending an object during its deletion would leave its workloads behind. Only the stored time counts: a write may
  // leave it out, and the API server keeps it.
  if (old?.metadata.deletionTimestamp && !isSuspendedByUs(old))
    return { suspend: suspendAsWritten, suspendBefore: parsePrevious(old), state };
  if (gates.heldBy.length > 0) return behindClosedGate(write);

  const open: ObjectState | undefined = gates.all.length > 0 ? { is: 'open' } : undefined;
  const opening = state?.is === 'opening' ? state : { is: 'opening' as const, since: now };
  const wasHeld = state?.is === 'opening' || (state?.is === 'closed' && suspendBefore !== undefined);
  // Without an applier the state is `open`: if `opening` were stored, the decorator would request `open` every minute.
  if (awaitsArtifact(object)) return untilFetched(write, wasHeld && applierOf(object) ? opening : open);
  if (suspendBefore === undefined) return { suspend: suspendAsWritten, state: open };
  // Suspended only for its artifact: no Gate held its spec, so no apply has to come first.
  const needsNoApply = awaitsArtifact(old) && !wasHeld;
  return !needsNoApply && waitsForApplier(write, opening.since)
    ? { suspend: suspendAsWritten, suspendBefore, state: opening }
    : { suspend: resumedValue(write, suspendBefore), state: open };
}

/** Suspended until the source has fetched the version. */
function untilFetched(write: WriteWithStored, state: ObjectState | undefined): Suspension {
  const { object, sent, old, suspendBefore } = write;
  if (suspendBefore === undefined) return { suspend: true, suspendBefore: previousFrom(object), state };
  // A value that a user sets meanwhile applies afterwards.
  const isSetByWriter = old !== undefined && changesSuspend(write);
  return { suspend: true, suspendBefore: isSetByWriter ? previousFrom(sent) : suspendBefore, state };
}

/** Whether the write ends the wait for the applier, as the decorator's write does. */
export function endsOpening(sent: FluxObject, old: FluxObject | undefined): boolean {
  return storedState(old)?.is === 'opening' && storedState(sent)?.is === 'open';
}

/**
 * The state of an object behind closed Gates: running while a user or a deployment bypasses them, otherwise suspended.
 */
function behindClosedGate(write: WriteWithStored): Suspension {
  const { object, sent, old, suspendBefore, state, writerBypasses, deploymentBypasses } = write;
  const { heldBy } = write.gates;
  const suspendAsWritten = object.spec?.suspend;
  const wantsSuspension = sent.spec?.suspend === true;
  if (writerBypasses && changesSuspend(write) && !wantsSuspension)
    return { suspend: suspendAsWritten, state: { is: 'bypassed', gates: heldBy } };
  if (currentState(old, heldBy) === 'bypassed' && !(writerBypasses && wantsSuspension))
    return { suspend: suspendAsWritten, state };
  const before = suspendBefore ?? previousFrom(object);
  if (!deploymentBypasses) return { suspend: true, suspendBefore: before, state: { is: 'closed', gates: heldBy } };
  // The object runs for the deployment. If a user suspends it meanwhile, it stays suspended.
  return {
    suspend: awaitsArtifact(object) || suspendValue(before),
    suspendBefore: before,
    state: { is: 'bypassing', gates: heldBy },
  };
}

/** Whether the object stays suspended until its applier's next apply, in which spec and resumption come together. */
function waitsForApplier(write: SuspensionWrite, since: EpochMs): boolean {
  const { object, sent, old, fieldManager, applier, now } = write;
  if (!old || isApplyBy(fieldManager, sent) || changesSuspend(write) || !applierOf(object)) return false;
  if (!endsOpening(sent, old)) return true;
  const end = waitEnds(applierState(applier, objectKeyOf(object), since, now), since);
  return end === undefined || now < end;
}

/** The value of spec.suspend of an object that is resumed: the writer's if the write sets it, or else the previous. */
function resumedValue(write: SuspensionWrite, suspendBefore: PreviousSuspend): boolean | undefined {
  const { sent, old, fieldManager } = write;
  const isByApply = isApplyBy(fieldManager, sent, ['spec', 'suspend']);
  const isByUser = old && !isApplyBy(fieldManager, sent) && changesSuspend(write);
  return isByApply || isByUser ? sent.spec?.suspend : suspendValue(suspendBefore);
}

function changesSuspend({ sent, old }: SuspensionWrite): boolean {
  return sent.spec?.suspend !== old?.spec?.suspend;
}

/**
 * The stored previous value; on CREATE (a backup, say) it is in the new object. undefined if the object runs: for a
 * bypassing deployment, or because a client has resumed it without the webhook.
 */
function storedPrevious({ object, old = object }: SuspensionWrite): PreviousSuspend | undefined {
  return old.spec?.suspend === true ? parsePrevious(old) : undefined;
}

function previousFrom(object: FluxObject): PreviousSuspend {
  const suspend = object.spec?.suspend;
  return typeof suspend === 'boolean' ? `${suspend}` : 'unset';
}

function parsePrevious(object: FluxObject): PreviousSuspend | undefined {
  const text = object.metadata.annotations?.[SUSPENDED];
  return text === 'true' || text === 'false' || text === 'unset' ? text : undefined;
}

function suspendValue(value: PreviousSuspend): boolean | undefined {
  return value === 'unset' ? undefined : value === 'true';
}

function setSuspend(object: FluxObject, suspend: boolean | undefined): FluxObject {
  if (object.spec?.suspend === suspend) return object;
  const { suspend: _, ...spec } = object.spec ?? {};
  return { ...object, spec: suspend === undefined ? spec : { ...spec, suspend } };
}
