/** An Event about a write is recorded once the cluster has the write. */
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../api/kubernetes.ts';
import type { EventRecord, StoredFact } from '../../../api/ports.ts';
import { createConfirmedEvents } from '../../../server/events/confirmed.ts';
import { objectOf } from '../../support/objects.ts';

const BY = 'gate.fluxcd.io/bypassed-by';
const object = { apiVersion: 'kuberik.com/v1alpha1', resource: 'rollouts', namespace: 'apps', name: 'app' };
const stored: StoredFact = {
  object,
  annotations: [{ [BY]: '2026-03-01T12:00:00Z alice' }, { [BY]: 'earlier: 2026-03-01T12:00:00Z alice: INC-1' }],
};
const gone: StoredFact = { object, gone: true, uid: 'u' };
const rollout = (metadata: KubeObject['metadata']): KubeObject =>
  objectOf('Rollout', { metadata: { name: 'app', namespace: 'apps', uid: 'u', ...metadata } });
const event = (key = 'bypass-1'): EventRecord => ({
  regarding: rollout({}),
  type: 'Warning',
  reason: 'GateBypassed',
  message: 'alice bypassed apps/freeze',
  key,
  at: 0,
});

/** `seen`: the result of each read; the last one is repeated. */
async function recorded(fact: StoredFact, seen: (KubeObject | undefined | Error)[], keys = ['bypass-1']) {
  const events: EventRecord[] = [];
  let looks = 0;
  let dropped = 0;
  const sink = createConfirmedEvents({
    events: { record: (each) => void events.push(each) },
    cluster: {
      get: async () => {
        const found = seen[Math.min(looks++, seen.length - 1)];
        if (found instanceof Error) throw found;
        return found as any;
      },
    },
    wait: async () => {},
    dropped: () => dropped++,
  });
  for (const key of keys) sink.recordWhen(event(key), fact);
  await new Promise(setImmediate);
  return { events: events.length, looks, dropped };
}

const before = rollout({});
const after = rollout({ annotations: { [BY]: '2026-03-01T12:00:00Z alice' } });
const ended = rollout({ annotations: { [BY]: 'earlier: 2026-03-01T12:00:00Z alice: INC-1' } });
const later = rollout({ annotations: { [BY]: '2026-03-01T12:00:01Z alice' } });

describe('a bypass', () => {
  it.each<[string, StoredFact, (KubeObject | undefined | Error)[], number]>([
    ['is recorded when the object is stored with its record', stored, [after], 1],
    ['also when the next write has removed its reason', stored, [ended], 1],
    ['also when that takes a moment', stored, [before, before, after], 1],
    ['also after a read that failed', stored, [new Error('no answer'), after], 1],
    ['is not when the write never came: a forged review, or one that failed later', stored, [before], 0],
    ['is not when another write came', stored, [later], 0],
    ['is not when there is no such object', stored, [undefined], 0],
    ['is recorded when the object is gone', gone, [before, undefined], 1],
    ['or on its way', gone, [rollout({ deletionTimestamp: '2026-03-01T12:00:00Z' })], 1],
    ['or another one has its name', gone, [rollout({ uid: 'v' })], 1],
    ['is not while the object is still there', gone, [before], 0],
  ])('%s', async (_what, fact, seen, events) => {
    expect((await recorded(fact, seen)).events).toBe(events);
  });

  it('is counted as dropped when the cluster could not be read to the end', async () => {
    expect(await recorded(stored, [new Error('no answer')])).toEqual({ events: 0, looks: 3, dropped: 1 });
    expect(await recorded(stored, [new Error('no answer'), before])).toEqual({ events: 0, looks: 3, dropped: 0 });
  });

  it('with two callers is read once', async () => {
    expect(await recorded(stored, [after], ['a', 'a'])).toEqual({ events: 1, looks: 1, dropped: 0 });
  });

  it('is read three times, and for a thousand at once', async () => {
    const keys = Array.from({ length: 1001 }, (_, i) => `${i}`);
    expect(await recorded(stored, [before], keys)).toEqual({ events: 0, looks: 3000, dropped: 1 });
  });
});
