/** Sends each new record of an object once, and reports gaps. */
import { describe, expect, it } from 'vitest';
import { AuditStream, type KindChange, WATCHED } from '../../audit/auditStream.ts';
import type { CloudEvent } from '../../core/audit/cloudEvent.ts';
import { formatAcceptedRequests } from '../../core/gate/gateRequests.ts';

const AT = Date.parse('2026-03-04T10:00:00Z');

function streamOf(send?: (event: CloudEvent) => Promise<void>) {
  const sent: string[] = [];
  let gaps = 0;
  let now = AT;
  const stream = new AuditStream({
    source: '/test',
    now: () => (now += 1000),
    send:
      send ??
      (async ({ type, subject, data }) => {
        const { version } = ('customData' in data ? data.customData : data) as { version?: string };
        sent.push([type.split('.').slice(2, 4).join('.'), subject, version].filter(Boolean).join(' '));
      }),
    missed: () => {
      gaps += 1;
    },
  });
  const taken = async (kind: string, change: KindChange) => {
    sent.length = 0;
    await stream.take(kind, change);
    return [...sent];
  };
  return { stream, taken, gaps: () => gaps };
}

const rollout = (name: string, tags: string[], approvals: object[] = []) => ({
  apiVersion: 'kuberik.com/v1alpha1',
  kind: 'Rollout',
  metadata: { namespace: 'shop', name },
  status: {
    history: tags.map((tag, index) => ({
      id: tags.length - index,
      version: { tag },
      timestamp: `2026-03-0${tags.length - index}T10:00:00Z`,
      bakeStatus: 'Succeeded',
      approvals,
    })),
  },
});
const closed = (at: number) => ({
  apiVersion: 'gating.toolkit.fluxcd.io/v1alpha1',
  kind: 'Gate',
  metadata: {
    namespace: 'flux-system',
    name: 'freeze',
    annotations: {
      'gate.fluxcd.io/accepted-request': formatAcceptedRequests({
        current: { action: 'close', at, by: 'sre', reason: 'INC-7' },
        handled: {},
      })!,
    },
  },
  spec: {},
});

