/** An act in several sources is one record; two acts are two. */
import { describe, expect, it } from 'vitest';
import { mergeRecords } from '../../../client/audit/auditReport.ts';
import type { AuditRecord } from '../../../core/audit/auditRecord.ts';

const GATE = { kind: 'Gate', namespace: 'flux-system', name: 'freeze' };
const closed = (time: string, more: Partial<AuditRecord> = {}): AuditRecord => ({
  time: `2026-03-04T10:00:${time}Z`,
  action: 'Closed',
  object: GATE,
  sources: ['Object'],
  ...more,
});
const merged = (...records: AuditRecord[]) =>
  mergeRecords(records, 0).map(({ time, user, version, sources }) =>
    [time.slice(17, 19), user, version, sources.join('+')].filter(Boolean).join(' '),
  );

describe('one record', () => {
  it.each<[what: string, records: AuditRecord[], lines: string[]]>([
    [
      'of the webhook and the audit log, seconds apart',
      [closed('01', { user: 'alice', sources: ['AuditLog'] }), closed('02', { user: 'alice' })],
      ['01 alice AuditLog+Object'],
    ],
    [
      'of an Event, which names no user, and the object',
      [closed('01', { sources: ['Event'], detail: 'closed' }), closed('01', { user: 'alice' })],
      ['01 alice Object+Event'],
    ],
    [
      'that fifty histories repeat',
      [closed('01', { user: 'alice', sources: ['History'] }), closed('01', { user: 'alice', sources: ['History'] })],
      ['01 alice History'],
    ],
    [
      'about a version that one source names with its Rollout',
      [
        closed('01', { user: 'bob', version: '1.2.0', sources: ['AuditLog'] }),
        closed('01', { user: 'bob', version: 'shop/web:1.2.0' }),
      ],
      ['01 bob 1.2.0 AuditLog+Object'],
    ],
    [
      'about a version that one source does not name',
      [closed('01', { version: '1.2.0' }), closed('01', { sources: ['AuditLog'] })],
      ['01 1.2.0 Object+AuditLog'],
    ],
  ])('%s', (_, records, lines) => {
    expect(merged(...records)).toEqual(lines);
    expect(merged(...records.toReversed())).toHaveLength(1);
  });
});

it('the text of an Event is left out of a record that another source has with its user', () => {
  const event = closed('01', { sources: ['Event'], detail: 'Gate close requested by alice: INC-42' });
  const [record] = mergeRecords([event, closed('01', { user: 'alice', reason: 'INC-42' })], 0);
  expect(record).toEqual(closed('01', { user: 'alice', reason: 'INC-42', sources: ['Object', 'Event'] }));
});

describe('two records', () => {
  it.each<[what: string, a: AuditRecord, b: AuditRecord]>([
    ['of two users', closed('01', { user: 'alice' }), closed('01', { user: 'bob', sources: ['AuditLog'] })],
    ['of two versions', closed('01', { version: '1.1.0' }), closed('01', { version: '1.2.0', sources: ['AuditLog'] })],
    ['of one user, by one source, seconds apart', closed('01', { user: 'alice' }), closed('03', { user: 'alice' })],
    ['that are more than five seconds apart', closed('01'), closed('07', { sources: ['AuditLog'] })],
    ['of two objects', closed('01'), closed('01', { object: { ...GATE, name: 'other' }, sources: ['AuditLog'] })],
  ])('%s', (_, a, b) => {
    expect(merged(a, b)).toHaveLength(2);
  });
});

it('leaves out entries that are too old or have no time', () => {
  const since = Date.parse('2026-03-04T10:00:30Z');
  const records = [closed('29'), closed('31'), closed('40', { time: 'yesterday' })];
  expect(mergeRecords(records, since).map(({ time }) => time)).toEqual(['2026-03-04T10:00:31Z']);
});
