import { describe, expect, it } from 'vitest';
import {
  type HealthStatus,
  healthyUntil,
  resetStatus,
  statusAfter,
  type Verdict,
} from '../../../core/health/healthStatus.ts';
import { requeueInterval } from '../../../core/health/kustomizationCheck.ts';
import { objectIn } from '../../manifests/files.ts';

const at = (time: string) => `2026-01-02T${time}Z`;
const ms = (time: string) => Date.parse(at(time));
const NOW = ms('12:00:00');

const unhealthy = (failedAt?: string): Verdict => ({
  health: 'Unhealthy',
  message: 'bad',
  ...(failedAt && { failedAt: ms(failedAt) }),
});
const ABSENT: Verdict = { health: 'Unhealthy', message: 'gone', absent: true };
const HEALTHY: Verdict = { health: 'Healthy', message: 'good' };
const UNKNOWN: Verdict = { health: 'Unknown', message: 'no answer' };
const UNREAD: Verdict = { ...UNKNOWN, mayBeAbsent: true };

/** A status with the times of its last change, last error and last Healthy. */
const is = (status: string, message?: string, ...[changed, error, healthy]: (string | undefined)[]): HealthStatus => ({
  status,
  ...(message && { message }),
  ...(changed && { lastChangeTime: at(changed) }),
  ...(error && { lastErrorTime: at(error) }),
  ...(healthy && { lastHealthyTime: at(healthy) }),
});
const good = (...times: (string | undefined)[]) => is('Healthy', 'good', ...times);
const bad = (...times: (string | undefined)[]) => is('Unhealthy', 'bad', ...times);
const gone = (...times: (string | undefined)[]) => is('Unhealthy', 'gone', ...times);
const waiting = (changed: string) => is('Pending', undefined, changed);
const NOON = '12:00:00';
const TEN = '10:00:00';
const ELEVEN = '11:00:00';
const RESET = resetStatus(undefined, ms(ELEVEN));
const RESET_UNREAD = is('Pending', `${RESET.message}. no answer`, ELEVEN);
const NEW_RESET = resetStatus(undefined, ms('11:59:00'));
const WAITING: Verdict = { health: 'Pending', message: 'behind', awaits: 'event' };
const FAILED = is('Unhealthy', undefined, ELEVEN, ELEVEN);
const still = (status: string) => `Still ${status}: not everything could be read. no answer`;
const TRYING: Verdict = { health: 'Pending', message: 'trying', awaits: 'attempt' };
const AGAIN: Verdict = { ...TRYING, awaits: 'repeat' };
const FLUX: Verdict = { health: 'Pending', message: 'flux', isSteady: true };
/** Steady since ten o'clock. */
const steady = (status: string, message: string, changed: string): HealthStatus => ({
  ...is(status, message, changed, undefined, status === 'Healthy' ? undefined : changed),
  steadySince: at(TEN),
});

