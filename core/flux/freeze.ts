/** DESIGN section 7: what a closed gate makes of a write. Applies are held, everything else is refused. */
import type { FluxObject } from '../../api/flux.ts';
import { governedChanges, isRemoval, labelChanges, type Path } from './changes.ts';
import { appliedServerSide, isApplyBy, reappliedClientSide } from './ownership.ts';

export interface FrozenWrite {
  object: FluxObject;
  oldObject: FluxObject;
  /** From the request's options; the manager an apply writes in the name of. */
  fieldManager: string | undefined;
  /** The garbage collector takes owner references away. */
  byCleaner: boolean;
  /** Labels by which a closed Gate selects the object; changing them would be a way out. */
  leavesSelection: boolean;
}

export type FrozenOutcome =
  /** Nothing that gates govern changes. */
  | { is: 'free' }
  /** To be stored as it was. */
  | { is: 'held'; object: FluxObject }
  /** Refused: what it would change, for the message. */
  | { is: 'refused'; paths: Path[] };

export function judgeFrozen(write: FrozenWrite): FrozenOutcome {
  const { object, oldObject, byCleaner } = write;
  const governed = governedChanges(object, oldObject).filter(
    (path) => !(byCleaner && path[1] === 'ownerReferences') && !suspends(path, object),
  );
  const labels = labelChanges(object, oldObject);
  const direct = governed.filter((path) => !isHeld(path, write));
  if (write.leavesSelection) direct.push(...labels.filter((path) => !isHeld(path, write)));
  if (direct.length > 0) return { is: 'refused', paths: direct };
  const appliedLabels = labels.filter((path) => isHeld(path, write));
  if (governed.length > 0 || appliedLabels.length > 0) return { is: 'held', object: held(object, oldObject) };
  return { is: 'free' };
}

/** What the gate does anyway; our own suspension too, when the webhook is asked a second time. */
function suspends(path: Path, object: FluxObject): boolean {
  return path.join('.') === 'spec.suspend' && object.spec?.suspend === true;
}

/**
 * The old object for all that an apply writes. managedFields too: an apply that drops a field gives up its ownership, and
 * a removal that was held would be forgotten for ever (DESIGN section 4).
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

/** A removal has no owner left to ask, so it is an apply's where the writer applies. */
function isHeld(path: Path, { object, oldObject, fieldManager }: FrozenWrite): boolean {
  if (isRemoval(path, object)) return isApplyBy(fieldManager, object) || isApplyBy(fieldManager, oldObject);
  return appliedServerSide(object, path) || reappliedClientSide(object, oldObject, path);
}
