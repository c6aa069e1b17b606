import { describe, expect, it } from 'vitest';
import { goProblem } from '../../../../dev/local/binaries/goTool.ts';
import { deathProblem } from '../../../../dev/local/process/childProcess.ts';
import { UsageError } from '../../../../dev/local/process/options.ts';
import { asProblem, Problem } from '../../../../dev/local/process/problem.ts';
import { parseUpOptions } from '../../../../dev/local/up.ts';

const systemError = (code: string) => Object.assign(new Error(`${code}: it failed, write`), { code });
const ended = (code: number) => ({ code, signal: null, asked: false });

describe('what the person at the terminal reads', () => {
  it.each([
    [
      'a full disk',
      asProblem(systemError('ENOSPC'), '/d'),
      'The disk that holds /d is full: free some space or choose another location, then start again.',
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
