import { describe, expect, it } from 'vitest';
import { goProblem, noGoProblem } from '../../../../dev/local/binaries/goTool.ts';
import { deathProblem, lastLines } from '../../../../dev/local/process/childProcess.ts';
import { UsageError } from '../../../../dev/local/process/options.ts';
import { portProblem } from '../../../../dev/local/process/ports.ts';
import { asProblem, Problem } from '../../../../dev/local/process/problem.ts';
import { parseUpOptions } from '../../../../dev/local/up.ts';

const systemError = (code: string, path?: string) =>
  Object.assign(new Error(`${code}: it failed, write`), { code, ...(path && { path }) });
const ended = (code: number | null, signal: NodeJS.Signals | null = null) => ({ code, signal, asked: false });
describe('what the person at the terminal reads', () => {
  it.each([
    [
      'a taken port',
      portProblem(6443, '--port', 'EADDRINUSE'),
      'Port 6443 is used by another process: stop that process or give another port with --port.',
    ],
    [
      'a port for root only',
      portProblem(80, '--port', 'EACCES'),
      'Port 80 cannot be used (EACCES): stop that process or give another port with --port.',
    ],
    [
      'a full disk',
      asProblem(systemError('ENOSPC'), '/d'),
      'The disk that holds /d is full: free some space or choose another location, then start again.',
    ],
    [
      'a directory of somebody else',
      asProblem(systemError('EACCES', '/d/pids'), '/d'),
      '/d/pids cannot be written (EACCES): give a directory that you may write to with --dir.',
    ],
    [
      'a file in the way',
      asProblem(systemError('ENOTDIR', '/f'), '/f'),
      '/f is not a directory: give another one with --dir.',
    ],
    ['something else', asProblem(new Error('one\n  two'), '/d'), 'one two'],
    [
      'a process that dies',
      deathProblem('etcd', ended(1), '/d/etcd.log', 'a\nb'),
      'etcd exited with code 1: see /d/etcd.log for the cause, then start again.',
    ],
    [
      'a process that is killed',
      deathProblem('etcd', ended(null, 'SIGKILL'), '/d/etcd.log', ''),
      'etcd was killed by SIGKILL: see /d/etcd.log for the cause, then start again.',
    ],
    [
      'a process on a full disk',
      deathProblem('etcd', ended(1), '/d/etcd.log', 'write wal: no space left on device'),
      'The disk that holds /d/etcd.log is full: free some space or choose another location, then start again.',
    ],
    [
      'a compiler error',
      goProblem('Building etcd', 'x.go:1: boom'),
      "Building etcd failed: the last lines of go's output follow; correct their cause and start again.",
    ],
    [
      'no Go',
      noGoProblem('etcd'),
      'etcd cannot be found, and neither can Go to build or download it: install Go 1.26 or newer (it is not needed after the first start), or set KUBEBUILDER_ASSETS to a directory with etcd, kube-apiserver and kube-controller-manager 1.32 or newer, or pass --kubeconfig FILE for a cluster that has Flux and whose API server runs on this machine, with kubectl on the path, or install into a cluster that you have (docs/install.md).',
    ],
    [
      'an old Go',
      goProblem('Building etcd', 'go: go.mod requires go >= 1.26.0 (running go 1.22.1; GOTOOLCHAIN=local)'),
      'Building etcd failed because Go is too old: install Go 1.26 or newer.',
    ],
    [
      'no network',
      goProblem('Building etcd', 'Get "https://x": dial tcp: lookup x: no such host'),
      'Building etcd failed because a Go module could not be downloaded: check the network and GOPROXY, then start again.',
    ],
    [
      'a build on a full disk',
      goProblem('Building etcd', 'write /tmp/a: no space left on device'),
      "The disk that holds Go's build cache (go env GOCACHE) or its temporary files is full: free some space or choose another location, then start again.",
    ],
  ])('%s', (_, problem, sentence) => {
    expect(problem).toBeInstanceOf(Problem);
    expect(problem.message).toBe(sentence);
  });

  it('has the last lines of a log below it', () => {
    const log = Array.from({ length: 20 }, (_, i) => `line ${i}`).join('\n');
    expect(deathProblem('etcd', ended(1), '/d/etcd.log', `${log}\n\n`).details).toEqual(lastLines(log));
    expect(lastLines(log)).toEqual(['line 15', 'line 16', 'line 17', 'line 18', 'line 19']);
  });
});

describe('options of up', () => {
  it.each([
    [['--dir', '/d', '--port', '6443', '--no-hooks'], {}, { dir: '/d', port: 6443, hooks: false }],
    [['--dir', '/d'], { METACONTROLLER: '/m' }, { metacontroller: '/m', hooks: true }],
    [['--metacontroller', '/given'], { METACONTROLLER: '/m' }, { metacontroller: '/given' }],
    [[], { METACONTROLLER: '' }, { metacontroller: undefined }],
    [['--kubeconfig', '/k'], {}, { kubeconfig: '/k', hooks: true, dir: expect.stringMatching(/existing$/) }],
  ])('%j %j', (args, env, expected) => {
    expect(parseUpOptions(args, env)).toMatchObject(expected);
  });

  it.each([
    [['--wat'], "Unknown option '--wat'."],
    [['--port', '70000'], '--port 70000 is not a whole number from 1 to 65535.'],
    [
      ['--kubeconfig', '/k', '--port', '6443'],
      '--port has no effect on an existing cluster: leave out either it or --kubeconfig.',
    ],
  ])('refuses %j', (args, sentence) => {
    expect(() => parseUpOptions(args, {})).toThrow(new UsageError(sentence));
  });
});
