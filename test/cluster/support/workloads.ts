/** Statuses that controllers and kubelets, which don't run here, would write into workloads. */
import { type AnyObject, type User, waitFor } from './cluster.ts';

export const jobsOf = async (admin: User, ns: string): Promise<AnyObject[]> => admin.list('batch/v1', 'Job', ns);

/** The Job that isn't among the earlier ones. */
export function newJob(admin: User, ns: string, before: readonly string[] = []): Promise<AnyObject> {
  return waitFor(
    async () => (await jobsOf(admin, ns)).find(({ metadata }) => !before.includes(metadata.name!)),
    'a new Job',
  );
}

/** Ends the Pod of a Job with an exit code, in place of a kubelet. */
export async function podEnds(admin: User, ns: string, job: AnyObject, exitCode: number): Promise<void> {
  const pod = await waitFor(async () => {
    const pods: AnyObject[] = await admin.list('v1', 'Pod', ns);
    return pods.find(({ metadata }) => metadata.ownerReferences?.[0]?.uid === job.metadata.uid);
  }, 'its Pod');
  const at = new Date().toISOString();
  const state = { terminated: { exitCode, reason: exitCode ? 'Error' : 'Completed', startedAt: at, finishedAt: at } };
  await admin.patchStatus(
    { apiVersion: 'v1', kind: 'Pod', metadata: { namespace: ns, name: pod.metadata.name! } },
    {
      phase: exitCode ? 'Failed' : 'Succeeded',
      containerStatuses: [{ name: 'curl', image: 'curl:8', imageID: '', ready: false, restartCount: 0, state }],
    },
  );
}
