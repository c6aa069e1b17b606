import { type ClusterOptions, type LocalCluster, startCluster } from './cluster.ts';
import { endRequested } from './process/endRequested.ts';
import { logToStderr } from './process/log.ts';
import { asProblem, reportProblem } from './process/problem.ts';
import { temporaryDirectory } from './process/temporaryDirectory.ts';

interface TemporaryClusterOptions extends Pick<ClusterOptions, 'auditRules' | 'serveHooks' | 'hookEnv' | 'plain'> {
  /** Prefix of the directory's name. */
  prefix: string;
  metacontroller?: string | undefined;
  /** Text before the message of a Problem. */
  failure?: string;
  /** Keeps the directory, for its logs, after a failure. */
  keepFailed?: boolean;
}

/**
 * Runs the work on a cluster in a temporary directory. Resolves to the exit code: the work's, 1 after an error (printed
 * on stderr), 130 after a signal during the start. Exit with it at once, which ends processes that are still starting.
 */
export async function onTemporaryCluster(
  { prefix, metacontroller, failure = '', keepFailed = false, ...options }: TemporaryClusterOptions,
  work: (cluster: LocalCluster, interrupt: Promise<undefined>) => Promise<number>,
): Promise<number> {
  const { path: dir, remove, keep } = temporaryDirectory(prefix);
  const interrupt = endRequested().then(() => undefined);
  let cluster: LocalCluster | undefined;
  let kept = false;
  try {
    const starting = startCluster({
      ...options,
      dir,
      metacontroller,
      log: logToStderr,
    });
    cluster = await Promise.race([starting, interrupt]);
    const code = cluster ? await work(cluster, interrupt) : 130;
    kept = keepFailed && code === 1;
    return code;
  } catch (error) {
    reportProblem(asProblem(error), failure);
    kept = keepFailed;
    return 1;
  } finally {
    await cluster?.stop();
    if (kept) {
      logToStderr(`What every process wrote is in ${dir}`);
      keep();
    } else remove();
  }
}
