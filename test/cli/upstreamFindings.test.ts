/**
 * `doctor` finds a Rollout whose versions all wait for an upstream Rollout that it may not see, or that does not exist.
 */
import { expect, it } from 'vitest';
import type { Rollout } from '../../api/types.ts';
import { upstreamFindings } from '../../cli/doctor/checkReferences.ts';
import { objectOf } from '../support/objects.ts';

const rollout = (namespace: string, name: string, spec: object = {}, annotations: object = {}) =>
  objectOf('Rollout', { metadata: { namespace, name, annotations }, spec } as never) as unknown as Rollout;
const namespace = (name: string, annotations: Record<string, string> = {}) => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name, annotations },
});
const FROM = 'healthcheck.kuberik.com/watched-from';
const staging = rollout('staging', 'web', { after: [{ name: 'web', namespace: 'dev' }] });

it.each<[what: string, upstreams: Rollout[] | undefined, namespaces: object[] | undefined, found: object[]]>([
  [
    'that does not exist',
    [staging],
    [],
    [{ text: 'Rollout staging/web deploys nothing: its upstream Rollout dev/web (spec.after) does not exist' }],
  ],
  [
    'without consent',
    [rollout('dev', 'web')],
    [namespace('dev')],
    [
      {
        text: 'Rollout staging/web deploys nothing: its upstream Rollout dev/web (spec.after) has not consented',
        command: `kubectl -n dev annotate --overwrite rollout web ${FROM}=staging`,
      },
    ],
  ],
  [
    'with consent to others',
    [rollout('dev', 'web', {}, { [FROM]: 'qa' })],
    [namespace('dev')],
    [{ command: `kubectl -n dev annotate --overwrite rollout web ${FROM}=qa,staging` }],
  ],
  ['with consent', [rollout('dev', 'web', {}, { [FROM]: 'staging' })], [namespace('dev')], []],
  ["with its namespace's consent", [rollout('dev', 'web')], [namespace('dev', { [FROM]: '*' })], []],
  ['that may not be read', undefined, [], []],
  ['in a namespace that may not be read', [rollout('dev', 'web')], undefined, []],
])('an upstream Rollout %s', (_, upstreams, namespaces, found) => {
  const findings = upstreamFindings([staging], upstreams, namespaces as never);
  expect(findings).toHaveLength(found.length);
  expect(findings).toMatchObject(found);
});

it('one of the same namespace needs no consent', () => {
  const after = rollout('dev', 'eu', { after: [{ name: 'web' }] });
  expect(upstreamFindings([after], [after, rollout('dev', 'web')], [])).toEqual([]);
});
