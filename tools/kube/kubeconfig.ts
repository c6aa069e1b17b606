/** The cluster, user and namespace: from kubeconfig files, merged as kubectl merges them, and flags, which come first. */
import { existsSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { KubeConfig } from '@kubernetes/client-node/dist/config.js';
import { few } from '../../core/kube/firstFew.ts';
import { Problem } from './problem.ts';

/** The flags that choose a cluster; names as kubectl has them. */
export interface ConnectionFlags {
  kubeconfig?: string;
  context?: string;
  cluster?: string;
  user?: string;
  namespace?: string;
  as?: string;
  asGroup?: string[];
  /** `30s`; 0 means no limit. */
  requestTimeout?: string;
}

export interface Selected {
  config: KubeConfig;
  /** Empty inside a cluster. */
  context: string;
  /** `https://127.0.0.1:6443`. */
  server: string;
  user: string;
  /** The context's namespace, or `default`. */
  namespace: string;
}

const SERVICE_ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';

type Environment = Readonly<Record<string, string | undefined>>;

/** @throws Problem when there is no cluster to talk to. */
export function selectCluster(flags: ConnectionFlags, env: Environment): Selected {
  const files = kubeconfigFiles(flags, env);
  const found = files.filter((file) => existsSync(file));
  if (found.length === 0 && !flags.kubeconfig && existsSync(join(SERVICE_ACCOUNT, 'token'))) return inCluster(flags);
  if (found.length === 0) {
    throw new Problem(
      `There is no kubeconfig at ${files.join(', ')}: set KUBECONFIG, or say which one with --kubeconfig.`,
    );
  }
  const config = mergeFiles(found);
  const context = flags.context ?? config.currentContext;
  const where = found.join(', ');
  if (!context && !flags.cluster) {
    throw new Problem(`${where} has no current context: choose one with --context (${namesText(config.contexts)}).`);
  }
  const entry = config.contexts.find(({ name }) => name === context);
  if (!entry && !flags.cluster) {
    throw new Problem(`There is no context ${quoted(context)} in ${where}: it has ${namesText(config.contexts)}.`);
  }
  const cluster = config.clusters.find(({ name }) => name === (flags.cluster ?? entry?.cluster));
  if (!cluster?.server) {
    throw new Problem(
      `There is no cluster ${quoted(flags.cluster ?? entry?.cluster)} with a server in ${where}: it has ${namesText(config.clusters)}.`,
    );
  }
  const user = flags.user ?? entry?.user ?? '';
  if (user !== '' && !config.users.some(({ name }) => name === user)) {
    throw new Problem(`There is no user ${quoted(user)} in ${where}: it has ${namesText(config.users)}.`);
  }
  const chosen = { name: context || 'chosen', cluster: cluster.name, user };
  // http: carries no TLS that could be skipped, and client-node asks for the word all the same.
  const plain = cluster.server.startsWith('http:');
  const clusters = config.clusters.map((each) => (each === cluster && plain ? { ...each, skipTLSVerify: true } : each));
  config.loadFromOptions({
    clusters,
    users: config.users,
    contexts: [...config.contexts.filter(({ name }) => name !== chosen.name), chosen],
    currentContext: chosen.name,
  });
  const namespace = flags.namespace ?? entry?.namespace ?? 'default';
  return { config, context: context ?? '', server: cluster.server, user, namespace };
}

function kubeconfigFiles({ kubeconfig }: ConnectionFlags, env: Environment): string[] {
  if (kubeconfig) return [kubeconfig];
  const listed = (env.KUBECONFIG ?? '').split(delimiter).filter((file) => file !== '');
  if (listed.length > 0) return listed;
  return [join(env.HOME ?? env.USERPROFILE ?? '', '.kube', 'config')];
}

/** Files merged like kubectl does: the first file that sets something wins, missing files are ignored. */
function mergeFiles(files: readonly string[]): KubeConfig {
  const all = files.map(readFile);
  const first = <T extends { name: string }>(lists: readonly T[][]): T[] => [
    ...new Map(
      lists
        .flat()
        .reverse()
        .map((each) => [each.name, each] as const),
    ).values(),
  ];
  const config = new KubeConfig();
  config.loadFromOptions({
    clusters: first(all.map(({ clusters }) => clusters)),
    users: first(all.map(({ users }) => users)),
    contexts: first(all.map(({ contexts }) => contexts)),
    currentContext: all.map(({ currentContext }) => currentContext).find((name) => Boolean(name)),
  });
  return config;
}

function readFile(file: string): KubeConfig {
  const config = new KubeConfig();
  try {
    config.loadFromFile(file);
    return config;
  } catch (error) {
    const [line = ''] = String((error as Error).message).split('\n');
    throw new Problem(`${file} is no kubeconfig: ${line}.`);
  }
}

function inCluster(flags: ConnectionFlags): Selected {
  const config = new KubeConfig();
  config.loadFromCluster();
  const file = join(SERVICE_ACCOUNT, 'namespace');
  const own = existsSync(file) ? readFileSync(file, 'utf8').trim() : '';
  const server = config.getCurrentCluster()?.server ?? '';
  return { config, context: '', server, user: 'the ServiceAccount', namespace: flags.namespace ?? (own || 'default') };
}

function namesText(entries: readonly { name: string }[]): string {
  const all = entries.map(({ name }) => name);
  return few(all, 8) || 'none';
}

function quoted(text: string | undefined): string {
  return `'${text ?? ''}'`;
}
