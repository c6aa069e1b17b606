import { expect, it } from 'vitest';
import type { FluxObject } from '../../../api/flux.ts';
import type { NamespacedName } from '../../../api/kubernetes.ts';
import { closedAmong } from '../../../core/gate/closedGates.ts';
import { refKey } from '../../../core/kube/names.ts';
import { withGateCondition } from '../../../core/suspension/gateConditions.ts';
import { kustomization, NOW, ociRepository } from '../admission/objects.ts';

const freeze = { namespace: 'shop', name: 'freeze' };
const audit = { namespace: 'ops', name: 'audit' };
const state = (text: string) => ({ annotations: { 'gate.fluxcd.io/state': text } });

interface Row {
  title: string;
  object: FluxObject;
  closed: NamespacedName[];
  problems?: string[];
  message: string;
}

const PROBLEM = "'a/b/c' in gate.fluxcd.io/gates does not name a Gate.";

const rows: Row[] = [
  {
    title: 'a sync with a reference that names no Gate waits, even if all its Gates are open',
    object: kustomization(state('closed: (invalid)')),
    closed: [],
    problems: [PROBLEM],
    message: `Reconciliation is blocked: ${PROBLEM}`,
  },
  {
    title: 'a sync behind closed gates waits for all of them',
    object: kustomization(state('closed: ops/audit,shop/freeze')),
    closed: [freeze, audit],
    message:
      "Reconciliation is waiting approval, gate 'shop/freeze' is closed. Reconciliation is waiting approval, gate 'ops/audit' is closed.",
  },
  {
    title: 'a source whose gate is bypassed is not blocked',
    object: ociRepository(null, state('bypassed: shop/freeze')),
    closed: [freeze],
    message: "Reconciliation continues although gate 'shop/freeze' is closed: it was bypassed.",
  },
];

it.each(rows)('$title', ({ object, closed: refs, problems = [], message }) => {
  const closed = refs.map((ref) => ({ key: refKey(ref), ref, isOpen: false, message: '' }));
  const heldBy = [...refs.map(refKey), ...problems.map(() => '(invalid)')];
  const gates = { all: closed, closed: closedAmong(closed), heldBy, problems };
  const status = withGateCondition(object, gates, NOW);
  expect(status?.conditions?.[0]).toMatchObject({ reason: 'GateClosed', message });
  expect(withGateCondition({ ...object, status: status! }, gates, NOW)).toBeUndefined();
});
