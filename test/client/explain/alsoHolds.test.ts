/** A Gate that is open for one version, and still holds the Flux object that takes it. */
import { expect, it } from 'vitest';
import type { FluxBinding, Gate, Rollout } from '../../../api/types.ts';
import { NO_RELATED } from '../../../client/explain/related.ts';
import { explainRollout } from '../../../client/explain/rollout/explainRollout.ts';
import { formatAcceptedRequests } from '../../../core/gate/gateRequests.ts';
import { boundLabel } from '../../../core/kube/names.ts';
import { objectOf } from '../../support/objects.ts';

const NOW = Date.parse('2026-03-01T12:00:00Z');
const rollout = objectOf('Rollout', {
  metadata: { namespace: 'shop', name: 'app', uid: 'u' },
  spec: { releasesImagePolicy: { name: 'app' }, gates: [{ name: 'incident' }] },
  status: { pendingVersion: '1.3.0', gates: [{ kind: 'Gate', name: 'shop/incident', passing: false }] },
} as never) as Rollout;
const bound = objectOf('FluxBinding', {
  metadata: { namespace: 'shop', name: 'kustomization-web', labels: { [boundLabel('app')]: '' } },
  spec: {
    target: { apiVersion: 'v1', kind: 'Kustomization', name: 'web', uid: 'w' },
    fields: [{ rollout: 'app' }],
    gates: [{ namespace: 'shop', gate: 'incident' }],
  },
} as never) as FluxBinding;

it.each([
  ['1.3.0', "; still holds Kustomization 'web'"],
  ['1.4.0', ''],
])('its step names the object if the Gate is open for the waiting version: %s', (opened, holds) => {
  const current = { action: 'open', at: NOW, by: 'alice', for: `shop/app:${opened}` } as const;
  const record = formatAcceptedRequests({ current, handled: { open: NOW } });
  const gate = objectOf('Gate', {
    metadata: { namespace: 'shop', name: 'incident', annotations: { 'gate.fluxcd.io/accepted-request': record } },
    spec: { default: 'closed' },
  } as never) as Gate;
  const { steps, next } = explainRollout(rollout, { ...NO_RELATED, gates: [gate], bindings: [bound] }, NOW + 1000);
  const { detail } = steps.find(({ kind }) => kind === 'gate') ?? {};
  expect(detail).toBe(`opened by alice, for version shop/app:${opened} only${holds}`);
  expect(next?.text).toBe('no automatic change. 1.3.0 is waiting for Gate shop/incident');
});