describe('changes of objects', () => {
  it('send new records of an object, oldest first, and a gap after a list', async () => {
    const { taken, gaps } = streamOf();
    expect(await taken('Rollout', { type: 'all', items: [rollout('web', ['1.1.0', '1.0.0'])] })).toEqual([
      'service.deployed Rollout/shop/web 1.0.0',
      'service.upgraded Rollout/shop/web 1.1.0',
      'audit.Gap Rollout',
    ]);
    expect(await taken('Rollout', { type: 'set', object: rollout('web', ['1.2.0', '1.1.0', '1.0.0']) })).toEqual([
      'service.upgraded Rollout/shop/web 1.2.0',
    ]);
    expect(gaps()).toBe(1);
  });

  it('send two deployments of one second in their order', async () => {
    const { taken } = streamOf();
    const object = rollout('web', ['1.1.0', '1.0.0']);
    for (const entry of object.status.history) entry.timestamp = '2026-03-04T10:00:00Z';
    expect(await taken('Rollout', { type: 'set', object })).toEqual([
      'service.deployed Rollout/shop/web 1.0.0',
      'service.upgraded Rollout/shop/web 1.1.0',
    ]);
  });

  it('send nothing twice: neither after another list, nor when a bake ends', async () => {
    const { taken } = streamOf();
    await taken('Rollout', { type: 'set', object: rollout('web', ['1.0.0']) });
    const failed = rollout('web', ['1.0.0']);
    failed.status.history[0]!.bakeStatus = 'Failed';
    expect(await taken('Rollout', { type: 'set', object: failed })).toEqual([]);
    expect(await taken('Rollout', { type: 'all', items: [failed] })).toEqual(['audit.Gap Rollout']);
  });

  it('send a request that another replaces before a hook handles it', async () => {
    const { taken } = streamOf();
    expect(await taken('Gate', { type: 'set', object: closed(AT) })).toEqual(['audit.Closed Gate/flux-system/freeze']);
    expect(await taken('Gate', { type: 'set', object: closed(AT + 60_000) })).toHaveLength(1);
  });

  it('send an opening once that fifty histories record, and again only after all have dropped it', async () => {
    const { taken } = streamOf();
    const opening = [{ gate: 'flux-system/freeze', at: '2026-03-01T09:00:00Z', by: 'sre' }];
    const items = ['a', 'b'].map((name) => rollout(name, ['1.0.0'], opening));
    const opened = (lines: string[]) => lines.filter((line) => line.startsWith('audit.Opened'));
    expect(opened(await taken('Rollout', { type: 'all', items }))).toHaveLength(1);
    await taken('Rollout', { type: 'gone', object: items[0]! });
    expect(opened(await taken('Rollout', { type: 'set', object: items[1]! }))).toEqual([]);
    await taken('Rollout', { type: 'gone', object: items[1]! });
    expect(opened(await taken('Rollout', { type: 'set', object: items[1]! }))).toHaveLength(1);
  });

  it('drop objects that a list no longer has', async () => {
    const { taken } = streamOf();
    await taken('Rollout', { type: 'all', items: [rollout('web', ['1.0.0'])] });
    await taken('Rollout', { type: 'all', items: [] });
    expect(await taken('Rollout', { type: 'set', object: rollout('web', ['1.0.0']) })).toHaveLength(1);
  });

  describe('of Events', () => {
    const withdrawn = {
      metadata: { namespace: 'shop', name: 'qa.1' },
      involvedObject: { kind: 'RolloutGate', namespace: 'shop', name: 'qa' },
      reason: 'ApprovalWithdrawn',
      message: 'The approval of 1.2.0 by bob no longer counts',
      firstTimestamp: '2026-03-04T10:00:00Z',
      source: { component: 'rollout-controller' },
    };
    const eventsOf = async (change: object) => {
      const events: CloudEvent[] = [];
      const { stream } = streamOf(async (event) => void events.push(event));
      await stream.take('Event', { type: 'set', object: { ...withdrawn, ...change } as never });
      return events;
    };

    it('send an approval that was withdrawn', async () => {
      const { taken } = streamOf();
      expect(await taken('Event', { type: 'set', object: withdrawn as never })).toEqual([
        'audit.ApprovalWithdrawn RolloutGate/shop/qa',
      ]);
    });

    it.each<[string, object]>([
      ['another kind', { involvedObject: { kind: 'Gate\u0000\n', namespace: 'shop', name: 'qa' } }],
      ['no kind of ours', { involvedObject: { kind: 'Pod', namespace: 'shop', name: 'qa' } }],
      ['a name that no object can have', { involvedObject: { kind: 'Gate', namespace: 'shop', name: 'q\u0000a' } }],
      ['a namespace that can’t be', { involvedObject: { kind: 'Gate', namespace: 'Shop!', name: 'qa' } }],
      ['a time that is none', { firstTimestamp: 'yesterday' }],
      ['a reason of every object', { reason: 'constructor' }],
    ])('send none with %s: only a forger writes it', async (_, change) => {
      expect(await eventsOf(change)).toEqual([]);
    });

    it.each([
      ['1.2.0', '1.2.0'],
      ['no tag', undefined],
    ])(
      'send the version %s if it can be one: only then is it one act with the deployment of that version',
      async (version, expected) => {
        const metadata = { ...withdrawn.metadata, annotations: { 'kuberik.com/version': version } };
        const [sent] = await eventsOf({ metadata });
        expect((sent!.data as { version?: string }).version).toBe(expected);
      },
    );

    it('send no control characters or endless values of a forger', async () => {
      const involvedObject = { ...withdrawn.involvedObject, resourceVersion: '9'.repeat(1000) };
      const [sent] = await eventsOf({ involvedObject, message: 'withdrawn\u0000\u001b[2J' });
      expect(sent!.data).toMatchObject({ detail: 'withdrawn [2J' });
      expect(sent!.data).not.toHaveProperty('resourceVersion');
    });
  });

  it('report since when a kind is not watched', async () => {
    const events: CloudEvent[] = [];
    const { stream } = streamOf(async (event) => void events.push(event));
    await stream.take('Gate', { type: 'all', items: [] });
    await stream.take('Gate', { type: 'all', items: [] });
    expect(events.map(({ data }) => data)).toEqual([
      { kind: 'Gate', to: '2026-03-04T10:00:02Z' },
      { kind: 'Gate', from: '2026-03-04T10:00:01Z', to: '2026-03-04T10:00:04Z' },
    ]);
  });
});

it('watch the objects of `kubectl rollouts audit`, and Events of acts that no object records', () => {
  const kinds = WATCHED.map(({ kind }) => kind);
  expect(kinds).toEqual(expect.arrayContaining(['Rollout', 'RolloutGate', 'Gate', 'ClusterRolloutBudget', 'Bucket']));
  expect(WATCHED.filter(({ fieldSelector }) => fieldSelector)).toEqual([
    {
      kind: 'Event',
      apiVersion: 'v1',
      resource: 'events',
      fieldSelector: 'reason=ApprovalWithdrawn,source=rollout-controller',
    },
  ]);
});
