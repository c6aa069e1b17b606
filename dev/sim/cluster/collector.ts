/** The garbage collector: deletes objects whose owners are all gone, some time after the last owner's deletion. */
import type { UserInfo } from '../../../api/admission.ts';
import { resourcePath } from '../../client/resources.ts';
import type { AnyObject } from '../../client/send.ts';
import type { ApiServer } from '../apiServer/apiServer.ts';
import { kindAt } from '../apiServer/kinds.ts';
import type { VirtualTime } from './virtualTime.ts';

const DELAY_MS = 1500;
const RETRY_MS = 10_000;

export function startCollector(time: VirtualTime, server: ApiServer, user: UserInfo): void {
  const { storage } = server;
  const isOrphan = ({ metadata }: AnyObject) =>
    (metadata.ownerReferences ?? []).length > 0 &&
    metadata.ownerReferences!.every(({ uid }) => !storage.all().some(([, each]) => each.metadata.uid === uid));

  async function collect(): Promise<void> {
    const orphans = storage.all().filter(([, object]) => !object.metadata.deletionTimestamp && isOrphan(object));
    for (const [resource, { metadata }] of orphans) {
      const [group = '', name = ''] = resource.split('/');
      const { version, namespaced } = kindAt(group, name)!;
      const apiVersion = group ? `${group}/${version}` : version;
      const path = resourcePath({ apiVersion, name, namespaced }, metadata);
      const body = JSON.stringify({ preconditions: { uid: metadata.uid } });
      const { code } = await server.handle(user, { method: 'DELETE', path, headers: {}, body });
      if (code >= 300 && code !== 404) time.after(RETRY_MS, collect);
    }
  }

  storage.follow(({ type, object }) => {
    const hasOwner = (object.metadata.ownerReferences ?? []).length > 0;
    if (type === 'DELETED' || (type === 'ADDED' && hasOwner)) time.after(DELAY_MS, collect);
  });
}
