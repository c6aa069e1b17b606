import type { EpochMs } from '../../api/kubernetes.ts';
import { type Deployment, outcomeOf, permissionTexts, pinText, userOf } from '../../client/explain/application.ts';
import { ageText } from '../../client/explain/when.ts';
import { EXIT, Problem } from '../../client/problem.ts';
import { structuredText } from '../../connection/kube/objectText.ts';
import { readRollout } from '../../connection/read/namedObjects.ts';
import { parseTime } from '../../core/kube/time.ts';
import { pinRecordOf } from '../../core/record/pinAndSchedule.ts';
import { withoutCommands } from '../../core/text/commands.ts';
import type { CommandDefinition } from '../command/command.ts';
import { outputOption } from '../command/options.ts';
import { table, widthOf, wrapText } from '../terminal/columns.ts';
import { OUTCOME_TONES, type Style, styleOf } from '../terminal/style.ts';

export const history: CommandDefinition = {
  description: `Lists the deployments of a Rollout, newest first: outcome, user, reason, and how long each phase took.

--diff shows the differences between two deployments, whose ids are in the first column.`,
  arguments: [{ syntax: '<rollout>', help: 'its name', completes: { names: 'Rollout' } }],
  options: [
    { flags: '--diff <ids...>', help: 'two ids: show the changes from the first to the second' },
    outputOption('json', 'yaml'),
  ],
  examples: [
    ['who deployed what, and why', 'history my-app -n shop'],
    ['what differs between two deployments', 'history my-app --diff 12 13'],
  ],
  async run(context, { arguments: [name], options }) {
    const cluster = await context.cluster();
    const rollout = await readRollout(cluster, name as string);
    const entries = (rollout.status?.history ?? []).map(({ knownHealth: _, ...entry }): Deployment => entry);
    const { terminal } = context;
    const style = styleOf(context);
    if (options.diff) {
      const [before, after] = pairOf(options.diff, entries);
      const diff = deploymentDiff(before, after);
      if (options.output) terminal.printText(await structuredText(diff, options.output));
      else for (const line of diffLines(diff, style)) terminal.print(line);
      return EXIT.ok;
    }
    if (options.output) terminal.printText(await structuredText(entries, options.output));
    else if (entries.length === 0) terminal.note(`Rollout ${rollout.metadata.name} has deployed nothing yet.`);
    else for (const line of historyLines(entries, style, context.now())) terminal.print(line);
    const pin = options.output ? undefined : pinRecordOf(rollout);
    if (pin) terminal.note(style.text(`${pinText(pin)}.`));
    return EXIT.ok;
  },
};

function pairOf(ids: readonly string[], entries: readonly Deployment[]): [Deployment, Deployment] {
  if (ids.length !== 2) throw new Problem('--diff takes two ids, such as --diff 12 13.', EXIT.usage);
  const [before, after] = ids.map((id) => {
    const found = entries.find((entry) => String(entry.id ?? 0) === id);
    if (found) return found;
    const known = entries.map((entry) => entry.id ?? 0).join(', ') || 'none';
    throw new Problem(`There is no deployment ${id} in the history: it has ${known}.`);
  });
  return [before!, after!];
}

// Deployments in a table, and the differences between two of them.

const HEADER = ['ID', 'VERSION', 'OUTCOME', 'WHEN', 'TO APPLY', 'TO BAKE', 'BY', 'WHY'];

/** The deployments in a table; if that is too wide, each with further lines below its first columns. */
function historyLines(entries: readonly Deployment[], style: Style, now: EpochMs): string[] {
  const rows = entries.map((entry, index) => row(entry, entries[index + 1], style, now));
  const lines = table([HEADER, ...rows]);
  const isWide = style.columns !== undefined && lines.some((line) => widthOf(line) > style.columns!);
  if (!isWide) return lines;
  const short = table([HEADER.slice(0, 4), ...rows.map((cells) => cells.slice(0, 4))]);
  return short.flatMap((line, index) => {
    const [, , , , applied = '', baked = '', by = '', why = ''] = rows[index - 1] ?? [];
    if (index === 0) return [line];
    const phases = [
      ...(applied === '-' ? [] : [`applied in ${applied}`]),
      ...(baked === '-' ? [] : [`baked ${baked}`]),
    ];
    const more = [[...phases, by === '-' ? '' : `by ${by}`].filter((part) => part !== '').join(', '), why];
    return [
      line,
      ...more
        .filter((text) => text !== '')
        .flatMap((text) => wrapText(text, style.columns! - 4))
        .map((text) => `    ${style.faint(text)}`),
    ];
  });
}

