/** The texts of the Go controller. R83 to R91 and R127 to R132 are cases of its test suite. */
import { describe, expect, it } from 'vitest';
import type { HistoryEntry } from '../../../../api/types.ts';
import { bakeSummary, historyMessage } from '../../../../core/rollout/deployment/deploymentMessages.ts';
import { triggeredBy } from '../../../../core/rollout/deployment/entry.ts';

const entry = (bakeStatus?: string, bakeStatusMessage?: string): HistoryEntry => ({
  version: { tag: '1.0.0' },
  timestamp: '2026-03-01T12:00:00Z',
  ...(bakeStatus && { bakeStatus }),
  ...(bakeStatusMessage && { bakeStatusMessage }),
});

describe('bakeSummary', () => {
  it.each<[string, HistoryEntry | undefined, string]>([
    ['R83', undefined, 'No deployment history'],
    ['R84', entry(), 'No bake status'],
    ['R86', entry('Succeeded'), 'Bake completed successfully'],
    ['R87', entry('Failed', 'Health check failed'), 'Bake failed: Health check failed'],
    ['R88', entry('Failed'), 'Bake failed'],
    [
      'R89',
      entry('Cancelled', 'Bake cancelled due to new deployment.'),
      'Bake cancelled: Bake cancelled due to new deployment.',
    ],
    ['R90', entry('Cancelled'), 'Bake cancelled'],
    ['R91', entry('UnknownStatus'), 'Unknown bake status: UnknownStatus'],
  ])('%s', (_id, head, expected) => {
    expect(bakeSummary(head)).toBe(expected);
  });

  it('R85 says how long a bake still takes', () => {
    expect(bakeSummary(entry('InProgress'), '3m0s')).toBe('Baking in progress, 3m0s remaining');
    expect(bakeSummary(entry('InProgress'))).toBe('Baking in progress, monitoring for errors');
  });
});

describe('triggeredBy', () => {
  it.each<[string, boolean, string | undefined, { kind: string; name: string }]>([
    ['R127 a user of a manual deployment', true, 'alice@example.com', { kind: 'User', name: 'alice@example.com' }],
    [
      'R128 not the user of an automatic one',
      false,
      'alice@example.com',
      { kind: 'System', name: 'rollout-controller' },
    ],
    ['R129 nobody named', true, undefined, { kind: 'System', name: 'rollout-controller' }],
    ['R131 an empty name', true, '', { kind: 'System', name: 'rollout-controller' }],
  ])('%s', (_title, manual, user, expected) => {
    expect(triggeredBy(manual, user)).toEqual(expected);
  });
});

describe('historyMessage', () => {
  const automatic = { manual: false, forced: false, bypassed: false, unblocked: false };
  it.each([
    [automatic, undefined, 'Automatic deployment'],
    [automatic, 'for a manual one', 'Automatic deployment'],
    [{ ...automatic, manual: true }, undefined, 'Manual deployment'],
    [{ ...automatic, manual: true, forced: true }, 'hotfix, "now"', 'hotfix, "now"'],
    [
      { manual: true, forced: true, bypassed: true, unblocked: true },
      undefined,
      'Manual deployment, with force deploy, with gate bypass, with failed bake unblock',
    ],
  ])('%j with message %j', (kind, given, expected) => {
    expect(historyMessage(kind, given)).toBe(expected);
  });
});
