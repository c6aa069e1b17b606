/** The driver, which calls the hooks: the engine of this repository, or a real Metacontroller. */
import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';
import { LIMITS } from '../../engine/runtime/limits.ts';
import { REPOSITORY } from '../../repository.ts';
import { USERS } from '../controlPlane/users.ts';
import { type RunningChild, startChild } from '../process/childProcess.ts';
import { freePort } from '../process/ports.ts';
import { Problem } from '../process/problem.ts';

interface DriverOptions {
  dir: string;
  /** Path of a Metacontroller binary; without it the engine runs. */
  metacontroller?: string;
}

export async function startDriver(options: DriverOptions): Promise<RunningChild> {
  return options.metacontroller ? startMetacontroller(options.dir, options.metacontroller) : startEngine(options.dir);
}

async function startEngine(dir: string): Promise<RunningChild> {
  return startChild({
    name: 'engine',
    command: process.execPath,
    args: ['dev/engine/main.ts'],
    cwd: REPOSITORY,
    dir,
    env: { KUBECONFIG: join(dir, USERS.metacontroller.file) },
    ready: async (output) => output().includes('engine ready'),
  });
}

/** Fails with a sentence when the path is not a program. */
export function requireMetacontroller(path: string): void {
  try {
    accessSync(path, constants.X_OK);
  } catch {
    throw new Problem(
      `${path} is not a program that can be run: give the path of a Metacontroller binary with --metacontroller (or METACONTROLLER), or leave it out to use the engine.`,
    );
  }
}

async function startMetacontroller(dir: string, command: string): Promise<RunningChild> {
  const health = `127.0.0.1:${await freePort()}`;
  return startChild({
    name: 'metacontroller',
    command,
    dir,
    env: { KUBECONFIG: join(dir, USERS.metacontroller.file) },
    args: [
      `--metrics-address=127.0.0.1:${await freePort()}`,
      `--health-probe-bind-address=${health}`,
      // Its defaults allow about one release every two seconds.
      `--client-go-qps=${LIMITS.qps}`,
      `--client-go-burst=${LIMITS.burst}`,
      `--workers=${LIMITS.workers}`,
    ],
    ready: async () => (await fetch(`http://${health}/readyz`, { signal: AbortSignal.timeout(2_000) })).ok,
  });
}
