/** The report as text: no cell runs as a formula, and each gap of the sources is a sentence. */
import { expect, it } from 'vitest';
import type { AuditGap } from '../../../client/audit/auditReport.ts';
import { auditCells, auditCsv, gapText } from '../../../client/audit/auditTexts.ts';
import type { AuditRecord } from '../../../core/audit/auditRecord.ts';

const record = (more: Partial<AuditRecord>): AuditRecord => ({
  time: '2026-03-04T10:00:00Z',
  action: 'Closed',
  object: { kind: 'ClusterRolloutBudget', namespace: '', name: 'fleet' },
  sources: ['Object', 'AuditLog'],
  ...more,
});

it('a row has reason and detail in one cell, and a dash without user or version', () => {
  expect(auditCells(record({ reason: 'INC-42', detail: 'spec.order' }))).toEqual([
    '2026-03-04T10:00:00Z',
    '-',
    'Closed',
    'ClusterRolloutBudget fleet',
    '-',
    'object, audit log',
    'INC-42; spec.order',
  ]);
});

it.each<[reason: string, field: string]>([
  ['=1+1', "'=1+1"],
  ['+1', "'+1"],
  ['-1', "'-1"],
  ['@SUM(1)', "'@SUM(1)"],
  ['\t=1', "'\t=1"],
  ['\r=1', `"'\r=1"`],
  ['1=1', '1=1'],
  ['a, b', '"a, b"'],
  ['two\nlines', '"two\nlines"'],
  ['say "yes"', '"say ""yes"""'],
])('the reason %j is the field %s', (reason, field) => {
  const row = `2026-03-04T10:00:00Z,,Closed,ClusterRolloutBudget,,fleet,,${field},,,Object AuditLog`;
  expect(
    auditCsv([record({ reason })])
      .split('\n')
      .slice(1)
      .join('\n'),
  ).toBe(row);
});

it.each<[gap: AuditGap, part: string]>([
  [
    { kind: 'HistoryBegins', object: { kind: 'Rollout', namespace: 'shop', name: 'web' }, at: 'T' },
    'shop/web begins at T',
  ],
  [{ kind: 'NoAuditLog' }, 'Without an audit log'],
  [{ kind: 'AuditLogBegins', at: 'T' }, 'The audit log begins at T.'],
  [{ kind: 'AuditLogEmpty' }, 'The audit log has no entry.'],
  [{ kind: 'WritesWithoutContent', count: 3 }, 'The audit log has 3 writes without content'],
  [{ kind: 'UnclearPatches', count: 3 }, 'The audit log lacks values that 3 writes by JSON patch'],
  [{ kind: 'UnreadableLines', count: 3 }, 'Ignored 3 lines of the audit log'],
  [{ kind: 'EventsBegin' }, 'There are no Events: the API server deletes them'],
  [{ kind: 'EventsBegin', at: 'T' }, 'Events begin at T'],
  [{ kind: 'NotRead', what: 'Events', why: 'no right' }, 'Not read: Events: no right.'],
])('the gap %j', (gap, part) => {
  expect(gapText(gap)).toContain(part);
});
