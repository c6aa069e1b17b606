/** One copy in memory of each object that several readers of a cluster read. */
import type { AnyObject } from '../../api/kubernetes.ts';
import type { ShareObject } from '../views.ts';

/**
 * The shared objects of one cluster; another cluster may have the same uid and version for another object. Sharing
 * gives a reader no rights: the reader gets only a version that the API server has just sent to this reader.
 */
export function createSharedObjects(): ShareObject {
  const known = new Map<string, WeakRef<AnyObject>>();
  const unused = new FinalizationRegistry<string>((uid) => {
    if (!known.get(uid)?.deref()) known.delete(uid);
  });
  return <T extends AnyObject>(object: T) => {
    const { uid, resourceVersion } = object.metadata;
    if (!uid || !resourceVersion) return object;
    const before = known.get(uid)?.deref();
    if (before?.metadata.resourceVersion === resourceVersion) return before as T;
    known.set(uid, new WeakRef(object));
    unused.register(object, uid);
    return object;
  };
}
