/** Runs the copy command as a Job does: a process with options and mounted Secrets, of which a line of JSON and an exit code come back. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { REPOSITORY } from '../../dev/repository.ts';
import { temporaryFolder } from '../support/temporaryFolder.ts';

export interface Ended {
  code: number | null;
  signal: string | null;
  /** The line of JSON; empty when it was killed. */
  result: { outcome?: string; message?: string; [field: string]: unknown };
  stderr: string;
  terminationLog: string;
}

export interface Options {
  source: string;
  target: string;
  tag: string;
  more?: string[];
  /** Both registries speak plain HTTP unless it says otherwise. */
  secure?: boolean;
  /** Registries on this machine are refused, as in an installation. */
  guarded?: boolean;
  /** Sees the process, and each line of its progress. */
  watch?: (line: string, child: ChildProcess) => void;
}

export function copyCommand({
  source,
  target,
  tag,
  more = [],
  secure,
  guarded = false,
  watch,
}: Options): Promise<Ended> {
  const folder = mkdtempSync(join(tmpdir(), 'copy-'));
  const terminationLog = join(folder, 'termination-log');
  writeFileSync(terminationLog, '');
  const insecure = secure ? [] : ['--source-insecure', '--target-insecure'];
  const places = ['--source', `oci://${source}`, '--target', `oci://${target}`, '--tag', tag];
  const args = ['copy/main.ts', ...places, ...insecure, '--termination-log', terminationLog, ...more];
  const child = spawn(process.execPath, args, {
    cwd: REPOSITORY,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ALLOW_LOCAL_REGISTRIES: String(!guarded) },
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
    for (const line of text.split('\n').filter(Boolean)) watch?.(line, child);
  });
  return new Promise((resolve) => {
    child.on('close', (code, signal) => {
      const result = stdout === '' ? {} : JSON.parse(stdout);
      resolve({ code, signal, result, stderr, terminationLog: readFileSync(terminationLog, 'utf8') });
      rmSync(folder, { recursive: true });
    });
  });
}

/** A folder as the kubelet mounts a pull secret. */
export function mountedLogin(host: string, username: string, password: string): string {
  const auth = Buffer.from(`${username}:${password}`).toString('base64');
  return mountedSecret({ '.dockerconfigjson': JSON.stringify({ auths: { [host]: { auth } } }) });
}

/** A folder as the kubelet mounts any Secret. */
export function mountedSecret(data: Record<string, string>): string {
  const dir = temporaryFolder('secret-');
  for (const [key, content] of Object.entries(data)) writeFileSync(join(dir, key), content);
  return dir;
}
