/** `status.blockers` as it is stored: bounded, and without anything that the CRD would refuse. */
import type { Blocker } from '../../api/types.ts';
import { LIMITS } from '../limits.ts';
import { oneLine } from '../text/oneLine.ts';
import type { LeftOut } from './statusSize.ts';

/** Characters, as in the CRD. */
const MAX_VERSION = 128;
const MAX_NAME = 253;
const MAX_NAMESPACE = 63;
const MAX_USER = 128;

export function blockerList(all: readonly Blocker[]): { blockers: Blocker[]; leftOut: LeftOut } {
  const blockers = all.slice(0, LIMITS.listedBlockers).map(stored);
  const leftOut =
    all.length > blockers.length ? [`status.blockers has ${blockers.length} of ${all.length} entries`] : [];
  return { blockers, leftOut };
}

function stored({ version, object, by, ...rest }: Blocker): Blocker {
  return {
    ...rest,
    ...(version !== undefined && { version: version.slice(0, MAX_VERSION) }),
    ...(object && {
      object: {
        kind: object.kind,
        ...(object.namespace && { namespace: object.namespace.slice(0, MAX_NAMESPACE) }),
        name: object.name.slice(0, MAX_NAME),
      },
    }),
    ...(by && { by: oneLine(by.slice(0, MAX_USER)) }),
  };
}
