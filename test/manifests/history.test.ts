/** What the API server refuses of a write of a Rollout's status, by the CRD and by manifests/policies. */
import { expect, it } from 'vitest';
import type { AnyObject } from '../../dev/client/send.ts';
import { requestOf } from '../../dev/fakes/requests.ts';
import { enforcePolicies } from '../../dev/sim/apiServer/admission.ts';
import { objectOf } from '../support/objects.ts';
import { problemsOf } from './schema.ts';

const entry = (id: number) => ({
  id,
  version: { tag: `1.${id}.0` },
  timestamp: `2026-03-01T12:00:0${id}Z`,
  bakeStatus: 'Succeeded',
  message: 'Automatic deployment',
});
const NEWEST = { ...entry(5), requestedBy: 'alice', triggeredBy: { kind: 'User', name: 'alice' }, message: 'INC-7' };
const HISTORY = [NEWEST, entry(4), entry(3), entry(2), entry(1)];
const rollout = (status: object) =>
  objectOf('Rollout', {
    metadata: { namespace: 'shop', name: 'app', generation: 4 },
    spec: { releasesImagePolicy: { name: 'app' }, versionHistoryLimit: 3 },
    status: { revision: 7, observedGeneration: 4, ...status },
  } as never) as AnyObject;
const STORED = rollout({ history: HISTORY });

function refusal(status: object): string {
  // Without fields that are undefined, as in JSON.
  const object: AnyObject = JSON.parse(JSON.stringify(rollout({ revision: 8, ...status })));
  const problems = problemsOf(object, STORED);
  try {
    enforcePolicies(requestOf({ object, oldObject: STORED, subResource: 'status' }));
  } catch (error) {
    problems.push((error as Error).message);
  }
  return problems.join('\n');
}

const newest = (change: object) => ({ history: [{ ...NEWEST, ...change }, ...HISTORY.slice(1)] });
const older = (at: number, change: object) => ({ history: HISTORY.with(at, { ...HISTORY[at]!, ...change }) });
const next = (more: object = {}) => ({ history: [entry(6), ...HISTORY], ...more });
const APPEND_ONLY = 'history is append-only';

it.each<[what: string, status: object, words: string]>([
  ['computed from an older one', { history: HISTORY, title: 'stale', revision: 7 }, 'revision'],
  ['that skips a revision', { history: HISTORY, title: 'far', revision: 9 }, 'revision'],
  ['without the history', { history: [] }, APPEND_ONLY],
  ['with two deployments at once', { history: [entry(7), ...next().history] }, APPEND_ONLY],
  [
    'with a deployment that was decided from an older generation',
    next({ observedGeneration: 3 }),
    'generation 4, status.observedGeneration is 3',
  ],
  ['with another version of an older deployment', older(1, { version: { tag: '9.9.9' } }), APPEND_ONLY],
  ['with another time of an older deployment', older(2, { timestamp: '2020-01-01T00:00:00Z' }), APPEND_ONLY],
  ['with another outcome of an older deployment', older(1, { bakeStatus: 'Failed' }), APPEND_ONLY],
  [
    'with a field of an older deployment that was empty',
    older(2, { failedHealthChecks: [{ name: 'a', namespace: 'b' }] }),
    APPEND_ONLY,
  ],
  ['without an older deployment', { history: HISTORY.toSpliced(1, 1) }, APPEND_ONLY],
  ['without the oldest deployment', { history: HISTORY.slice(0, 4) }, APPEND_ONLY],
  ['with one more older deployment', { history: HISTORY.toSpliced(1, 0, { ...entry(4) }) }, APPEND_ONLY],
  ['with one more that has no id', { history: [...HISTORY, { ...entry(0), id: undefined }] }, APPEND_ONLY],
  ['with another version of the newest', newest({ version: { tag: '6.6.6' } }), APPEND_ONLY],
  ['with another requester of the newest', newest({ requestedBy: 'mallory' }), APPEND_ONLY],
  ['without the requester of the newest', newest({ requestedBy: undefined }), APPEND_ONLY],
  ['with another user who deployed the newest', newest({ triggeredBy: { kind: 'User', name: 'm' } }), APPEND_ONLY],
  ['with a digest of the newest', newest({ version: { tag: '1.5.0', digest: 'sha256:1' } }), APPEND_ONLY],
  ['with an image of the newest', newest({ image: 'registry.example/other' }), APPEND_ONLY],
  ['with another message of the newest', newest({ message: 'nothing happened' }), APPEND_ONLY],
  ['with a bad outcome of the newest instead of a good one', newest({ bakeStatus: 'Failed' }), 'stays finished'],
  ['with the newest cancelled', newest({ bakeStatus: 'Cancelled' }), 'stays finished'],
])('a status %s is refused', (_, status, words) => {
  expect(refusal(status)).toContain(words);
});

it.each([
  ['with the next deployment', next()],
  ['with a bake that begins again', newest({ bakeStatus: 'Deploying' })],
])('a status %s is stored', (_, status) => {
  expect(refusal(status)).toBe('');
});
