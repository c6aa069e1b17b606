/** A decision is one line, however often it is repeated, and no client can fill the log with cheap requests. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import type { LoggedDecision } from '../../api/ports.ts';
import { createDecisionLog, loggedEvents } from '../../server/decisionLog.ts';
import { objectOf } from '../support/objects.ts';

function written(debug = false) {
  const lines: [level: string, fields: object, message: string][] = [];
  const at = (level: string) => (fields: object, message: string) => void lines.push([level, fields, message]);
  const clock = { now: 0 };
  const log = { info: at('info'), warn: at('warn'), debug: at('debug'), isLevelEnabled: () => debug };
  return { lines, clock, decisions: createDecisionLog(log as never, () => clock.now) };
}

const DECISION: LoggedDecision = {
  kind: 'Kustomization',
  namespace: 'shop',
  name: 'web',
  reason: 'Suspended',
  message: 'held',
  key: 'a',
};

describe('a decision', () => {
  it('is a line with the object, the reason and the sentence', () => {
    const { lines, decisions } = written();
    decisions.decided({ ...DECISION, user: 'alice' });
    const fields = { kind: 'Kustomization', namespace: 'shop', name: 'web', reason: 'Suspended', user: 'alice' };
    expect(lines).toEqual([['info', fields, 'held']]);
  });

  it('of a cluster-scoped object has no namespace', () => {
    const { lines, decisions } = written();
    decisions.decided({ ...DECISION, namespace: '' });
    expect(Object.keys(lines[0]![1])).not.toContain('namespace');
  });

  it('is logged once for each key', () => {
    const { lines, decisions } = written();
    for (const key of ['a', 'a', 'b', 'a']) decisions.decided({ ...DECISION, key });
    expect(lines).toHaveLength(2);
  });

  it('is remembered without its text, which any user can make long', () => {
    setFlagsFromString('--expose-gc');
    const heap = () => {
      runInNewContext('gc')();
      return process.memoryUsage().heapUsed / 2 ** 20;
    };
    const { decisions } = written();
    const before = heap();
    for (let i = 0; i < 64; i++) decisions.decided({ ...DECISION, key: `${i} ${'x'.repeat(2 ** 20)}` });
    expect(heap() - before).toBeLessThan(16);
  });

  it('changes after its time', () => {
    const { lines, clock, decisions } = written();
    const after = [0, 999, 1000, 1001, 2000].map((now) => {
      clock.now = now;
      decisions.decided({ ...DECISION, againAfterMs: 1000 });
      return lines.length;
    });
    expect(after).toEqual([1, 1, 2, 2, 3]);
  });

  it('that costs its author nothing is logged sixty times a minute, for each namespace and reason', () => {
    const { lines, clock, decisions } = written();
    const deny = (count: number, namespace = 'shop') => {
      const before = lines.length;
      for (let i = 0; i < count; i++) {
        decisions.decided({
          ...DECISION,
          namespace,
          reason: 'Denied',
          key: `${namespace} ${clock.now} ${i}`,
          isRateLimited: true,
        });
      }
      return lines.slice(before).map(([level]) => level);
    };
    expect(deny(60)).toEqual(Array(60).fill('info'));
    clock.now = 1;
    expect(deny(100)).toEqual(['warn']);
    expect(lines.at(-1)?.[2]).toBe('more than 60 lines in this minute: further ones are not logged');
    expect(deny(1, 'other')).toEqual(['info']);
    clock.now = 60_000;
    expect(deny(1)).toEqual(['info']);
  });
});

it('an Event is a decision, once for its object and key', () => {
  const { lines, decisions } = written();
  const regarding = objectOf('Gate', { metadata: { namespace: 'shop', name: 'freeze', uid: 'u' }, spec: {} as never });
  const event = { regarding, type: 'Warning', reason: 'GateClosed', message: 'closed', key: 'k', at: 0 } as const;
  for (const again of [event, event, { ...event, key: 'k2' }]) loggedEvents(decisions).record(again);
  const fields = { kind: 'Gate', namespace: 'shop', name: 'freeze', reason: 'GateClosed' };
  expect(lines).toEqual([
    ['warn', fields, 'closed'],
    ['warn', fields, 'closed'],
  ]);
});

it('a considered decision costs nothing below level debug', () => {
  const quiet = written();
  quiet.decisions.considered(() => {
    throw new Error('made for nobody');
  });
  const talkative = written(true);
  talkative.decisions.considered(() => ({
    kind: 'Gate',
    namespace: 'shop',
    name: 'freeze',
    hook: 'gate',
    message: 'sync',
  }));
  expect(talkative.lines).toEqual([
    ['debug', { kind: 'Gate', namespace: 'shop', name: 'freeze', hook: 'gate' }, 'sync'],
  ]);
});
