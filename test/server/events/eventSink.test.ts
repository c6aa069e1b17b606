import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { EventRecord } from '../../../api/ports.ts';
import { isObjectName } from '../../../core/kube/names.ts';
import {
  createEventSink,
  type EventsOptions,
  eventOf as namedEvent,
  type StoredEvent,
} from '../../../server/events/eventSink.ts';
import { objectOf } from '../../support/objects.ts';

const NEWS: EventRecord = {
  regarding: objectOf('Rollout', { metadata: { name: 'web', namespace: 'demo', uid: 'u1', resourceVersion: '7' } }),
  type: 'Normal',
  reason: 'DeploymentSucceeded',
  message: 'Successfully deployed version 1.1.0',
  key: 'deployed/7',
  at: Date.parse('2026-01-02T12:00:00.900Z'),
};

const KEY = Buffer.from('a secret of all replicas');
const eventOf = (record: EventRecord, taken = 0) => namedEvent(record, KEY, taken);

/** `find`: the stored Event; an equal one by default. */
function sink(
  create: (event: StoredEvent) => Promise<unknown>,
  find: EventsOptions['find'] = async () => eventOf(NEWS),
) {
  const drops: string[] = [];
  const warnings: object[] = [];
  const waits: number[] = [];
  const sent: EventRecord[] = [];
  const events = createEventSink({
    create,
    find,
    nameKey: () => KEY,
    dropped: (what) => drops.push(what),
    log: { warn: (fields) => warnings.push(fields) },
    wait: async (ms) => void waits.push(ms),
    notifier: { record: (record) => sent.push(record) },
  });
  const report = (record = NEWS) => {
    events.record(record);
    return events.idle();
  };
  return { ...events, report, drops, warnings, waits, sent };
}

const apiError = (code: number) => Object.assign(new Error(`code ${code}`), { code });

describe('an Event', () => {
  it('has the fields that clients of the Go controller expect', () => {
    expect(eventOf(NEWS)).toEqual({
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: expect.stringMatching(/^web\.[0-9a-f]{20}$/), namespace: 'demo' },
      involvedObject: {
        apiVersion: 'kuberik.com/v1alpha1',
        kind: 'Rollout',
        namespace: 'demo',
        name: 'web',
        uid: 'u1',
        resourceVersion: '7',
      },
      reason: 'DeploymentSucceeded',
      message: 'Successfully deployed version 1.1.0',
      type: 'Normal',
      source: { component: 'rollout-controller' },
      reportingComponent: 'rollout-controller',
      firstTimestamp: '2026-01-02T12:00:00Z',
      lastTimestamp: '2026-01-02T12:00:00Z',
      count: 1,
    });
  });

  it('names its version', () => {
    expect(eventOf({ ...NEWS, version: '1.1.0' }).metadata.annotations).toEqual({
      'kuberik.com/version': '1.1.0',
    });
  });

  it('has one name for one key and object, at any time', () => {
    const name = (change: Partial<EventRecord>, uid = 'u1') => {
      const regarding = { ...NEWS.regarding, metadata: { ...NEWS.regarding.metadata, uid } };
      return eventOf({ ...NEWS, regarding, ...change }).metadata.name;
    };
    expect(name({ at: NEWS.at + 60_000, message: 'in other words' })).toBe(name({}));
    expect(name({ key: 'deployed/8' })).not.toBe(name({}));
    expect(name({}, 'u2')).not.toBe(name({}));
  });

  it('has a name that can’t be guessed without the secret', () => {
    const names = [KEY, Buffer.from('another')].map((key) => namedEvent(NEWS, key).metadata.name);
    expect(new Set(names).size).toBe(2);
  });

  it('has its order in front of that: of one second, kubectl lists Events by name', () => {
    const names = ['d00000001.3', 'd00000001.4'].map(
      (order, i) => eventOf({ ...NEWS, key: `${9 - i}`, order }).metadata.name,
    );
    expect(names[0]).toMatch(/^web\.d00000001\.3\.[0-9a-f]{20}$/);
    expect([...names].sort()).toEqual(names);
  });

  it('keeps to the lengths the API server allows', () => {
    const regarding = { ...NEWS.regarding, metadata: { name: 'n'.repeat(253), namespace: 'demo' } };
    const event = eventOf({ ...NEWS, regarding, order: 'd00000001r69a3c5d0.3', message: 'm'.repeat(5000) });
    expect(event.metadata.name!.length).toBeLessThanOrEqual(253);
    expect(event.message.length).toBe(1024);
  });

  it.each(['-', '--', '.'])('has a name that the API server takes if %j is where a long one is cut', (mark) => {
    for (let before = 200; before < 252; before++) {
      const name = `${'n'.repeat(before)}${mark}${'n'.repeat(253 - before - mark.length)}`;
      const event = eventOf({ ...NEWS, regarding: { ...NEWS.regarding, metadata: { name, namespace: 'demo' } } });
      expect(event.metadata.name).toSatisfy(isObjectName);
    }
  });

  it('has no line break or terminal sequence from others', () => {
    const message = 'Deployed 1.1.0\n\nAll gates are passing \u001b[2J\u202e';
    expect(eventOf({ ...NEWS, message }).message).toBe('Deployed 1.1.0 All gates are passing  [2J ');
  });

  it('has the commands of its record', () => {
    const commands = [['To see why', 'kubectl rollouts why web -n demo']] as const;
    expect(eventOf({ ...NEWS, commands }).message).toContain('To see why:\n  kubectl rollouts why web -n demo');
  });

  it('of a cluster-scoped object is in default', () => {
    const regarding = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' } };
    const event = eventOf({ ...NEWS, regarding });
    expect(event.metadata.namespace).toBe('default');
    expect(event.involvedObject.namespace).toBeUndefined();
  });
});

