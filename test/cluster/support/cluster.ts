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

export interface ClusterView {
  dir: string;
  admin: User;
  developer: User;
  sre: User;
  /** kustomize-controller's ServiceAccount. */
  flux: User;
  metacontroller: User;
  hooks: User;
  /** Creates a namespace. Resolves to its name. */
  newNamespace(labels?: Record<string, string>): Promise<string>;
  /** Publishes a tag as image-reflector-controller does: creates the ImagePolicy if needed, and sets its status. */
  publish(namespace: string, policy: string, tag: string, digest?: string): Promise<void>;
}

function viewOf({ dir, access }: ConnectionData): ClusterView {
  const admin = new User(access.admin);
  return {
    dir,
    admin,
    developer: new User(access.developer),
    sre: new User(access.sre),
    flux: new User(access.flux),
    metacontroller: new User(access.metacontroller),
    hooks: new User(access.hooks),
    newNamespace: async (labels) => {
      const name = `test-${randomBytes(5).toString('hex')}`;
      await admin.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } });
      return name;
    },
    publish: async (namespace, policy, tag, digest) => {
      const which = ref('imagePolicy', namespace, policy);
      if (!(await admin.find(which))) await admin.create(imagePolicy(namespace, policy));
      const latestRef = { name: `registry.example.com/${policy}`, tag, digest: digest ?? null };
      await admin.patchStatus(which, { latestRef });
    },
  };
}

/** The cluster that globalSetup started, for tests of project `cluster`. */
export const sharedCluster = (): ClusterView => viewOf(inject('cluster'));

/** A cluster that the test started with startTestCluster. */
export const viewCluster = (cluster: LocalCluster): ClusterView => viewOf(connectionData(cluster));