describe('the status after a result', () => {
  const rows: [string, HealthStatus | undefined, Verdict, HealthStatus][] = [
    ['the first result', undefined, HEALTHY, good(NOON)],
    ['no change keeps its time', is('Healthy', 'old words', TEN), HEALTHY, good(TEN)],
    ['a wait for Flux, soon after a reset, is no news', NEW_RESET, WAITING, NEW_RESET],
    ['a wait for Flux, long after a reset', RESET, WAITING, is('Pending', 'behind', ELEVEN)],
    ['half a status: no time of change is made up', { status: 'Healthy' }, HEALTHY, good()],
    ['a failure that knows its time', waiting(TEN), unhealthy('11:40:00'), bad(NOON, '11:40:00')],
    ['a failure that does not began now', is('Healthy', undefined, undefined, TEN), unhealthy(), bad(NOON, NOON, NOON)],
    ['and goes on without moving its time', FAILED, unhealthy(), bad(ELEVEN, ELEVEN)],
    ['Q29: the time of the error never moves back', FAILED, unhealthy(TEN), bad(ELEVEN, ELEVEN)],
    ['what was never there has not failed', undefined, ABSENT, gone(NOON)],
    ['and still has not', gone(ELEVEN), ABSENT, gone(ELEVEN)],
    ['nor has what is not there yet when the version is deployed', RESET, ABSENT, gone(NOON)],
    ['an unread Kustomization may be absent', RESET, UNREAD, RESET_UNREAD],
    ['and has not failed if it is', RESET_UNREAD, ABSENT, gone(NOON)],
    ['a Kustomization with an unread object is not absent', RESET_UNREAD, UNKNOWN, is('Pending', 'no answer', ELEVEN)],
    ['nor is one that was read before', waiting(TEN), UNREAD, is('Pending', 'no answer', TEN)],
    ['what was there and is gone has failed', waiting(ELEVEN), ABSENT, gone(NOON, NOON)],
    ['a failure from the future counts as one of now', undefined, unhealthy('15:00:00'), bad(NOON, NOON)],
    [
      'a recovery keeps the time of the error for the bake that has not seen it yet',
      is('Unhealthy', undefined, '11:59:59', '11:59:59'),
      HEALTHY,
      good(NOON, '11:59:59'),
    ],
    ['Q27: a failed read leaves Healthy as it was', good(TEN), UNKNOWN, is('Healthy', still('Healthy'), TEN)],
    [
      'Q27: a failed read leaves Unhealthy as it was',
      FAILED,
      UNKNOWN,
      is('Unhealthy', still('Unhealthy'), ELEVEN, ELEVEN),
    ],
    ['Q27: a failed read makes nothing healthy', waiting(TEN), UNKNOWN, is('Pending', 'no answer', TEN)],
    ['and a status that nobody knows becomes Pending', { status: 'Fine' }, UNKNOWN, is('Pending', 'no answer', NOON)],
    [
      'a further attempt at what failed does not end the failure',
      FAILED,
      TRYING,
      is('Unhealthy', 'trying', ELEVEN, ELEVEN),
    ],
    ['what Flux applies once more stays Healthy, to the word', good(ELEVEN, TEN), AGAIN, good(ELEVEN, TEN)],
    [
      'work of Flux does not interrupt the health of the objects',
      good(TEN),
      FLUX,
      { ...steady('Pending', 'flux', NOON), healthySince: at(TEN) },
    ],
    ['nor does it at its end', steady('Pending', 'flux', ELEVEN), HEALTHY, steady('Healthy', 'good', NOON)],
    [
      'nor the next time',
      steady('Healthy', 'good', ELEVEN),
      FLUX,
      { ...steady('Pending', 'flux', NOON), healthySince: at(ELEVEN) },
    ],
    [
      'an object that is not ready does, and was healthy until now, however long Flux has worked',
      steady('Pending', 'flux', ELEVEN),
      TRYING,
      is('Pending', 'trying', ELEVEN, undefined, NOON),
    ],
    [
      'the objects are healthy again while Flux works',
      is('Pending', 'trying', ELEVEN, undefined, TEN),
      FLUX,
      { ...is('Pending', 'flux', ELEVEN, undefined, TEN), steadySince: at(NOON) },
    ],
    ['work of Flux before the first health begins nothing', RESET, FLUX, is('Pending', 'flux', ELEVEN)],
    ['but becomes Healthy only by a result', RESET, AGAIN, is('Pending', 'trying', ELEVEN)],
  ];

  it.each(rows)('%s', (_, before, result, after) => {
    const once = statusAfter(before, result, NOW);
    expect(once).toEqual(after);
    expect(statusAfter(once, result, NOW + 30_000), 'the same result later').toEqual(once);
  });
});

it('the objects of a check are healthy while only Flux works', () => {
  expect(healthyUntil(steady('Pending', 'flux', ELEVEN), NOW)).toBe(NOW);
  expect(healthyUntil(is('Pending', 'trying', ELEVEN, undefined, ELEVEN), NOW)).toBe(Date.parse(at(ELEVEN)));
});

describe('requeue interval', () => {
  it.each([
    [undefined, 30_000],
    ['1m', 60_000],
    ['5s', 5_000],
    ['1s', 5_000],
    ['soon', 30_000],
    ['', 30_000],
  ])('%s', (text, expected) => {
    const annotations = text === undefined ? undefined : { 'healthcheck.kuberik.com/requeue-interval': text };
    const healthCheck = { apiVersion: '', kind: '', metadata: { ...(annotations && { annotations }) } };
    expect(requeueInterval(healthCheck)).toBe(expected);
  });
});

it.each([
  ['seen', { health: 'Unhealthy', message: 'x'.repeat(20_000) } as Verdict],
  ['kept', { health: 'Unknown', message: 'x'.repeat(20_000) } as Verdict],
])('a message is no longer than the CRD takes: %s', (_name, result) => {
  const { versions } = objectIn('crds/kuberik.com_healthchecks.yaml').spec;
  const { maxLength } = versions[0].schema.openAPIV3Schema.properties.status.properties.message;
  const before = { status: 'Healthy', lastChangeTime: at('09:00:00') };
  expect(statusAfter(before, result, NOW).message).toHaveLength(maxLength);
});
