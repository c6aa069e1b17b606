/** Objects that a Gate doesn't hold yet are explained. */
import { expect, it } from 'vitest';
import { absentFindings } from '../../../cli/doctor/checkReferences.ts';
import { explainGate } from '../../../client/explain/kinds/explainGates.ts';
import { NO_RELATED } from '../../../client/explain/related.ts';
import { explainRollout } from '../../../client/explain/rollout/explainRollout.ts';
import { gate } from '../../core/admission/objects.ts';
import { objectOf } from '../../support/objects.ts';

const first = { kind: 'Kustomization', namespace: 'shop', name: 'web', reason: 'NotMarked', message: 'no room' };

it('names an object that nothing suspends, and why', () => {
  const leaky = { ...gate('ops/freeze'), status: { notHeld: 3, notHeldObjects: [first] } };
  expect(absentFindings({ gates: [leaky as never] })).toMatchObject([
    {
      text: expect.stringContaining(
        'Gate ops/freeze is closed, but fails to hold 3 Flux objects, such as Kustomization shop/web: no room',
      ),
    },
  ]);
  expect(absentFindings({ gates: [{ ...gate('ops/freeze'), status: {} } as never] })).toEqual([]);
});

it('a HealthCheck of a Kustomization that does not exist is found', () => {
  const annotations = { 'healthcheck.kuberik.com/kustomization': 'flux-system/web' };
  const check = objectOf('HealthCheck', {
    metadata: { namespace: 'shop', name: 'web', annotations },
    spec: { class: 'kustomization' },
  });
  const other = objectOf('HealthCheck', { metadata: { namespace: 'shop', name: 'own' }, spec: {} });
  const web = objectOf('Kustomization', 'flux-system/web');
  const text =
    'HealthCheck shop/web is about Kustomization flux-system/web, which does not exist: the HealthCheck is never Healthy';
  expect(absentFindings({ checks: [check, other], kustomizations: [] })).toMatchObject([{ text }]);
  expect(absentFindings({ checks: [check, other], kustomizations: [web] })).toEqual([]);
});

it.each([
  [
    { notHeld: 3, notHeldObjects: [first] },
    '3 objects still running although the Gate is closed, such as Kustomization shop/web: no room',
  ],
  [
    { notResumed: 1, notResumedObjects: [first] },
    '1 object still suspended although the Gate is open, such as Kustomization shop/web: no room',
  ],
])('`why` of a Gate: %o', (status, text) => {
  const { causes } = explainGate({ ...gate('ops/freeze'), status } as never, 0);
  expect(causes.map((cause) => cause.text)).toContain(text);
});

it('`why` of a closed Gate does not say that it holds objects of which some run', () => {
  const { causes } = explainGate({ ...gate('ops/freeze'), status: { requiredByCount: 3, notHeld: 1 } } as never, 0);
  expect(causes[0]?.text).toBe('It should hold 3 objects');
});

it('`why` of a Rollout whose status is older than the opening of its Gate does not name the Gate as closed', () => {
  const object = { kind: 'Gate', namespace: 'ops', name: 'freeze' };
  const message = "Version 1.1.0 waits: Gate 'ops/freeze' is closed";
  const rollout = objectOf('Rollout', {
    metadata: { namespace: 'shop', name: 'web' },
    spec: { releasesImagePolicy: { name: 'web' } },
    status: {
      pendingVersion: '1.1.0',
      gates: [{ kind: 'Gate', name: 'ops/freeze', passing: false }],
      blockers: [{ type: 'Gate', effect: 'Blocks', reason: 'GateClosed', version: '1.1.0', object }],
      conditions: [
        { type: 'DeploymentBlocked', status: 'True', reason: 'GateClosed', message, lastTransitionTime: '' },
      ],
    },
  } as never);
  const { causes } = explainRollout(rollout, { ...NO_RELATED, gates: [gate('ops/freeze', { default: 'opened' })] }, 0);
  expect(causes.map(({ text }) => text)).toEqual([
    "Gate ops/freeze is open by default; the status of the Rollout doesn't show it yet",
  ]);
});
