/** Runs `go`, with the user's own toolchain and module settings. */
import { execFileSync, spawn } from 'node:child_process';
import { lastLines } from '../process/childProcess.ts';
import { diskFullProblem, Problem } from '../process/problem.ts';

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
        'or pass --kubeconfig FILE for a cluster that has Flux and whose API server runs on this machine, with kubectl on the path,',
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
  /** Called with each line on stderr. */
  onLine?: (line: string) => void;
}

/** Runs go. Resolves to its stdout; rejects with a Problem that has the last lines of stderr. */
export function runGo({ args, cwd, purpose, onLine }: GoRun): Promise<string> {
  return new Promise((resolve, reject) => {
    // GOFLAGS and GOWORK of another project would change which modules are used.
    const env = { ...process.env, GOFLAGS: '', GOWORK: 'off' };
    const child = spawn('go', args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
    // On SIGINT, go removes its temporary files.
    const end = () => child.kill('SIGINT');
    process.once('exit', end);
    let stdout = '';
    let stderr = '';
    let pending = '';
    child.stdout.on('data', (chunk) => {
      stdout += chunk;
    });
    child.stderr.on('data', (chunk) => {
      stderr = (stderr + chunk).slice(-64_000);
      const lines = (pending + chunk).split('\n');
      pending = lines.pop() ?? '';
      for (const line of lines) onLine?.(line);
    });
    child.on('error', reject);
    child.on('close', (code) => {
      process.off('exit', end);
      if (code === 0) return resolve(stdout);
      reject(goProblem(purpose, `${stdout}\n${stderr}`));
    });
  });
}

/** The Problem for a failed run of go, by its output. */
function goProblem(purpose: string, output: string): Problem {
  const full = diskFullProblem(output, "Go's build cache (go env GOCACHE) or its temporary files");
  if (full) return full;
  if (/requires go >= |go: download go1\..* toolchain not available|GOTOOLCHAIN=local/.test(output)) {
    return new Problem(`${purpose} failed because Go is too old: install Go 1.26 or newer.`, lastLines(output, 3));
  }
  if (/dial tcp|no such host|connection refused|proxyconnect|i\/o timeout|TLS handshake/.test(output)) {
    return new Problem(
      `${purpose} failed because a Go module could not be downloaded: check the network and GOPROXY, then start again.`,
      lastLines(output),
    );
  }
  return new Problem(
    `${purpose} failed: the last lines of go's output follow; correct their cause and start again.`,
    lastLines(output, 12),
  );
}