function row(entry: Deployment, before: Deployment | undefined, style: Style, now: EpochMs): string[] {
  const { id = 0, version, timestamp: at, lastRetryTimestamp, appliedTime, bakeStartTime, bakeEndTime } = entry;
  const outcome = outcomeOf(entry);
  return [
    String(id),
    version.tag,
    `${style.symbol(OUTCOME_TONES[outcome])} ${outcome}`,
    style.ago(at),
    span(lastRetryTimestamp ?? at, appliedTime),
    span(bakeStartTime, bakeEndTime ?? (outcome === 'InProgress' ? new Date(now).toISOString() : undefined)),
    userOf(entry) ?? '-',
    whyText(entry, before),
  ];
}

/** The reasons of users for the request, for opening Gates and for a bypass; then the failures. */
function whyText(entry: Deployment, before: Deployment | undefined): string {
  const { message, reason, bypass, failedHealthChecks = [], bakeStatusMessage } = entry;
  const bypassed = bypass ? [`bypassed by ${bypass.by}: ${bypass.reason}`] : [];
  const failed = failedHealthChecks.map(
    ({ namespace, name, message: failure }) =>
      `HealthCheck ${namespace}/${name}${failure ? `: ${withoutCommands(failure)}` : ''}`,
  );
  const ended = entry.bakeStatus === 'Failed' && bakeStatusMessage ? [bakeStatusMessage.replace(/\.$/, '')] : [];
  return [
    message,
    reason === message ? undefined : reason,
    ...permissionTexts(entry, before),
    ...bypassed,
    ...ended,
    ...failed,
  ]
    .filter(Boolean)
    .join('; ');
}

function span(from: string | undefined, to: string | undefined): string {
  const [start, end] = [parseTime(from), parseTime(to)];
  return start === undefined || end === undefined ? '-' : ageText(end - start);
}

/** The compared fields: of the release, and of its deployment. */
const COMPARED: Record<string, (deployment: Deployment) => string | undefined> = {
  version: ({ version }) => version.tag,
  imageVersion: ({ version }) => version.version,
  digest: ({ version }) => version.digest,
  revision: ({ version }) => version.revision,
  created: ({ version }) => version.created,
  at: ({ timestamp }) => timestamp,
  outcome: outcomeOf,
  message: ({ message }) => message,
  reason: ({ reason }) => reason,
  by: (deployment) => userOf(deployment) ?? deployment.triggeredBy?.name,
};
const LABELS: Record<string, string> = { imageVersion: 'image version', at: 'deployed' };

interface DeploymentDiff {
  /** The ids of the deployments. */
  before: number;
  after: number;
  differences: { field: string; before: string; after: string }[];
}

function deploymentDiff(before: Deployment, after: Deployment): DeploymentDiff {
  const all = Object.entries(COMPARED).map(([field, read]) => ({
    field,
    before: read(before) ?? '',
    after: read(after) ?? '',
  }));
  const differences = all.filter((each) => each.before !== each.after);
  return { before: before.id ?? 0, after: after.id ?? 0, differences };
}

function diffLines({ before, after, differences }: DeploymentDiff, style: Style): string[] {
  return table([
    ['', `${before}`, `${after}`].map((cell) => style.strong(cell)),
    ...differences.map((each) => [
      LABELS[each.field] ?? each.field,
      ...[each.before, each.after].map((value) => style.text(value) || '-'),
    ]),
  ]);
}
