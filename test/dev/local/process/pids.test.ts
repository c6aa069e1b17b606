import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  endLeftovers,
  identify,
  isSameProcess,
  recordedNames,
  recordPid,
  runningProcess,
} from '../../../../dev/local/process/pids.ts';

const recorded = { pid: 7, command: '/bin/etcd --data-dir=/d/etcd', started: '100' };

describe('isSameProcess', () => {
  it.each([
    ['the same one', recorded, true],
    [
      'the same one on its way out, whose memory is gone and its command line with it',
      { ...recorded, command: '' },
      true,
    ],
    ['gone', undefined, false],
    ['a later one on its way out', { ...recorded, command: '', started: '200' }, false],
    ['a later one with the same pid', { ...recorded, started: '200' }, false],
    ['another program since a reboot', { ...recorded, command: 'sshd' }, false],
    ['another pid', { ...recorded, pid: 8 }, false],
  ])('%s: %s', (_, seen, expected) => {
    expect(isSameProcess(recorded, seen)).toBe(expected);
  });
});

describe('leftovers', () => {
  let dir: string;
  const started: ReturnType<typeof spawn>[] = [];
  const sleeper = () => {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
    started.push(child);
    return new Promise<number>((resolve) => child.once('spawn', () => resolve(child.pid ?? -1)));
  };
  const file = (name: string) => join(dir, 'pids', `${name}.json`);

  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'rollout-hooks-unit-'));
  });
  afterEach(() => {
    for (const child of started.splice(0)) child.kill('SIGKILL');
    rmSync(dir, { recursive: true, force: true });
  });

  it('ends recorded processes that still run, except the spared one', async () => {
    const old = await sleeper();
    const supervisor = await sleeper();
    recordPid(dir, 'etcd', old);
    recordPid(dir, 'supervisor', supervisor);
    expect(runningProcess(dir, 'etcd')?.pid).toBe(old);
    expect(await endLeftovers(dir, 'supervisor')).toEqual(['etcd']);
    expect(identify(old)).toBeUndefined();
    expect(identify(supervisor)?.pid).toBe(supervisor);
    expect(recordedNames(dir)).toEqual(['supervisor']);
  });

  it.each([
    ['a stranger that has the pid now', (pid: number) => JSON.stringify({ ...identify(pid), started: '1' })],
    ['a record cut short', () => '{"pid": 1'],
    ['an empty record', () => ''],
  ])('leaves %s alone, and forgets it', async (_, record) => {
    const stranger = await sleeper();
    recordPid(dir, 'etcd', stranger);
    writeFileSync(file('etcd'), record(stranger));
    expect(await endLeftovers(dir, 'supervisor')).toEqual([]);
    expect(identify(stranger)?.pid).toBe(stranger);
    expect(recordedNames(dir)).toEqual([]);
  });
});
