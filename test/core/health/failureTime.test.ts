/** The time at which an object failed. K18 to K23 are cases of the Go controller's test suite. */
import { expect, it } from 'vitest';
import { failureTime } from '../../../core/health/objects/broken.ts';
import { evaluated, failedAt as failedObject, failing, ms } from './kustomizationFixture.ts';

const at = (time: string) => `2026-01-02T${time}Z`;
const condition = (type: string, status: string, time?: string) => ({
  type,
  status,
  ...(time && { lastTransitionTime: at(time) }),
});

it.each([
  ['K18 no conditions: no time', [], undefined],
  [
    'K19 the newest where none is Stalled',
    [condition('Available', 'True', '10:00:00'), condition('Progressing', 'True', '11:00:00')],
    '11:00:00',
  ],
  [
    'K20 Stalled goes before newer ones',
    [condition('Stalled', 'True', '10:00:00'), condition('Available', 'True', '15:00:00')],
    '10:00:00',
  ],
  [
    'K21 what is not Stalled does not',
    [condition('Stalled', 'False', '09:00:00'), condition('Progressing', 'False', '10:00:00')],
    '10:00:00',
  ],
  [
    'what Flux is about to try again has not failed again',
    [condition('Ready', 'False', '10:00:00'), condition('Reconciling', 'True', '11:00:00')],
    '10:00:00',
  ],
  ['K22 the only one', [condition('Progressing', 'False', '12:00:00')], '12:00:00'],
  ['K23 without a time there is none', [condition('Progressing', 'False')], undefined],
])('%s', (_, conditions, expected) => {
  const object = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: {}, status: { conditions } };
  expect(failureTime(object)).toBe(expected === undefined ? undefined : Date.parse(at(expected)));
});

/** The deployment, or its retry, was at 11:50, and it is 12:00. */
it.each([
  ['at the deadline after a deployment that it has failed before', '11:40:00', '11:50:00', '12:00:00'],
  ['as before, until then', '11:40:00', '11:50:01', '11:40:00'],
  ['at its own time, after the deployment', '11:51:00', '11:50:00', '11:51:00'],
  ['at its own time, without a deployment', '11:40:00', undefined, '11:40:00'],
])('an object has failed %s', (_, failed, cutoff, expected) => {
  const { result } = evaluated({ observed: [failedObject(failed)], cutoff: cutoff === undefined ? null : ms(cutoff) });
  expect(result).toMatchObject({ health: 'Unhealthy', failedAt: ms(expected) });
});

it('a wait that Flux gives up at once, because an object had failed before, is no failure of a retry', () => {
  const attempt = { lastReconciledDuration: '5s', lastReconciledStatus: 'HealthCheckFailed' };
  const kustomization = failing('HealthCheckFailed', { attempt: { ...attempt, lastReconciled: at('11:55:00') } });
  const verdict = (observed: string) =>
    evaluated({ kustomization, observed: [failedObject(observed)], cutoff: ms('11:50:01') }).result;
  expect(verdict('11:40:00')).toMatchObject({
    health: 'Pending',
    message: expect.stringMatching(/version before: demo/),
  });
  expect(verdict('11:54:00')).toMatchObject({ health: 'Unhealthy', failedAt: ms('11:55:00') });
});

it('of a Workflow of Argo, whose conditions have no time, is its end', () => {
  const status = { phase: 'Failed', finishedAt: at('10:00:00'), conditions: [condition('Completed', 'True')] };
  const object = { apiVersion: 'argoproj.io/v1alpha1', kind: 'Workflow', metadata: {}, status };
  expect(failureTime(object)).toBe(Date.parse(at('10:00:00')));
});
