/** The report as lines: a table's cells, CSV, and a sentence for each gap. */
import type { AuditObject, AuditRecord } from '../../core/audit/auditRecord.ts';
import type { AuditGap } from './auditReport.ts';

const SOURCES = { History: 'history', Object: 'object', Event: 'event', AuditLog: 'audit log' } as const;

export const AUDIT_HEADER = ['TIME', 'USER', 'ACTION', 'OBJECT', 'VERSION', 'SOURCE', 'REASON'];

export function auditCells({ time, user, action, object, version, reason, detail, sources }: AuditRecord): string[] {
  const why = [reason, detail].filter((text) => text !== undefined).join('; ');
  const from = sources.map((source) => SOURCES[source]).join(', ');
  return [time, user ?? '-', action, `${object.kind} ${nameOf(object)}`, version ?? '-', from, why];
}

const CSV_FIELDS = [
  'time',
  'user',
  'action',
  'kind',
  'namespace',
  'name',
  'version',
  'reason',
  'detail',
  'resourceVersion',
  'sources',
];

/** Fields as in RFC 4180, with a header; lines end as text files of Unix do. */
export function auditCsv(records: readonly AuditRecord[]): string {
  const rows = records.map(({ object, sources, ...record }) => {
    const fields: Record<string, unknown> = { ...record, ...object, sources: sources.join(' ') };
    return CSV_FIELDS.map((key) => csvField(String(fields[key] ?? '')));
  });
  return [CSV_FIELDS, ...rows].map((row) => row.join(',')).join('\n');
}

/** A spreadsheet would run a text that begins like a formula, and tenants write reasons: an apostrophe makes it text. */
function csvField(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export function gapText(gap: AuditGap): string {
  switch (gap.kind) {
    case 'HistoryBegins':
      return `The history of Rollout ${nameOf(gap.object)} begins at ${gap.at}: earlier deployments were dropped (spec.versionHistoryLimit).`;
    case 'NoAuditLog':
      return 'No audit log was given. Objects keep the newest requests, approvals and changes only: what was withdrawn, replaced or deleted is not shown.';
    case 'AuditLogBegins':
      return `The audit log begins at ${gap.at}.`;
    case 'AuditLogEmpty':
      return 'The audit log has no entry.';
    case 'WritesWithoutContent':
      return `${gap.count} writes are in the audit log without their content: the audit policy must log these kinds at level Request.`;
    case 'UnreadableLines':
      return `${gap.count} lines of the audit log are not JSON objects of audit.k8s.io.`;
    case 'EventsBegin':
      return gap.at === undefined
        ? 'There are no Events.'
        : `Events begin at ${gap.at}: the API server deletes them after an hour by default.`;
    case 'NotRead':
      return `${gap.what} are not included: ${gap.why}.`;
  }
}

function nameOf({ namespace, name }: AuditObject): string {
  return namespace === '' ? name : `${namespace}/${name}`;
}
