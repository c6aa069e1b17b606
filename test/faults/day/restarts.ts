/** The death of any process of a cluster, and its return with the same command line and the same data. */
import { readFileSync } from 'node:fs';
import { type RunningChild, startChild } from '../../../local/childProcess.ts';
import { send } from '../../../local/client.ts';
import type { TestCluster } from '../../cluster/support/testCluster.ts';

export const MORTALS = ['hooks', 'driver', 'kube-apiserver', 'etcd', 'kube-controller-manager'] as const;
export type Mortal = (typeof MORTALS)[number];

const commandLine = ({ pid }: RunningChild) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').slice(0, -1);
const etcdUrl = (args: string[]) =>
  args.find((arg) => arg.startsWith('--listen-client-urls='))?.slice('--listen-client-urls='.length) ?? '';

export function restarterOf(cluster: TestCluster) {
  /** Those that this restarter started: the cluster does not know them. */
  const ours = new Map<string, RunningChild>();

  async function restart(name: Mortal): Promise<void> {
    if (name === 'hooks' || name === 'driver') {
      const child = cluster[name]();
      child?.kill('SIGKILL');
      await child?.exited;
      await (name === 'hooks' ? cluster.startHooks() : cluster.startDriver());
      return;
    }
    const child = ours.get(name) ?? cluster.child(name);
    if (!child) throw new Error(`${name} is not running`);
    const [command = '', ...args] = commandLine(child);
    child.kill('SIGKILL');
    await child.exited;
    ours.set(name, await startChild({ name, command, args, dir: cluster.dir, ready: readiness(name, args) }));
  }

  function readiness(name: Mortal, args: string[]): (output: () => string) => Promise<boolean> {
    if (name === 'kube-controller-manager') return async () => true;
    if (name === 'kube-apiserver') {
      return async () =>
        (await send<string>(cluster.accessOf('admin'), 'GET', '/readyz', { timeoutMs: 2_000 })).object === 'ok';
    }
    return async () => (await fetch(`${etcdUrl(args)}/health`, { signal: AbortSignal.timeout(2_000) })).ok;
  }

  return {
    restart,
    etcdUrl: () => etcdUrl(commandLine(cluster.child('etcd')!)),
    /** Ends what it has started; the cluster ends the rest. */
    stop: async () => {
      for (const name of [...MORTALS].reverse()) await ours.get(name)?.stop();
    },
  };
}
