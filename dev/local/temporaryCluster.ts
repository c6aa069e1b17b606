import { type ClusterOptions, type LocalCluster, startCluster } from './cluster.ts';
import { endRequested } from './process/endRequested.ts';
import { logToStderr } from './process/log.ts';
import { asProblem } from './process/problem.ts';
import { temporaryDirectory } from './process/temporaryDirectory.ts';

interface TemporaryClusterOptions
  extends Pick<ClusterOptions, 'auditRules' | 'serveHooks' | 'hookEnv' | 'hooks' | 'plain'> {
  /** What its directory's name begins with. */
  prefix: string;
  metacontroller?: string | undefined;
  /** Printed before the problem that ended it. */
  failure?: string;
  /** Leaves the directory where the work failed, for its logs. */
  keepFailed?: boolean;
}

/**
 * A cluster in a directory of its own, for one piece of work. Gives the exit code: the work's, 1 when it failed (reported
 * on stderr), 130 when it was asked to end while it started. Exit with it at once: that ends what was still starting.
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
      metacontroller: metacontroller ?? process.env.METACONTROLLER,
      log: logToStderr,
    });
    cluster = await Promise.race([starting, interrupt]);
    const code = cluster ? await work(cluster, interrupt) : 130;
    kept = keepFailed && code === 1;
    return code;
  } catch (error) {
    const problem = asProblem(error, dir);
    logToStderr(`${failure}${problem.message}`);
    for (const detail of problem.details) logToStderr(`  ${detail}`);
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
