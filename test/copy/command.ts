/**
 * Runs the copy command, with options and mounted Secrets: in this process, or as a Job does, in a process of its own,
 * of which a line of JSON and an exit code come back.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCopy } from '../../copy/main.ts';
import { COPY_OUTCOMES } from '../../core/releaseCopy/outcome.ts';
import { REPOSITORY } from '../../dev/repository.ts';
import { temporaryFolder } from '../support/temporaryFolder.ts';

interface Ended {
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
  /** Both registries use plain HTTP by default. */
  secure?: boolean;
  /** Registries on this machine are refused, as in an installation. */
  guarded?: boolean;
  /** Called with the process and each line of its progress. */
  watch?: (line: string, child: ChildProcess) => void;
}

export type Here = Omit<Options, 'watch'> & { watch?: (line: string) => void };

function argumentsOf({ source, target, tag, secure, more = [] }: Here, terminationLog: string): string[] {
  const insecure = secure ? [] : ['--source-insecure', '--target-insecure'];
  const places = ['--source', `oci://${source}`, '--target', `oci://${target}`, '--tag', tag];
  return [...places, ...insecure, '--termination-log', terminationLog, ...more];
}

async function withTerminationLog<T extends object>(run: (file: string) => Promise<T>) {
  const folder = mkdtempSync(join(tmpdir(), 'copy-'));
  const file = join(folder, 'termination-log');
  writeFileSync(file, '');
  const ended = await run(file);
  const terminationLog = readFileSync(file, 'utf8');
  rmSync(folder, { recursive: true });
  return { ...ended, terminationLog };
}

/** In this process: much cheaper. */
export function copyHere(options: Here): Promise<Ended> {
  return withTerminationLog(async (file) => {
    const said: string[] = [];
    const end = new AbortController();
    const say = (line: string) => {
      said.push(line);
      options.watch?.(line);
    };
    const result = await runCopy(argumentsOf(options, file), { allowLocal: !options.guarded, say, end });
    return { code: COPY_OUTCOMES[result!.outcome], signal: null, result: { ...result }, stderr: said.join('\n') };
  });
}

/** In a process of its own. */
export function copyCommand({ watch, ...options }: Options): Promise<Ended> {
  return withTerminationLog(async (file) => {
    const child = spawn(process.execPath, ['copy/main.ts', ...argumentsOf(options, file)], {
      cwd: REPOSITORY,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ALLOW_LOCAL_REGISTRIES: String(!options.guarded) },
    });
    let [stdout, stderr] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
      for (const line of text.split('\n').filter(Boolean)) watch?.(line, child);
    });
    const [code, signal] = await once(child, 'close');
    return { code, signal, result: stdout === '' ? {} : JSON.parse(stdout), stderr };
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
