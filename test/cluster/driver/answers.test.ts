/** Requirements of the hooks for their driver: answers, and when they are requested. */
import { describe, expect, it } from 'vitest';
import { sharedCluster, staysTrue, waitFor } from '../support/cluster.ts';
import { drivenThings } from './drivenThings.ts';

const cluster = sharedCluster();
const { composite, thing, statusOf, calls } = await drivenThings(cluster);

describe('answers', () => {
  it.each([
    { what: 'an unknown field', body: { status: { wrong: true }, attachments: [] } },
    { what: 'a status of the wrong type', body: { status: 'wrong' } },
    { what: 'another code than 200', code: 201, body: { status: { wrong: true } } },
  ])('$what fails the sync, which is tried again', async ({ what, body, code }) => {
    const name = what.replaceAll(' ', '-');
    const controller = await composite({}, (_request, call) =>
      call <= 2 ? { status: code, body } : { body: { status: { right: true } } },
    );
    await thing(name, controller);
    await waitFor(() => statusOf(name), 'a status');
    expect(await statusOf(name)).toEqual({ right: true, observedGeneration: 1 });
  });

  it('429 with Retry-After puts the sync off for that long', async () => {
    const times: number[] = [];
    const controller = await composite({}, (_request, call) => {
      times.push(Date.now());
      return call === 1 ? { status: 429, headers: { 'Retry-After': '2' } } : { body: { status: {} } };
    });
    await thing('too-many', controller);
    await waitFor(() => times.length >= 2, 'the second call');
    expect(times[1]! - times[0]!).toBeGreaterThanOrEqual(1990);
  });

  it('resyncAfterSeconds brings one more sync, after fractions of a second too', async () => {
    const controller = await composite({}, ({ parent }, call) => ({
      body: { status: parent.status ?? {}, resyncAfterSeconds: call <= 3 ? 0.3 : 0 },
    }));
    await thing('resync', controller);
    await waitFor(() => calls(controller.path).length >= 4, 'the syncs that were asked for');
    await staysTrue(() => calls(controller.path).length <= 5, 'no more of them', 1500);
  });

  it('resyncAfterSeconds beyond 64 bits of nanoseconds brings the next sync at once, below it none', async () => {
    const beyond = await composite({}, ({ parent }, call) => ({
      body: { status: parent.status ?? {}, resyncAfterSeconds: call <= 5 ? 2 ** 63 / 1e9 : 9e9 },
    }));
    await thing('beyond', beyond);
    await waitFor(() => calls(beyond.path).length >= 6, 'the syncs that nobody wants');
    await staysTrue(() => calls(beyond.path).length <= 7, 'no more of them', 1500);
  });
});
