/** Runs `go`, with the user's own toolchain and module settings. */
import { execFile, execFileSync } from 'node:child_process';
import { promisify } from 'node:util';
import { lastLines } from '../process/childProcess.ts';
import type { Log } from '../process/log.ts';
import { Problem } from '../process/problem.ts';

/** Fails with a sentence when there is no Go on the PATH. */
export function requireGo(missing: string): void {
  try {
    execFileSync('go', ['version'], { stdio: 'ignore' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    throw new Problem(
      [
        `${missing} cannot be found, and neither can Go to build or download it:`,
        'install Go 1.26 or newer (it is not needed after the first start),',
        'or set KUBEBUILDER_ASSETS to a directory with etcd, kube-apiserver and kube-controller-manager 1.32 or newer,',
        'or install into a cluster that you have (docs/install.md).',
      ].join(' '),
    );
  }
}

interface GoRun {
  args: string[];
  cwd: string;
  /** The purpose in messages: `Building kube-apiserver`. */
  purpose: string;
  /** Gets the elapsed time every ten seconds. */
  log?: Log;
}

/** Runs go. Resolves to its stdout; rejects with a Problem that has the last lines of its output. */
export async function runGo({ args, cwd, purpose, log }: GoRun): Promise<string> {
  // GOFLAGS and GOWORK of another project would change which modules are used.
  const env = { ...process.env, GOFLAGS: '', GOWORK: 'off' };
  const running = promisify(execFile)('go', args, { cwd, env, maxBuffer: 64 * 1024 * 1024 });
  // On SIGINT, go removes its temporary files.
  const end = () => running.child.kill('SIGINT');
  process.once('exit', end);
  const start = performance.now();
  const report = () => log?.(`  ${purpose}: ${Math.round((performance.now() - start) / 1000)} s`);
  const progress = setInterval(report, 10_000);
  try {
    return (await running).stdout;
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    throw new Problem(
      `${purpose} failed: the last lines of go's output follow.`,
      lastLines(`${stdout}\n${stderr}`, 12),
    );
  } finally {
    clearInterval(progress);
    process.off('exit', end);
  }
}
