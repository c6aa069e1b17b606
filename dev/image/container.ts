/**
 * A program in an image's tree as a kubelet runs it, as far as util-linux can: the tree is all it sees, read-only, it
 * is process 1 of its own, without capabilities, under the image's user. Linux only; needs root, or sudo that does not
 * ask.
 */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { ImageTree } from './imageTree.ts';

interface ContainerOptions {
  /** The image's entrypoint by default. */
  command?: string[];
  args?: string[];
  env?: Record<string, string>;
  /** Files and folders of this machine, by their path in the container. */
  mounts?: Record<string, string>;
  /** False makes the file system writable within the program's permissions. */
  readOnly?: boolean;
}

const DEVICES = ['null', 'zero', 'random', 'urandom'];
const asRoot = process.getuid?.() === 0 ? [] : ['sudo', '-n'];

/** The reason why no container can run here, or undefined. */
export function containerProblem(): string | undefined {
  if (process.platform !== 'linux') return `containers need Linux, and this is ${process.platform}`;
  const [command = '', ...args] = [...asRoot, 'unshare', '--mount', '--pid', '--fork', 'true'];
  const { status, stderr, error } = spawnSync(command, args, { encoding: 'utf8' });
  return status === 0 ? undefined : `containers need root, or sudo without a password: ${error?.message ?? stderr}`;
}

/** $1: the root, $2: `ro` or `rw`; then a source and a target for each mount until `--`, then the command. */
const MOUNT = `
set -e
root=$1 mode=$2; shift 2
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
while [ "$1" != -- ]; do mount --bind "$1" "$root$2"; shift 2; done
shift
mount -o "remount,bind,$mode" "$root"
exec "$@"
`;

export function startContainer(image: ImageTree, options: ContainerOptions = {}) {
  const { command = image.entrypoint, args = [], env = {}, mounts = {}, readOnly = true } = options;
  const devices = DEVICES.map((name) => [`/dev/${name}`, `/dev/${name}`]);
  const bound = [...devices, ...Object.entries(mounts).map(([to, from]) => [from, to])] as [string, string][];
  mkdirSync(join(image.root, 'proc'), { recursive: true });
  for (const [from, to] of bound) makeMountPoint(join(image.root, to), statSync(from).isDirectory());
  const [uid, gid] = image.user.split(':');
  const inside = [
    ...['env', '-i', ...Object.entries({ ...image.env, ...env }).map(([name, value]) => `${name}=${value}`)],
    ...['unshare', `--root=${image.root}`, `--wd=${image.workdir}`, `--setgid=${gid}`, `--setuid=${uid}`],
    ...['--', ...command, ...args],
  ];
  const outside = [
    ...[...asRoot, 'unshare', '--mount', '--pid', '--fork', '--kill-child'],
    ...['sh', '-c', MOUNT, 'sh', image.root, readOnly ? 'ro' : 'rw', ...bound.flat(), '--', ...inside],
  ];
  const child = spawn(outside[0]!, outside.slice(1), { stdio: ['ignore', 'pipe', 'pipe'] });
  // Whatever ends this process: only the kernel would end the container, and only with the machine.
  const end = () => killProgram(child, 'SIGKILL');
  process.once('exit', end);
  child.once('close', () => process.off('exit', end));
  const written = { stdout: '', stderr: '' };
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream].on('data', (chunk) => {
      written[stream] += chunk;
    });
  }
  return {
    stdout: () => written.stdout,
    stderr: () => written.stderr,
    /** The exit code; 128 plus the signal's number after a signal. */
    exited: new Promise<number>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code) => resolve(code ?? 137));
    }),
    /** Sends a signal to the program itself. */
    kill: (signal: NodeJS.Signals) => killProgram(child, signal),
  };
}

export type Container = ReturnType<typeof startContainer>;

function makeMountPoint(path: string, isFolder: boolean): void {
  mkdirSync(isFolder ? path : dirname(path), { recursive: true });
  if (!isFolder && !existsSync(path)) writeFileSync(path, '');
}

/** The program is the last of a line of processes: sudo, unshare, the program. */
function killProgram({ pid, exitCode }: ChildProcess, signal: NodeJS.Signals): void {
  if (exitCode !== null || pid === undefined) return;
  const line = [pid];
  while (childOf(line[0]!) !== 0) line.unshift(childOf(line[0]!));
  const [last] = line;
  if (last === pid) return;
  const [command = '', ...args] = [...asRoot, 'kill', '-s', signal.replace('SIG', ''), `${last}`];
  execFileSync(command, args);
}

/** The pid of the process's child, or 0. */
function childOf(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')[0]);
}
