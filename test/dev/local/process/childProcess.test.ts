import { spawn } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { supervisorLock } from '../../../../dev/local/process/childProcess.ts';
import { holderOf, takeLock } from '../../../../dev/local/process/lock.ts';
import { REPOSITORY } from '../../../../dev/repository.ts';
import { eventually } from '../../../support/eventually.ts';
import { temporaryFolder } from '../../../support/temporaryFolder.ts';

const run = (script: string) => {
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { cwd: REPOSITORY });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
};
const isRunning = (pid: number) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

it('the children of a killed supervisor end', async () => {
  const dir = temporaryFolder('children-');
  const supervisor = run(`
    const { startChild } = await import('./dev/local/process/childProcess.ts');
    const args = ['-c', 'echo $$; sleep 60'];
    const ready = async (output) => output().includes('\\n');
    await startChild({ name: 'sleeper', command: 'sh', args, dir: '${dir}', ready });
    await startChild({ name: 'other', command: 'sh', args, dir: '${dir}', ready });
    console.log('ready');
    setInterval(() => {}, 1000);
  `);
  await new Promise((resolve) => supervisor.stdout.once('data', resolve));
  const pids = ['sleeper', 'other'].map((name) => Number(readFileSync(join(dir, `${name}.log`), 'utf8')));
  expect(pids.map(isRunning)).toEqual([true, true]);
  supervisor.kill('SIGKILL');
  await eventually(() => expect(pids.map(isRunning)).toEqual([false, false]));
});

describe('a lock', () => {
  const lockIn = (dir: string) => supervisorLock(dir);

  it('is held by one process at a time', async () => {
    const file = lockIn(temporaryFolder('lock-'));
    const lines: string[] = [];
    const release = await takeLock(file, 'DIR', () => {});
    const message = `DIR is in use by process ${process.pid}`;
    await expect(takeLock(file, 'DIR', (line) => lines.push(line), 150)).rejects.toThrow(message);
    expect(lines).toEqual([`${message}; waiting for it`]);
    release();
    await takeLock(file, 'DIR', () => {}, 0);
  });

  it.each([
    ['of a process that has ended', { pid: 2 ** 22 + 1 }],
    ['of an earlier process with the same pid', { started: '1' }],
  ])('%s is free', async (_, changed) => {
    const dir = temporaryFolder('lock-');
    await takeLock(lockIn(dir), 'DIR', () => {});
    const holder = holderOf(lockIn(dir));
    expect(holder?.pid).toBe(process.pid);
    writeFileSync(lockIn(dir), JSON.stringify({ ...holder, ...changed }));
    await takeLock(lockIn(dir), 'DIR', () => {}, 0);
    expect(readdirSync(dir)).toHaveLength(1);
  });

  it.each(['{"pid": 1', ''])('with the text %j is free', async (text) => {
    const file = lockIn(temporaryFolder('lock-'));
    writeFileSync(file, text);
    await takeLock(file, 'DIR', () => {}, 0);
  });
});
