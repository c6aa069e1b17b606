import type { AnyObject, EpochMs } from '../../api/kubernetes.ts';
import type { Rollout } from '../../api/types.ts';
import { AuditLog } from '../../client/audit/auditLog.ts';
import { type AuditGap, type AuditReport, historyGap, mergeRecords } from '../../client/audit/auditReport.ts';
import { AUDIT_HEADER, auditCells, auditCsv, gapText } from '../../client/audit/auditTexts.ts';
import { EXIT, Problem } from '../../client/problem.ts';
import type { Cluster } from '../../connection/kube/cluster.ts';
import { structuredText } from '../../connection/kube/objectText.ts';
import { fileLines } from '../../connection/read/fileLines.ts';
import { optionalReader } from '../../connection/read/optionalReads.ts';
import type { AuditRecord } from '../../core/audit/auditRecord.ts';
import { type CoreEvent, recordsOfEvent } from '../../core/audit/eventRecords.ts';
import { AUDITED_KINDS, recordsOfObject } from '../../core/audit/objectRecords.ts';
import { formatTime, parseTime } from '../../core/kube/time.ts';
import { pluralOf } from '../../core/text/count.ts';
import type { CommandDefinition } from '../command/command.ts';
import { ALL_NAMESPACES } from '../command/options.ts';
import { spanOf } from '../command/timeOptions.ts';
import { table } from '../terminal/columns.ts';

const FORMATS = ['table', 'csv', 'json', 'yaml'];

export const audit: CommandDefinition = {
  description: `Reports deployments, approvals, bypasses, freezes and changes of rules: who, when and why.

The oldest record is first. The command reads histories, the webhook's records on objects, and Events.
Withdrawn approvals, deleted objects and all other changes are in the API server's audit log only: give it with --audit-log.
The gaps of these sources are printed below the report, on standard error; in JSON and YAML they are in "gaps".`,
  options: [
    ALL_NAMESPACES,
    { flags: '--since <span>', help: 'how far back: 12h, 90d', default: '30d' },
    {
      flags: '--audit-log <file>',
      help: "the API server's audit log, a JSON object on each line; may be repeated",
      isRepeated: true,
    },
    { flags: '-o, --output <format>', help: 'format', choices: FORMATS, default: 'table' },
  ],
  examples: [
    ['deployments, approvals and bypasses of one namespace', 'audit -n shop --since 7d'],
    ['the last quarter of the cluster, for a spreadsheet', 'audit -A --since 90d --audit-log audit.log -o csv'],
  ],
  async run(context, { options }) {
    const since = context.now() - (spanOf('--since', options.since) ?? 0);
    const cluster = await context.cluster();
    const namespace = options.allNamespaces ? undefined : cluster.namespace;
    const parts = await Promise.all([
      readRecords(cluster, namespace, since, context.now()),
      readAuditLogs((options.auditLog ?? []) as string[], namespace, since),
    ]);
    const report: AuditReport = {
      records: mergeRecords(
        parts.flatMap(({ records }) => records),
        since,
      ),
      gaps: parts.flatMap(({ gaps }) => gaps),
    };
    const { terminal } = context;
    if (options.output === 'json' || options.output === 'yaml') {
      terminal.printText(await structuredText({ since: formatTime(since), ...report }, options.output));
      return EXIT.ok;
    }
    if (options.output === 'csv') terminal.printText(auditCsv(report.records));
    else if (report.records.length === 0) terminal.note(`No record was found ${whereText(report.gaps)}.`);
    else for (const line of table([AUDIT_HEADER, ...report.records.map(auditCells)])) terminal.print(line);
    for (const gap of report.gaps) terminal.note(gapText(gap));
    return EXIT.ok;
  },
};

/** An auditor must not take unread kinds for a period without records. */
function whereText(gaps: readonly AuditGap[]): string {
  return gaps.some(({ kind }) => kind === 'NotRead') ? 'in what you are allowed to read' : 'for this period';
}

/** Reads the records of objects and Events. */
async function readRecords({ client }: Cluster, namespace: string | undefined, since: EpochMs, now: EpochMs) {
  const { unread, list } = optionalReader(client);
  const kinds = AUDITED_KINDS.filter((kind) => namespace === undefined || kind !== 'ClusterRolloutBudget');
  const [events, ...lists] = await Promise.all([
    list<CoreEvent>('Event', namespace),
    // The API server leaves the kind out of the items of a list.
    ...kinds.map(async (kind) => (await list<AnyObject>(kind, namespace)).map((object) => ({ ...object, kind }))),
  ]);
  const objects = lists.flat();
  const rollouts = objects.filter(({ kind }) => kind === 'Rollout') as Rollout[];
  const reasons = Map.groupBy(unread, ({ why }) => why);
  return {
    records: [...objects.flatMap((object) => recordsOfObject(object, now)), ...events.flatMap(recordsOfEvent)],
    gaps: [
      ...rollouts.flatMap((rollout) => historyGap(rollout, since)),
      ...[...reasons].map(([why, of]): AuditGap => {
        return { kind: 'NotRead', what: of.map(({ kind }) => pluralOf(kind)).join(', '), why };
      }),
      ...(unread.some(({ kind }) => kind === 'Event') ? [] : eventGap(events, since)),
    ],
  };
}

function eventGap(events: readonly CoreEvent[], since: EpochMs): AuditGap[] {
  const [first] = events.flatMap(({ firstTimestamp }) => firstTimestamp || []).sort();
  if (first !== undefined && (parseTime(first) ?? 0) <= since) return [];
  return [{ kind: 'EventsBegin', ...(first !== undefined && { at: first }) }];
}

async function readAuditLogs(
  files: readonly string[],
  namespace: string | undefined,
  since: EpochMs,
): Promise<AuditReport> {
  if (files.length === 0) return { records: [], gaps: [{ kind: 'NoAuditLog' }] };
  const log = new AuditLog();
  for (const file of files) {
    try {
      for await (const line of fileLines(file)) log.add(line);
    } catch (error) {
      throw new Problem(`--audit-log: ${file} can't be read: ${(error as Error).message}`, EXIT.usage);
    }
  }
  const isIncluded = ({ object }: AuditRecord) => namespace === undefined || object.namespace === namespace;
  return { records: log.records.filter(isIncluded), gaps: log.gaps(since) };
}
