/**
 * Common setup of the tests of manifests/examples/promotion: a version that is promoted through Rollouts, and its
 * approvers.
 */
import { expect } from 'vitest';
import { type AnyObject, type ClusterView, ref, staysTrue, waitFor } from '../../cluster/support/cluster.ts';
import { conditionOf } from '../../cluster/support/versions.ts';

/** The longest time that a call's live reads take here. */
const READS_MS = 3_000;

/** The Rollouts of one cluster. */
export function promotionIn({ admin, developer }: Pick<ClusterView, 'admin' | 'developer'>) {
  const get = (ns: string, name: string) => admin.get(ref('rollout', ns, name));
  const head = async (ns: string, name: string): Promise<AnyObject> => (await get(ns, name)).status?.history?.[0] ?? {};
  return {
    head,
    headIs: (ns: string, name: string, tag: string, bakeStatus: string) =>
      waitFor(async () => {
        expect(await head(ns, name)).toMatchObject({ version: { tag }, bakeStatus });
        return true;
      }, `${tag} to be ${bakeStatus} in ${ns}/${name}`),
    hasNot: (ns: string, name: string, tag: string) =>
      staysTrue(async () => (await head(ns, name)).version?.tag !== tag, `no ${tag} in ${ns}/${name}`, 1000),
    hasCondition: (ns: string, name: string, type: string, text: string) =>
      waitFor(async () => {
        const message: string = conditionOf(await get(ns, name), type)?.message ?? 'no such condition';
        if (!message.includes(text)) throw new Error(message);
        return true;
      }, `${type} of ${ns}/${name} to say: ${text}`),
    spec: (ns: string, name: string, spec: object) => developer.mergePatch(ref('rollout', ns, name), { spec }),
    /** A user of the group that the example lets approve. */
    approve: (ns: string, group: string, person: string, version: string) =>
      admin.mergePatch(
        ref('rolloutGate', ns, 'approved'),
        { metadata: { annotations: { 'rollout.kuberik.com/approve': version } } },
        { headers: { 'Impersonate-User': person, 'Impersonate-Group': group } },
      ),
    /**
     * Expects that a version succeeds there before any of the others starts it. The time of a decision is that of its
     * call, before the live reads, which may take seconds here.
     */
    isBefore: async (ns: string, first: string[], then: string[]) => {
      const ended = await Promise.all(first.map(async (name) => (await head(ns, name)).bakeEndTime));
      const begun = await Promise.all(then.map(async (name) => (await head(ns, name)).timestamp));
      const [end, start] = [ended.sort().at(-1)!, begun.sort()[0]!].map((time) => Date.parse(time));
      expect(end! - start!, `${ended} before ${begun}`).toBeLessThan(READS_MS);
    },
  };
}
