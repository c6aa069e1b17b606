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
  type SuspensionReason,
  storedState,
  suspensionReason,
} from '../objectGates/objectState.ts';
import { applierOf, applierState, objectKeyOf, waitEnds } from './applier.ts';

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

/**
 * The object with its suspension decided. While there is a reason, it is suspended, and SUSPENDED has the value of
 * `spec.suspend` that it gets back.
 */
export function settleSuspension(write: SuspensionWrite): FluxObject {
  const { object, old } = write;
  // Suspending an object during its deletion would leave its workloads behind. Only the stored time counts: a write may
  // leave it out, and the API server keeps it.
  if (old?.metadata.deletionTimestamp && !isSuspendedByUs(old)) {
    const { [SUSPENDED]: suspended, [GATE_STATE]: state } = old.metadata.annotations ?? {};
    return annotateAll(object, { [SUSPENDED]: suspended, [GATE_STATE]: state });
  }
  const { state, reason } = decideSuspension(write);
  const suspend = ownSuspend(write);
  return annotateAll(setSuspend(object, reason ? true : suspend), {
    [SUSPENDED]: reason && `${suspend ?? UNSET}`,
    [GATE_STATE]: state && formatState(state),
  });
}

/**
 * The state of the object after a write, and why it is suspended, by the first of these rows that applies (all cases:
 * test/core/suspension/states.test.ts). An object that requires no Gate has none instead of `open`.
 *
 * | its Gates | and | state | suspended |
 * |---|---|---|---|
 * | closed | a user lets it run by a bypass, now or earlier | `bypassed` | no |
 * | closed | a deployment bypasses them | `bypassing` | while its source is fetching |
 * | closed | | `closed` | yes |
 * | open | it waits for its applier | `opening` | yes |
 * | open | | `open` | while its source is fetching |
 */
function decideSuspension(write: SuspensionWrite): { state?: ObjectState; reason?: SuspensionReason | undefined } {
  const { object, old, gates, deploymentBypasses } = write;
  const { heldBy } = gates;
  const reason = awaitsArtifact(object) ? 'artifact' : undefined;
  if (heldBy.length > 0) {
    if (isResumedByBypass(write)) return { state: { is: 'bypassed', gates: heldBy } };
    if (staysBypassed(write)) return { state: storedState(old)! };
    if (deploymentBypasses) return { state: { is: 'bypassing', gates: heldBy }, reason };
    return { state: { is: 'closed', gates: heldBy }, reason: 'gates' };
  }
  const since = openingSince(write);
  if (since !== undefined) return { state: { is: 'opening', since }, reason: 'applier' };
  return { ...(gates.all.length > 0 && { state: { is: 'open' } }), reason };
}

/** Whether a user who bypasses the closed Gates lets the object run. */
function isResumedByBypass(write: SuspensionWrite): boolean {
  return write.writerBypasses && changesSuspend(write) && write.sent.spec?.suspend !== true;
}

/** Whether an earlier bypass by a user still covers the closed Gates. */
function staysBypassed({ sent, old, gates, writerBypasses }: SuspensionWrite): boolean {
  return currentState(old, gates.heldBy) === 'bypassed' && !(writerBypasses && sent.spec?.suspend === true);
}

/**
 * The start of the opening, while the object stays suspended until its applier's next apply, in which spec and
 * resumption come together; undefined if it waits for no apply.
 */
function openingSince(write: SuspensionWrite): EpochMs | undefined {
  const { object, sent, old, fieldManager, applier, now } = write;
  // No Gate held the spec of an object that is suspended only for its artifact.
  const reason = old && suspensionReason(old);
  if (!old || !reason || reason === 'artifact') return undefined;
  if (isApplyBy(fieldManager, sent) || changesSuspend(write) || !applierOf(object)) return undefined;
  const stored = storedState(old);
  const since = stored?.is === 'opening' ? stored.since : now;
  if (!endsOpening(sent, old)) return since;
  const end = waitEnds(applierState(applier, objectKeyOf(object), since, now), since);
  return end === undefined || now < end ? since : undefined;
}

/** Whether the write ends the wait for the applier, as the decorator's write does. */
export function endsOpening(sent: FluxObject, old: FluxObject | undefined): boolean {
  return storedState(old)?.is === 'opening' && storedState(sent)?.is === 'open';
}

/** In SUSPENDED: the object had no `spec.suspend`. */
const UNSET = 'unset';

/**
 * `spec.suspend` without our suspension: the writer's value if the write sets it, otherwise the stored one. A new
 * object that we had suspended (from a backup, say) has both annotation and value itself.
 */
function ownSuspend(write: SuspensionWrite): boolean | undefined {
  const { object, sent, old = object, gates, writerBypasses } = write;
  if (!isSuspendedByUs(old)) return object.spec?.suspend;
  // Behind a closed Gate only a bypass sets it.
  if ((gates.heldBy.length === 0 || writerBypasses) && setsSuspend(write)) return sent.spec?.suspend;
  const stored = old.metadata.annotations?.[SUSPENDED];
  return stored === UNSET ? undefined : stored === 'true';
}

/** Whether the write sets `spec.suspend`: an apply each time, if it has the field; any other write if it changes it. */
function setsSuspend(write: SuspensionWrite): boolean {
  const { sent, fieldManager } = write;
  if (isApplyBy(fieldManager, sent)) return isApplyBy(fieldManager, sent, ['spec', 'suspend']);
  return write.old !== undefined && changesSuspend(write);
}

function changesSuspend({ sent, old }: SuspensionWrite): boolean {
  return sent.spec?.suspend !== old?.spec?.suspend;
}

function setSuspend(object: FluxObject, suspend: boolean | undefined): FluxObject {
  if (object.spec?.suspend === suspend) return object;
  const { suspend: _, ...spec } = object.spec ?? {};
  return { ...object, spec: suspend === undefined ? spec : { ...spec, suspend } };
}
