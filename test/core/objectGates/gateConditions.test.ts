import { expect, it } from 'vitest';
import type { FluxObject } from '../../../api/flux.ts';
import type { NamespacedName } from '../../../api/kubernetes.ts';
import { refKey } from '../../../core/kube/names.ts';
import { withGateCondition } from '../../../core/objectGates/gateConditions.ts';
import { kustomization, NOW, ociRepository } from '../admission/objects.ts';

const freeze = { namespace: 'shop', name: 'freeze' };
const audit = { namespace: 'ops', name: 'audit' };
const state = (text: string) => ({ annotations: { 'gate.fluxcd.io/state': text } });

const rows: { title: string; object: FluxObject; closed: NamespacedName[]; message: string }[] = [
  {
    title: 'a sync behind closed gates waits for all of them',
    object: kustomization(state('closed: ops/audit,shop/freeze')),
    closed: [freeze, audit],
    message:
      "Reconciliation is waiting approval, gate 'shop/freeze' is closed. Reconciliation is waiting approval, gate 'ops/audit' is closed.",
  },
  {
    title: 'a sync whose gate is bypassed does not wait',
    object: kustomization(state('bypassed: shop/freeze')),
    closed: [freeze],
    message: "Reconciliation continues although gate 'shop/freeze' is closed: it was bypassed.",
  },
  {
    title: 'a source whose gate is bypassed is not blocked',
    object: ociRepository(null, state('bypassed: shop/freeze')),
    closed: [freeze],
    message: "Reconciliation continues although gate 'shop/freeze' is closed: it was bypassed.",
  },
  {
    title: 'another gate has closed since: that one is not bypassed',
    object: kustomization(state('bypassed: shop/freeze')),
    closed: [freeze, audit],
    message:
      "Reconciliation is waiting approval, gate 'shop/freeze' is closed. Reconciliation is waiting approval, gate 'ops/audit' is closed.",
  },
];

it.each(rows)('$title', ({ object, closed: refs, message }) => {
  const closed = refs.map((ref) => ({ ref, open: false, message: '' }));
  const gates = { all: closed, closed, closures: refs.map(refKey) };
  const status = withGateCondition(object, gates, NOW);
  expect(status?.conditions?.[0]).toMatchObject({ reason: 'GateClosed', message });
  expect(withGateCondition({ ...object, status: status! }, gates, NOW)).toBeUndefined();
});
