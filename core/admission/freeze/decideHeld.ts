/** What a closed gate makes of a write: a sync from Git is held, everything else is refused (docs/reference/writes.md, W10 to W17). */
import type { FluxObject } from '../../../api/flux.ts';
import { isApplyBy, writersOf } from '../../kube/managedFields.ts';
import { FewPaths } from './changedPaths.ts';
import { type Change, governedChanges, labelChanges, type See } from './changes.ts';
import { withStoredForm } from './storedForm.ts';

export interface HeldWrite {
  object: FluxObject;
  oldObject: FluxObject;
  /** From the request's options; the manager an apply writes in the name of. */
  fieldManager: string | undefined;
  /** That is the manager of a controller which applies from Git. */
  isSync: boolean;
  /** The garbage collector takes owner references away. */
  bySystemDeleter: boolean;
  /** Labels by which a closed Gate selects the object; changing them would be a way out. */
  leavesSelection: boolean;
}

export type HeldOutcome =
  /** Nothing that gates govern changes. The object is the writer's, in the spelling of what is stored. */
  | { is: 'free'; object: FluxObject }
  /** To be stored as it was. */
  | { is: 'held'; object: FluxObject }
  /** Refused: what it would change, for the message. */
  | { is: 'refused'; paths: FewPaths };

/**
 * What would be refused is looked at again with the old spelling of what says the same (spelling.ts). It is stored so too:
 * behind a closed gate no spec changes and no generation moves.
 */
export function decideHeld(write: HeldWrite): HeldOutcome {
  const outcome = decideAsWritten(write);
  if (outcome.is !== 'refused') return outcome;
  const object = withStoredForm(write.object, write.oldObject);
  return object === write.object ? outcome : decideAsWritten({ ...write, object });
}

function decideAsWritten(write: HeldWrite): HeldOutcome {
  const { object, oldObject, fieldManager, isSync, bySystemDeleter } = write;
  const writers = writersOf(object, oldObject);
  const removes = isSync && (isApplyBy(fieldManager, object) || isApplyBy(fieldManager, oldObject));
  // Nobody owns a field that is removed, so a removal is the sync's where that applies. What kubectl repeats is nobody's wish.
  const isOfSync = ({ value, writers }: Change) => {
    if (value === undefined) return removes;
    return isSync ? writers.applied(value) : writers.repeated(value);
  };
  const direct = new FewPaths();
  let hasHeld = false;
  const check = (change: Change, isFreeOtherwise: boolean) => {
    if (isOfSync(change)) hasHeld = true;
    else if (!isFreeOtherwise) direct.add(change.path);
  };
  const seeGoverned: See = (change) => {
    const isCleaned = bySystemDeleter && change.path[1] === 'ownerReferences';
    if (!isCleaned && !suspends(change)) check(change, false);
  };
  governedChanges(object, oldObject, seeGoverned, writers);
  labelChanges(object, oldObject, (change) => check(change, !write.leavesSelection), writers);
  if (direct.count > 0) return { is: 'refused', paths: direct };
  return hasHeld ? { is: 'held', object: held(object, oldObject) } : { is: 'free', object };
}

/** What the gate does anyway; our own suspension too, when the webhook is asked a second time. */
function suspends({ path, value }: Change): boolean {
  return path.length === 2 && path[0] === 'spec' && path[1] === 'suspend' && value === true;
}

/**
 * The old object for all that an apply writes. managedFields too: an apply that drops a field gives up its ownership, and
 * a removal that was held would be forgotten forever (docs/facts.md, F3).
 */
function held(object: FluxObject, { metadata: old, spec }: FluxObject): FluxObject {
  const { labels: _l, annotations: _a, ownerReferences: _o, managedFields: _m, ...rest } = object.metadata;
  const { labels, annotations, ownerReferences, managedFields } = old;
  return {
    ...object,
    metadata: {
      ...rest,
      ...(labels && { labels }),
      ...(annotations && { annotations }),
      ...(ownerReferences && { ownerReferences }),
      ...(managedFields && { managedFields }),
    },
    ...(spec && { spec }),
  };
}
