/** A user's own approval can be withdrawn, and isn't offered again. */
import { expect, it } from 'vitest';
import type { KubeObject } from '../../../api/kubernetes.ts';
import type { Action, ActionRequest } from '../../../client/actions/action.ts';
import { offer } from '../../../client/actions/offer.ts';
import { withOwnApprovals } from '../../../client/actions/ownApprovals.ts';
import { formatApprovals } from '../../../core/approval/approvalRecord.ts';

const NOW = Date.parse('2026-03-04T10:00:00Z');
const WEB = { namespace: 'shop', name: 'web' };

function approve(
  kind: 'RolloutGate' | 'Gate',
  rollout?: ActionRequest['rollout'],
  requests: Record<string, string> = {},
): Action {
  const key = kind === 'Gate' ? 'gate.fluxcd.io/approvals' : 'rollout.kuberik.com/approvals';
  const given = [
    { version: '1.2.0', by: 'alice', at: NOW, ...(kind === 'Gate' && { rollout: 'shop/web', uid: 'uid-web' }) },
  ];
  const annotations = { [key]: formatApprovals({ given, changes: [] })!, ...requests };
  const spec = { approvals: { required: 1, expireAfter: '1h' } };
  const found = { apiVersion: 'v1', kind, metadata: { namespace: 'shop', name: 'qa', annotations }, spec };
  const request: ActionRequest = {
    type: 'approve',
    object: { kind, namespace: 'shop', name: 'qa' },
    version: '1.2.0',
    ...(rollout && { rollout }),
  };
  return offer(request, found as KubeObject<any, any>, { step: 'qa', primary: true })[0]!;
}

it.each([
  ['at a RolloutGate', approve('RolloutGate')],
  ['at a Gate, of this Rollout', approve('Gate', WEB)],
])('%s', (_, action) => {
  const [mine] = withOwnApprovals([action], 'alice', NOW);
  expect(mine).toMatchObject({ label: 'Withdraw your approval of 1.2.0 at qa', step: 'qa' });
  expect(mine!.request).toEqual({ ...action.request, type: 'withdraw' });
  expect(mine).not.toHaveProperty('primary');
  expect(withOwnApprovals([action], 'bob', NOW)).toEqual([action]);
  expect(withOwnApprovals([action], undefined, NOW)).toEqual([action]);
  expect(withOwnApprovals([action], 'alice', NOW + 3_600_000), 'after it has expired').toEqual([action]);
});

it('not after a request to close the Gate has revoked it', () => {
  const action = approve('Gate', WEB, { 'close.gate.fluxcd.io/requestedAt': '2026-03-04T10:30:00Z' });
  expect(withOwnApprovals([action], 'alice', NOW)[0]!.request.type).toBe('withdraw');
  expect(withOwnApprovals([action], 'alice', NOW + 1_800_000)).toEqual([action]);
});

it('not of a deleted Rollout whose name another has now', () => {
  const action = approve('Gate', WEB);
  const of = (rolloutUid: string) => withOwnApprovals([{ ...action, rolloutUid }], 'alice', NOW)[0]!.request.type;
  expect(['uid-web', 'uid-of-another'].map(of)).toEqual(['withdraw', 'approve']);
});

it('not of another Rollout, and nothing but approvals', () => {
  const other = approve('Gate', { ...WEB, name: 'other' });
  const open = offer({ type: 'open', object: { kind: 'Gate', ...WEB } })[0]!;
  expect(withOwnApprovals([other, open], 'alice', NOW)).toEqual([other, open]);
});
