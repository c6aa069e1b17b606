import { describe, expect, it } from 'vitest';
import type { RolloutGate } from '../../../api/types.ts';
import { type Asked, writeOf } from '../../../core/board/requests.ts';

const AT = '2026-11-22T08:00:00Z';
const rollout = { namespace: 'shop', name: 'checkout' };
const gate = { namespace: 'shop', name: 'freeze' };
const rolloutGate = { namespace: 'shop', name: 'qa' };
const qa = (spec: object): RolloutGate => ({
  apiVersion: 'kuberik.com/v1alpha1',
  kind: 'RolloutGate',
  metadata: rolloutGate,
  spec: { rolloutRef: { name: 'checkout' }, passing: true, ...spec },
});

describe('a request of the page is the write that kubectl would make', () => {
  it.each<[Asked, object]>([
    [
      { do: 'deploy', rollout, version: '1.2.0', reason: 'fix' },
      {
        metadata: {
          annotations: { 'rollout.kuberik.com/force-deploy': '1.2.0', 'rollout.kuberik.com/deploy-message': 'fix' },
        },
      },
    ],
    [
      { do: 'bypass', rollout, version: '1.2.0', reason: 'INC-7' },
      {
        metadata: {
          annotations: {
            'rollout.kuberik.com/force-deploy': '1.2.0',
            'gate.fluxcd.io/bypass-reason': 'INC-7',
            'rollout.kuberik.com/deploy-message': 'INC-7',
          },
        },
      },
    ],
    // Somebody's older message must not be taken for the reason of this one.
    [
      { do: 'pin', rollout, version: '1.1.0', reason: '' },
      {
        metadata: { annotations: { 'rollout.kuberik.com/deploy-message': null } },
        spec: { wantedVersion: '1.1.0' },
      },
    ],
    // They deploy nothing themselves: the message of a deployment that waits stays that of whoever asked for it.
    [{ do: 'unpin', rollout, reason: '' }, { spec: { wantedVersion: null } }],
    [
      { do: 'unpin', rollout, reason: 'INC-7 is over' },
      {
        metadata: { annotations: { 'kubernetes.io/change-cause': 'unpin: INC-7 is over' } },
        spec: { wantedVersion: null },
      },
    ],
    [
      { do: 'retry', rollout, reason: 'the database is back' },
      {
        metadata: {
          annotations: {
            'rollout.kuberik.com/retry': '',
            'kubernetes.io/change-cause': 'retry: the database is back',
          },
        },
      },
    ],
    [
      { do: 'unblock', rollout, reason: 'known' },
      {
        metadata: {
          annotations: { 'rollout.kuberik.com/unblock-failed': 'true', 'kubernetes.io/change-cause': 'unblock: known' },
        },
      },
    ],
    [
      { do: 'open', gate, reason: 'over' },
      {
        metadata: {
          annotations: {
            'open.gate.fluxcd.io/requestedAt': AT,
            'open.gate.fluxcd.io/reason': 'over',
            'open.gate.fluxcd.io/for': null,
          },
        },
      },
    ],
    [
      { do: 'close', gate, reason: '', at: '2026-11-23T08:00:00Z' },
      {
        metadata: {
          annotations: {
            'close.gate.fluxcd.io/requestedAt': '2026-11-23T08:00:00Z',
            'close.gate.fluxcd.io/reason': null,
          },
        },
      },
    ],
    [
      { do: 'approve-at-gate', gate, rollout, version: '1.2.0', reason: 'QA-88' },
      {
        metadata: {
          annotations: {
            'approve.gate.fluxcd.io/for': 'shop/checkout:1.2.0',
            'approve.gate.fluxcd.io/reason': 'QA-88',
          },
        },
      },
    ],
  ])('%j', (asked, body) => {
    expect(writeOf(asked, AT).body).toEqual(body);
  });

  it('an approval adds to the list, makes the gate pass, and takes a rejection back', () => {
    const asked: Asked = { do: 'approve', rolloutGate, version: '1.2.0', reason: '' };
    expect(writeOf(asked, AT, qa({ allowedVersions: ['1.1.0'] })).body).toEqual({
      spec: { allowedVersions: ['1.1.0', '1.2.0'] },
    });
    expect(writeOf(asked, AT, qa({ passing: false, rejectedVersions: ['1.2.0', '1.0.9'] })).body).toEqual({
      spec: { allowedVersions: ['1.2.0'], passing: true, rejectedVersions: ['1.0.9'] },
    });
  });

  it('the reason of a list that changes is kept', () => {
    const asked: Asked = { do: 'reject', rolloutGate, version: '1.2.0', reason: 'leaks memory' };
    expect(writeOf(asked, AT, qa({ rejectedVersions: ['1.1.0'] })).body).toEqual({
      metadata: { annotations: { 'kubernetes.io/change-cause': 'reject 1.2.0: leaks memory' } },
      spec: { rejectedVersions: ['1.1.0', '1.2.0'] },
    });
  });

  it('an approval of a gate that asks for several people is one of them', () => {
    const { body, kubectl } = writeOf(
      { do: 'approve', rolloutGate, version: '1.2.0', reason: 'CHG-7' },
      AT,
      qa({ approvals: { required: 2 } }),
    );
    expect(body).toEqual({
      metadata: {
        annotations: { 'rollout.kuberik.com/approve': '1.2.0', 'rollout.kuberik.com/approve-reason': 'CHG-7' },
      },
    });
    expect(kubectl).toBe(
      'kubectl -n shop annotate --overwrite rolloutgate/qa rollout.kuberik.com/approve=1.2.0 rollout.kuberik.com/approve-reason=CHG-7',
    );
  });

  it('what a person wrote is one word of the shell', () => {
    const { command } = writeOf({ do: 'retry', rollout, reason: `it's $(rm -rf /) "now"` }, AT);
    expect(command).toBe(`kubectl rollouts -n shop retry checkout --reason 'it'\\''s $(rm -rf /) "now"'`);
  });
});
