/** Objects that an older version stored, written to etcd with their uids, generations, managers and status. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { KINDS, type KindName } from '../../../api/kinds.ts';
import type { LocalCluster } from '../../../dev/local/cluster.ts';
import { type AnyObject, type ClusterView, waitFor } from '../../cluster/support/cluster.ts';

const readObjects = (file: string): AnyObject[] =>
  readFileSync(join(import.meta.dirname, file), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

/**
 * What commit 65e3110 left, driven by Metacontroller 4.17: five Rollouts with their histories, and a freeze.
 * `upgrade.test.ts` has their scenario.
 */
export const LEFT = readObjects('left-by-65e3110.jsonl');

/**
 * The objects of commit 2482c6c9: a Gate and a RolloutGate of namespace `board`, each with one of two approvals of
 * 1.0.0, and the Rollouts that wait for them.
 */
const APPROVED_ONCE = readObjects('left-by-2482c6c9.jsonl');

export const leftBehind = (kind: KindName, name: string): AnyObject =>
  LEFT.find((object) => object.kind === kind && object.metadata.name === name)!;

/** Writes them to the cluster's etcd directly. Resolves when the API server returns them. */
export async function restore({ etcdUrl }: LocalCluster, { admin }: ClusterView): Promise<void> {
  const all = [...LEFT, ...APPROVED_ONCE];
  for (const namespace of new Set(all.map(({ metadata }) => metadata.namespace!))) {
    const metadata = { name: namespace, labels: { team: namespace } };
    await admin.create({ apiVersion: 'v1', kind: 'Namespace', metadata });
  }
  // Owners first: the garbage collector deletes objects without owner.
  for (const object of all.toSorted((a, b) => ownersOf(a) - ownersOf(b))) {
    const { group, resource } = KINDS[object.kind as KindName];
    const { namespace, name } = object.metadata;
    const key = `/registry/${group}/${resource}/${namespace}/${name}`;
    const body = JSON.stringify({ key: base64(key), value: base64(JSON.stringify(object)) });
    const { ok, status } = await fetch(`${etcdUrl}/v3/kv/put`, { method: 'POST', body });
    if (!ok) throw new Error(`etcd answers ${status} to ${key}`);
  }
  await waitFor(async () => {
    for (const object of all) {
      const { metadata } = await admin.get(object as never);
      if (metadata.uid !== object.metadata.uid)
        throw new Error(`${object.kind} ${metadata.name} has uid ${metadata.uid}`);
    }
    return true;
  }, 'the API server to know all that was left');
}

const ownersOf = ({ metadata }: AnyObject) => metadata.ownerReferences?.length ?? 0;
const base64 = (text: string) => Buffer.from(text).toString('base64');
