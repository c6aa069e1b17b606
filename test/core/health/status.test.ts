import { describe, expect, it } from 'vitest';
import {
  type HealthStatus,
  resetStatus,
  sameStatus,
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

describe('what a verdict makes of the status', () => {
  const rows: [string, HealthStatus | undefined, Verdict, HealthStatus][] = [
    ['the first verdict', undefined, HEALTHY, { status: 'Healthy', message: 'good', lastChangeTime: at('12:00:00') }],
    [
      'no change keeps the time of the last one',
      { status: 'Healthy', message: 'old words', lastChangeTime: at('09:00:00') },
      HEALTHY,
      { status: 'Healthy', message: 'good', lastChangeTime: at('09:00:00') },
    ],
    [
      'half a status: no time of change, and none is made up',
      { status: 'Healthy' },
      HEALTHY,
      { status: 'Healthy', message: 'good' },
    ],
    [
      'a failure that knows its time',
      { status: 'Pending', lastChangeTime: at('09:00:00') },
      unhealthy('11:40:00'),
      { status: 'Unhealthy', message: 'bad', lastChangeTime: at('12:00:00'), lastErrorTime: at('11:40:00') },
    ],
    [
      'a failure that does not began now',
      { status: 'Healthy', lastErrorTime: at('08:00:00') },
      unhealthy(),
      {
        status: 'Unhealthy',
        message: 'bad',
        lastChangeTime: at('12:00:00'),
        lastErrorTime: at('12:00:00'),
        lastHealthyTime: at('12:00:00'),
      },
    ],
    [
      'and goes on without moving its time',
      { status: 'Unhealthy', lastChangeTime: at('11:00:00'), lastErrorTime: at('11:00:00') },
      unhealthy(),
      { status: 'Unhealthy', message: 'bad', lastChangeTime: at('11:00:00'), lastErrorTime: at('11:00:00') },
    ],
    [
      'Q29: the time of the error never moves back',
      { status: 'Unhealthy', lastChangeTime: at('11:00:00'), lastErrorTime: at('11:00:00') },
      unhealthy('10:00:00'),
      { status: 'Unhealthy', message: 'bad', lastChangeTime: at('11:00:00'), lastErrorTime: at('11:00:00') },
    ],
    [
      'what was never there has not failed',
      undefined,
      ABSENT,
      { status: 'Unhealthy', message: 'gone', lastChangeTime: at('12:00:00') },
    ],
    [
      'and still has not',
      { status: 'Unhealthy', message: 'gone', lastChangeTime: at('11:00:00') },
      ABSENT,
      { status: 'Unhealthy', message: 'gone', lastChangeTime: at('11:00:00') },
    ],
    [
      'nor has what is not there yet when the version is deployed',
      resetStatus(undefined, ms('11:00:00')),
      ABSENT,
      { status: 'Unhealthy', message: 'gone', lastChangeTime: at('12:00:00') },
    ],
    [
      'what was there and is gone has failed',
      { status: 'Pending', lastChangeTime: at('11:00:00') },
      ABSENT,
      { status: 'Unhealthy', message: 'gone', lastChangeTime: at('12:00:00'), lastErrorTime: at('12:00:00') },
    ],
    [
      'a failure from the future counts as one of now',
      undefined,
      unhealthy('15:00:00'),
      { status: 'Unhealthy', message: 'bad', lastChangeTime: at('12:00:00'), lastErrorTime: at('12:00:00') },
    ],
    [
      'a time that does not parse is replaced',
      { status: 'Unhealthy', lastErrorTime: 'yesterday' },
      unhealthy(),
      { status: 'Unhealthy', message: 'bad', lastErrorTime: at('12:00:00') },
    ],
    [
      'a recovery keeps the time of the error for the bake that has not seen it yet',
      { status: 'Unhealthy', lastErrorTime: at('11:59:59'), lastChangeTime: at('11:59:59') },
      HEALTHY,
      { status: 'Healthy', message: 'good', lastErrorTime: at('11:59:59'), lastChangeTime: at('12:00:00') },
    ],
    [
      'Q27: a failed read leaves Healthy as it was',
      { status: 'Healthy', message: 'good', lastChangeTime: at('09:00:00') },
      UNKNOWN,
      {
        status: 'Healthy',
        message: 'Still Healthy: not everything could be read. no answer',
        lastChangeTime: at('09:00:00'),
      },
    ],
    [
      'Q27: a failed read leaves Unhealthy as it was',
      { status: 'Unhealthy', lastErrorTime: at('11:00:00'), lastChangeTime: at('11:00:00') },
      UNKNOWN,
      {
        status: 'Unhealthy',
        message: 'Still Unhealthy: not everything could be read. no answer',
        lastErrorTime: at('11:00:00'),
        lastChangeTime: at('11:00:00'),
      },
    ],
    [
      'Q27: a failed read makes nothing healthy',
      { status: 'Pending', lastChangeTime: at('09:00:00') },
      UNKNOWN,
      { status: 'Pending', message: 'no answer', lastChangeTime: at('09:00:00') },
    ],
    [
      'and a status that nobody knows becomes Pending',
      { status: 'Fine' },
      UNKNOWN,
      { status: 'Pending', message: 'no answer', lastChangeTime: at('12:00:00') },
    ],
    [
      'a further attempt at what failed does not end the failure',
      { status: 'Unhealthy', lastErrorTime: at('11:00:00'), lastChangeTime: at('11:00:00') },
      { health: 'Pending', message: 'trying', attempting: true },
      { status: 'Unhealthy', message: 'trying', lastErrorTime: at('11:00:00'), lastChangeTime: at('11:00:00') },
    ],
    [
      'what Flux applies once more stays Healthy, to the word',
      { status: 'Healthy', message: 'good', lastErrorTime: at('10:00:00'), lastChangeTime: at('11:00:00') },
      { health: 'Pending', message: 'trying', attempting: true, again: true },
      { status: 'Healthy', message: 'good', lastErrorTime: at('10:00:00'), lastChangeTime: at('11:00:00') },
    ],
    [
      'but becomes Healthy by nothing less than a verdict',
      resetStatus(undefined, ms('11:00:00')),
      { health: 'Pending', message: 'trying', attempting: true, again: true },
      { status: 'Pending', message: 'trying', lastChangeTime: at('11:00:00') },
    ],
    [
      'the first attempt is Pending',
      { status: 'Healthy', lastChangeTime: at('11:00:00') },
      { health: 'Pending', message: 'trying', attempting: true },
      { status: 'Pending', message: 'trying', lastChangeTime: at('12:00:00'), lastHealthyTime: at('12:00:00') },
    ],
  ];

  it.each(rows)('%s', (_, before, verdict, after) => {
    expect(statusAfter(before, verdict, NOW)).toEqual(after);
  });

  it.each(rows)('%s: said again later, it changes nothing', (_, before, verdict) => {
    const once = statusAfter(before, verdict, NOW);
    expect(sameStatus(statusAfter(once, verdict, NOW + 30_000), once)).toBe(true);
  });
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

it('a message that is cut amid an emoji is the same at the next look: Go has stored U+FFFD in place of the half', () => {
  const message = `${'x'.repeat(16_382)}\u{1f600}${'y'.repeat(10)}`;
  const after = statusAfter(undefined, { health: 'Unhealthy', message }, NOW);
  expect(after.message?.slice(-2)).toBe('\ufffd…');
});

it.each([
  ['seen', { health: 'Unhealthy', message: 'x'.repeat(20_000) } as Verdict],
  ['kept', { health: 'Unknown', message: 'x'.repeat(20_000) } as Verdict],
])('a message is no longer than the CRD takes: %s', (_name, verdict) => {
  const { versions } = objectIn('crds/kuberik.com_healthchecks.yaml').spec;
  const { maxLength } = versions[0].schema.openAPIV3Schema.properties.status.properties.message;
  const before = { status: 'Healthy', lastChangeTime: at('09:00:00') };
  expect(statusAfter(before, verdict, NOW).message).toHaveLength(maxLength);
});
