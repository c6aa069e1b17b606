/** The cluster, user and namespace, from kubeconfig files, merged as by kubectl, and from flags, which come first. */
import { existsSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { KubeConfig } from '@kubernetes/client-node/dist/config.js';
import { Problem } from '../../client/problem.ts';
import { firstFew } from '../../core/text/firstFew.ts';

/** The flags that choose a cluster, with kubectl's names. */
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

/** The cluster that the flags choose; in a Pod without a kubeconfig, its own. @throws Problem if there is none */
export function selectCluster(flags: ConnectionFlags, env: Environment): Selected {
  const files = kubeconfigFiles(flags, env);
  const found = files.filter((file) => existsSync(file));
  if (found.length === 0 && !flags.kubeconfig && existsSync(join(SERVICE_ACCOUNT, 'token'))) return inCluster(flags);
  if (found.length === 0) {
    throw new Problem(`There is no kubeconfig at ${files.join(', ')}: set KUBECONFIG, or name one with --kubeconfig.`);
  }
  const config = mergeFiles(found);
  return select(config, flags, found.join(', '));
}

/** The cluster, user and namespace of the flags and the context. `where`: the files, for messages. */
function select(config: KubeConfig, flags: ConnectionFlags, where: string): Selected {
  const context = flags.context ?? config.currentContext;
  if (!context && !flags.cluster) {
    throw new Problem(`${where} has no current context: choose one with --context (${namesText(config.contexts)}).`);
  }
  const entry = config.contexts.find(({ name }) => name === context);
  if (!entry && !flags.cluster) {
    throw new Problem(`There is no context '${context}' in ${where}: it has ${namesText(config.contexts)}.`);
  }
  const cluster = config.clusters.find(({ name }) => name === (flags.cluster ?? entry?.cluster));
  if (!cluster?.server) {
    throw new Problem(
      `There is no cluster '${flags.cluster ?? entry?.cluster ?? ''}' with a server in ${where}: it has ${namesText(config.clusters)}.`,
    );
  }
  const user = flags.user ?? entry?.user ?? '';
  if (user !== '' && !config.users.some(({ name }) => name === user)) {
    throw new Problem(`There is no user '${user}' in ${where}: it has ${namesText(config.users)}.`);
  }
  const chosen = { name: context || 'chosen', cluster: cluster.name, user };
  // client-node refuses http: without skipTLSVerify, although there is no TLS to skip.
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

/** The files, merged as kubectl merges them: the first file that sets something wins. */
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
    throw new Problem(`${file} is not a kubeconfig: ${line}.`);
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
  return firstFew(all, 8) || 'none';
}
