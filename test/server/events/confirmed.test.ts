/** An Event about a write is recorded once the cluster has the write. */
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../api/kubernetes.ts';
import type { EventRecord, StoredFact } from '../../../api/ports.ts';
import { fakeMetrics } from '../../../dev/fakes/ports.ts';
import { createConfirmedEvents } from '../../../server/events/confirmed.ts';
import { objectOf } from '../../support/objects.ts';

const BY = 'gate.fluxcd.io/bypassed-by';
const object = { apiVersion: 'kuberik.com/v1alpha1', resource: 'rollouts', namespace: 'apps', name: 'app' };
const stored: StoredFact = {
  object,
  uid: 'u',
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

/**
 * `seen`: the result of each read; the last one is repeated. `duringRead`: the read during which the requests come
 * again.
 */
async function recorded(
  fact: StoredFact | ((key: string) => StoredFact),
  seen: (KubeObject | undefined | Error)[],
  keys = ['bypass-1'],
  duringRead?: number,
) {
  const events: EventRecord[] = [];
  const { counts, metrics } = fakeMetrics();
  let looks = 0;
  let dropped = 0;
  const sink = createConfirmedEvents({
    events: { record: (each) => void events.push(each) },
    metrics,
    cluster: {
      get: async () => {
        const found = seen[Math.min(looks++, seen.length - 1)];
        if (looks === duringRead) request();
        if (found instanceof Error) throw found;
        return found as any;
      },
    },
    wait: async () => {},
    dropped: () => dropped++,
  });
  const count = { name: 'rollout_hooks_gate_bypasses_total', labels: {} } as const;
  const request = () => {
    for (const key of keys) sink.recordWhen(event(key), typeof fact === 'function' ? fact(key) : fact, count);
  };
  request();
  await new Promise(setImmediate);
  expect(counts, 'counted with its Event').toHaveLength(events.length);
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

  it('with a forged review of another object, by the same words, is recorded once', async () => {
    const uids = ['forged', 'u'];
    const facts = () => ({ ...stored, uid: uids.shift() });
    expect(await recorded(facts, [after], ['a', 'a'])).toEqual({ events: 1, looks: 2, dropped: 0 });
  });

  it('is read three more times if a request about it comes again: the first may have been forged', async () => {
    expect(await recorded(gone, [before, before, before, undefined], ['a'], 3)).toMatchObject({ events: 1, looks: 4 });
    expect(await recorded(gone, [before], ['a'], 2)).toEqual({ events: 0, looks: 6, dropped: 0 });
  });

  it.each([
    ['no object', undefined],
    ['another object', rollout({ uid: 'v', annotations: { [BY]: '2026-03-01T12:00:00Z alice' } })],
  ])('is read once where the cluster has %s: no API server has sent the request', async (_, found) => {
    expect(await recorded(stored, [found])).toEqual({ events: 0, looks: 1, dropped: 0 });
  });

  it('is read three times, for a hundred at once of one namespace, and a thousand of all', async () => {
    const keys = Array.from({ length: 1001 }, (_, i) => `${i}`);
    const ofMany = (key: string) => ({ ...stored, object: { ...object, namespace: `ns-${Number(key) % 50}` } });
    expect(await recorded(stored, [before], keys)).toEqual({ events: 0, looks: 300, dropped: 901 });
    expect(await recorded(ofMany, [before], keys)).toEqual({ events: 0, looks: 3000, dropped: 1 });
  });

  it('is dropped if those that wait would take megabytes: any client may send such requests', async () => {
    const keys = Array.from({ length: 20 }, (_, i) => `${i}${'x'.repeat(2 ** 19)}`);
    const ofMany = (key: string) => ({ ...stored, object: { ...object, namespace: `ns-${parseInt(key, 10) % 10}` } });
    expect((await recorded(stored, [before], keys)).dropped).toBe(17);
    expect((await recorded(ofMany, [before], keys)).dropped).toBe(5);
  });
});
