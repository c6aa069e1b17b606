/** The report as text: cells of a table, CSV, and a sentence for each gap. */
import type { AuditRecord } from '../../core/audit/auditRecord.ts';
import { refKey } from '../../core/kube/names.ts';
import { countOf } from '../../core/text/count.ts';
import type { AuditGap } from './auditReport.ts';

const SOURCES = { History: 'history', Object: 'object', Event: 'event', AuditLog: 'audit log' } as const;

export const AUDIT_HEADER = ['TIME', 'USER', 'ACTION', 'OBJECT', 'VERSION', 'SOURCE', 'REASON'];

export function auditCells({ time, user, action, object, version, reason, detail, sources }: AuditRecord): string[] {
  const why = [reason, detail].filter((text) => text !== undefined).join('; ');
  const from = sources.map((source) => SOURCES[source]).join(', ');
  // An Event has no field for the user: its text has the name, which its writer may have invented.
  const by = user ?? (from === SOURCES.Event ? '(see REASON)' : '-');
  return [time, by, action, `${object.kind} ${refKey(object)}`, version ?? '-', from, why];
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

/** The records as CSV (RFC 4180) with a header, but with line feeds as in text files of Unix. */
export function auditCsv(records: readonly AuditRecord[]): string {
  const rows = records.map(({ object, sources, ...record }) => {
    const fields: Record<string, unknown> = { ...record, ...object, sources: sources.join(' ') };
    return CSV_FIELDS.map((key) => csvField(String(fields[key] ?? '')));
  });
  return [CSV_FIELDS, ...rows].map((row) => row.join(',')).join('\n');
}

/** A field of CSV. An apostrophe keeps spreadsheets from running a text as a formula: tenants write the reasons. */
function csvField(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export function gapText(gap: AuditGap): string {
  switch (gap.kind) {
    case 'HistoryBegins':
      return `The history of Rollout ${refKey(gap.object)} begins at ${gap.at}: earlier deployments were dropped (spec.versionHistoryLimit).`;
    case 'NoAuditLog':
      return 'Without an audit log, only the newest requests, approvals and changes of existing objects are shown, and none that were withdrawn or replaced.';
    case 'AuditLogBegins':
      return `The audit log begins at ${gap.at}.`;
    case 'AuditLogEmpty':
      return 'The audit log has no entry.';
    case 'WritesWithoutContent':
      return `The audit log has ${countOf(gap.count, 'write')} without content: log these kinds at level Request.`;
    case 'UnclearPatches':
      return `The audit log lacks values that ${countOf(gap.count, 'write')} by JSON patch copied or moved: log these kinds at level RequestResponse.`;
    case 'UnreadableLines':
      return `Ignored ${countOf(gap.count, 'line')} of the audit log: not JSON objects of audit.k8s.io/v1.`;
    case 'EventsBegin':
      return `${gap.at === undefined ? 'There are no Events' : `Events begin at ${gap.at}`}: the API server deletes them after an hour by default.`;
    case 'NotRead':
      return `Not read: ${gap.what}: ${gap.why}.`;
  }
}
