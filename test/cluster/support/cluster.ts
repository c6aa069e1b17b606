/** The shared cluster for tests: users, new namespaces, and publishing releases. */
import { randomBytes } from 'node:crypto';
import { inject } from 'vitest';
import type { LocalCluster } from '../../../dev/local/cluster.ts';
import { type ConnectionData, connectionData } from './connection.ts';
import './globalSetup.ts';
import { imagePolicy, ref } from '../../../dev/actors/objects.ts';
import { User } from '../../../dev/actors/user.ts';

export * from '../../../dev/actors/objects.ts';
export type { User } from '../../../dev/actors/user.ts';
export { type Answer, type AnyObject, ApiError } from '../../../dev/client/send.ts';
export { staysTrue, waitFor } from '../../../dev/local/process/waitFor.ts';

function viewOf({ dir, access }: ConnectionData) {
  const admin = new User(access.admin);
  return {
    dir,
    admin,
    developer: new User(access.developer),
    sre: new User(access.sre),
    /** kustomize-controller's ServiceAccount. */
    flux: new User(access.flux),
    metacontroller: new User(access.metacontroller),
    hooks: new User(access.hooks),
    /** Creates a namespace. Resolves to its name. */
    newNamespace: async (labels?: Record<string, string>) => {
      const name = `test-${randomBytes(5).toString('hex')}`;
      await admin.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } });
      return name;
    },
    /** Publishes a tag as image-reflector-controller does: creates the ImagePolicy if needed, and sets its status. */
    publish: async (namespace: string, policy: string, tag: string, digest?: string) => {
      const which = ref('imagePolicy', namespace, policy);
      if (!(await admin.find(which))) await admin.create(imagePolicy(namespace, policy));
      const latestRef = { name: `registry.example.com/${policy}`, tag, digest: digest ?? null };
      await admin.patchStatus(which, { latestRef });
    },
  };
}

export type ClusterView = ReturnType<typeof viewOf>;

/** The cluster that globalSetup started, for tests of project `cluster`. */
export const sharedCluster = (): ClusterView => viewOf(inject('cluster'));

/** A cluster that the test started with startTestCluster. */
export const viewCluster = (cluster: LocalCluster): ClusterView => viewOf(connectionData(cluster));
