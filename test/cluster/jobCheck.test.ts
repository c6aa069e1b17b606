/**
 * HealthChecks of class job: Metacontroller creates the Job, the real Job controller runs it, and the test acts as
 * kubelet.
 */
import { describe, expect, it } from 'vitest';
import { type AnyObject, ref, sharedCluster, staysTrue, waitFor } from './support/cluster.ts';
import { healthCheck, type RolloutScenario, SELECTS_HEALTH, scenarioOf } from './support/rolloutScenario.ts';

const view = sharedCluster();
const { admin, newNamespace } = view;

// The API server stores the number as `1`.
const container = { name: 'curl', image: 'curl:8', resources: { requests: { cpu: '1000m' } } };
const pod = { spec: { restartPolicy: 'Never', containers: [container] } };
const JOB = { metadata: { labels: { team: 'a' } }, spec: { backoffLimit: 0, template: pod } };

const jobsOf = (ns: string): Promise<AnyObject[]> => admin.list('batch/v1', 'Job', ns);

/** The Job that isn't among the earlier ones. */
const newJob = (ns: string, before: readonly string[] = []) =>
  waitFor(async () => (await jobsOf(ns)).find(({ metadata }) => !before.includes(metadata.name!)), 'a new Job');

/** Ends the Pod of a Job with an exit code. */
async function podEnds(ns: string, job: AnyObject, exitCode: number): Promise<void> {
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

const healthIs = ({ ns }: RolloutScenario, expected: object) =>
  waitFor(
    async () => {
      const { status } = await admin.get(ref('healthCheck', ns, 'app'));
      expect(status).toMatchObject(expected);
      return true;
    },
    `the health ${JSON.stringify(expected)}`,
  );

describe('a HealthCheck of class job', () => {
  it('runs a Job when the version is applied, fails the deployment with it, and runs another for a retry', async () => {
    const scenario = scenarioOf(view, await newNamespace());
    const { ns } = scenario;
    await admin.create(healthCheck(ns, { class: 'job', job: { template: JOB } }));
    await scenario.bind();
    await scenario.create({ bakeTime: '1s', ...SELECTS_HEALTH });
    await scenario.publish('1.0.0');
    await scenario.headIs('1.0.0', 'Deploying');
    await healthIs(scenario, {
      status: 'Pending',
      message: expect.stringMatching(/^waits until version 1\.0\.0 is applied/),
    });
    expect(await jobsOf(scenario.ns)).toEqual([]);

    await scenario.arrive('1.0.0');
    const first = await newJob(scenario.ns);
    expect(first.metadata).toMatchObject({
      name: expect.stringMatching(/^app-app-1-[0-9a-f]{16}$/),
      labels: { team: 'a', 'healthcheck.kuberik.com/runs-for': 'app' },
      ownerReferences: [{ kind: 'HealthCheck', name: 'app', controller: true }],
    });
    const name = first.metadata.name!;
    await healthIs(scenario, {
      status: 'Pending',
      job: { namespace: ns, name },
      message: expect.stringContaining('runs for version'),
    });
    await podEnds(ns, first, 22);
    const failed = await scenario.headIs('1.0.0', 'Failed');
    expect(failed.failedHealthChecks[0].message).toContain('container curl: exit code 22');
    expect(failed.failedHealthChecks[0].message).toContain(`kubectl logs -n ${ns} job/${name}`);

    await scenario.ask({ retry: 'true' });
    const second = await newJob(scenario.ns, [name]);
    // The logs of the failure are kept.
    expect((await jobsOf(scenario.ns)).map(({ metadata }) => metadata.name)).toContain(name);
    await staysTrue(async () => (await scenario.head()).bakeStatus === 'Deploying', 'Deploying while it runs', 1000);
    await podEnds(ns, second, 0);
    await scenario.headIs('1.0.0', 'Succeeded');
    await healthIs(scenario, { status: 'Healthy', job: { name: second.metadata.name } });
  });
});