describe('recording', () => {
  it('writes each report once', async () => {
    const created: string[] = [];
    const events = sink(async (event) => created.push(event.metadata.name!));
    events.record(NEWS);
    events.record(NEWS);
    events.record({ ...NEWS, key: 'deployed/8' });
    await events.idle();
    expect(created).toEqual([eventOf(NEWS).metadata.name, eventOf({ ...NEWS, key: 'deployed/8' }).metadata.name]);
  });

  describe('under a name that exists', () => {
    const store = (...events: StoredEvent[]) => {
      const stored = new Map(events.map((event) => [event.metadata.name, event]));
      return {
        stored,
        create: async (event: StoredEvent) => {
          if (stored.has(event.metadata.name)) throw apiError(409);
          stored.set(event.metadata.name, event);
        },
        find: async ({ name }: { name: string }) => stored.get(name),
      };
    };
    const forged: [string, Partial<StoredEvent>][] = [
      ['a message', { message: 'nothing to see here' }],
      ['a reason', { reason: 'Other' }],
      ['a type', { type: 'Warning' }],
      ['a source', { source: { component: 'kubelet' } }],
      ['a controller', { reportingComponent: 'x' }],
      ['an object', { involvedObject: { ...eventOf(NEWS).involvedObject, uid: 'u2' } }],
    ];

    it.each(forged)('with an Event with %s of its own, uses another name, and notifies', async (_, other) => {
      const { stored, create, find } = store({ ...eventOf(NEWS), ...other });
      const events = sink(create, find);
      await events.report();
      expect([...stored.values()].slice(1)).toEqual([eventOf(NEWS, 1)]);
      expect(eventOf(NEWS, 1).metadata.name).not.toBe(eventOf(NEWS).metadata.name);
      expect(events.sent).toEqual([NEWS]);
      const { name } = eventOf(NEWS).metadata;
      expect(events.warnings).toEqual([{ namespace: 'demo', name: 'web', reason: 'DeploymentSucceeded', event: name }]);
    });

    it('with another replica’s record under that other name, it sends no second notification', async () => {
      const { stored, create, find } = store({ ...eventOf(NEWS), message: 'forged' }, eventOf(NEWS, 1));
      const events = sink(create, find);
      await events.report();
      expect([stored.size, events.sent, events.drops]).toEqual([2, [], []]);
    });

    it('five times, is given up, and notifies all the same', async () => {
      const taken = [0, 1, 2, 3, 4].map((count) => ({ ...eventOf(NEWS, count), message: 'forged' }));
      const { stored, create, find } = store(...taken);
      const events = sink(create, find);
      await events.report();
      expect([stored.size, events.sent, events.drops]).toEqual([5, [NEWS], ['events']]);
    });

    it('that went away before it was compared, is created', async () => {
      let isThere = true;
      const created: StoredEvent[] = [];
      const events = sink(
        async (event) => {
          if (isThere) throw apiError(409);
          created.push(event);
        },
        async () => {
          isThere = false;
          return undefined;
        },
      );
      await events.report();
      expect(created).toEqual([eventOf(NEWS)]);
    });

    it('without the right to read, notifies', async () => {
      const events = sink(
        () => Promise.reject(apiError(409)),
        () => Promise.reject(apiError(403)),
      );
      await events.report();
      expect([events.sent, events.drops]).toEqual([[NEWS], ['events']]);
    });
  });

  it('takes a name for success that the same Event has', async () => {
    const events = sink(() => Promise.reject(apiError(409)));
    await events.report();
    expect(events.drops).toEqual([]);
  });

  it.each([0, 429, 500, 503])('retries after code %i, and gives up after half a minute', async (code) => {
    let calls = 0;
    const events = sink(() => {
      calls += 1;
      return Promise.reject(apiError(code));
    });
    await events.report();
    expect({ calls, waits: events.waits, drops: events.drops }).toEqual({
      calls: 6,
      waits: [1000, 2000, 4000, 8000, 16_000],
      drops: ['events'],
    });
  });

  it('reports lasting Forbidden after one retry, and retries with the next event', async () => {
    let calls = 0;
    const events = sink(() => {
      calls += 1;
      return Promise.reject(apiError(403));
    });
    await events.report();
    expect(events.warnings).toEqual([
      { namespace: 'demo', name: 'web', reason: 'DeploymentSucceeded', why: 'code 403' },
    ]);
    expect({ calls, waits: events.waits }).toEqual({ calls: 2, waits: [5000] });
    await events.report();
    expect(calls).toBe(4);
  });

  it.each([
    'events "web.1" is forbidden: exceeded quota: events, requested: count/events=1, used: 9, limited: 9',
    'events "web.1" is forbidden: unable to create new content in namespace demo because it is being terminated',
  ])('gives up at once where the namespace takes no Events: %s', async (message) => {
    const events = sink(() => Promise.reject(Object.assign(new Error(message), { code: 403 })));
    await events.report();
    expect({ waits: events.waits, drops: events.drops, sent: events.sent }).toEqual({
      waits: [],
      drops: ['events'],
      sent: [NEWS],
    });
  });

  describe('beside a namespace whose Events hang', () => {
    const of = (namespace: string, key: string): EventRecord => ({
      ...NEWS,
      regarding: { ...NEWS.regarding, metadata: { ...NEWS.regarding.metadata, namespace } },
      key,
    });
    const hanging = () => {
      const created: string[] = [];
      const events = sink(async ({ metadata: { namespace } }) => {
        if (namespace === 'hangs') return new Promise(() => {});
        created.push(namespace!);
      });
      return { ...events, created };
    };

    it('writes those of others', async () => {
      const events = hanging();
      for (let i = 0; i < 100; i++) events.record(of('hangs', `${i}`));
      events.record(of('demo', 'a'));
      await turn();
      expect(events.created).toEqual(['demo']);
    });

    it('drops its Events, not those of others, when too many wait', async () => {
      const events = hanging();
      for (let i = 0; i < 1002; i++) events.record(of('hangs', `${i}`));
      expect(events.drops).toEqual([]);
      events.record(of('demo', 'a'));
      await turn();
      expect({ created: events.created, drops: events.drops, dropped: events.warnings }).toEqual({
        created: ['demo'],
        drops: ['events'],
        dropped: [expect.objectContaining({ namespace: 'hangs', why: 'too many events are waiting' })],
      });
    });
  });

  it('drops excess events and never throws', async () => {
    let release = () => {};
    const blocked = new Promise<void>((resolve) => {
      release = resolve;
    });
    const events = sink(() => blocked);
    for (let i = 0; i < 1500; i++) events.record({ ...NEWS, key: String(i) });
    expect(events.drops.length).toBe(498);
    release();
    await events.idle();
  });

  it.each([
    { answers: [201], tells: true, who: 'the replica that wrote the Event' },
    { answers: [409], tells: false, who: 'no replica that found it there' },
    { answers: [0, 409], tells: true, who: 'the one whose answer was lost' },
    { answers: [403, 201], tells: true, who: 'one that an API server forbade it while it started' },
    { answers: [403, 403], tells: true, who: 'one that may write none' },
  ])('tells people once: $who', async ({ answers, tells }) => {
    const left = [...answers];
    const events = sink(() => {
      const code = left.shift()!;
      return code === 201 ? Promise.resolve() : Promise.reject(apiError(code));
    });
    await events.report();
    if (answers.at(-1) !== 403) await events.report();
    expect(events.sent).toEqual(tells ? [NEWS] : []);
  });

  it('survives a create that throws at once', async () => {
    const events = sink(() => {
      throw new Error('broken');
    });
    await events.report();
    expect(events.drops).toEqual(['events']);
  });
});
