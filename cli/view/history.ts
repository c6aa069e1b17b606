/** Deployments in a table, and what two of them differ in. */
import type { EpochMs } from '../../api/kubernetes.ts';
import type { DeploymentView } from '../../client/explain/application.ts';
import { ageText } from '../../client/explain/when.ts';
import { parseTime } from '../../core/kube/time.ts';
import { table, widthOf, wrapped } from '../terminal/layout.ts';
import { type Look, OUTCOME_TONES } from './look.ts';

const HEADER = ['ID', 'VERSION', 'OUTCOME', 'WHEN', 'TO APPLY', 'TO BAKE', 'BY', 'WHY'];

/** A table; where it is too wide, a paragraph for each. */
export function historyLines(views: readonly DeploymentView[], look: Look, now: EpochMs): string[] {
  const rows = views.map((view) => row(view, look, now));
  const lines = table([HEADER, ...rows]);
  const isWide = look.columns !== undefined && lines.some((line) => widthOf(line) > look.columns!);
  if (!isWide) return lines;
  const short = table([HEADER.slice(0, 4), ...rows.map((cells) => cells.slice(0, 4))]);
  return short.flatMap((line, index) => {
    const view = views[index - 1];
    const [, , , , applied = '', baked = '', by = '', why = ''] = rows[index - 1] ?? [];
    if (!view) return [line];
    const phases = [
      ...(applied === '-' ? [] : [`applied in ${applied}`]),
      ...(baked === '-' ? [] : [`baked ${baked}`]),
    ];
    const more = [[...phases, by === '-' ? '' : `by ${by}`].filter((part) => part !== '').join(', '), why];
    return [
      line,
      ...more
        .filter((text) => text !== '')
        .flatMap((text) => wrapped(text, look.columns! - 4))
        .map((text) => `    ${look.faint(text)}`),
    ];
  });
}

function row(view: DeploymentView, look: Look, now: EpochMs): string[] {
  const { id, version, outcome, at, by } = view;
  return [
    String(id),
    version,
    `${look.symbol(OUTCOME_TONES[outcome])} ${outcome}`,
    look.ago(at),
    span(view.retriedAt ?? at, view.appliedAt),
    span(view.bakeStartedAt, view.endedAt ?? (outcome === 'InProgress' ? new Date(now).toISOString() : undefined)),
    by.kind === 'User' ? by.name : '-',
    whyText(view),
  ];
}

/** Every reason that users gave, for the request, for opening gates, for a bypass; then what went wrong. */
function whyText({ message, reason, approvals, bypass, failedChecks, outcome, detail }: DeploymentView): string {
  const approved = approvals.map(
    ({ gate, kind, by, reason: why }) =>
      `${kind === 'RolloutGate' ? `approved at ${gate}` : `${gate} opened`}${by ? ` by ${by}` : ''}${why ? `: ${why}` : ''}`,
  );
  const bypassed = bypass ? [`bypassed by ${bypass.by}: ${bypass.reason}`] : [];
  const failed = failedChecks.map(
    ({ namespace, name, message: said }) => `HealthCheck ${namespace}/${name}${said ? `: ${said}` : ''}`,
  );
  const wrong = outcome === 'Failed' && failed.length === 0 && detail ? [detail] : failed;
  return [message, reason === message ? undefined : reason, ...approved, ...bypassed, ...wrong]
    .filter(Boolean)
    .join('; ');
}

function span(from: string | undefined, to: string | undefined): string {
  const [start, end] = [parseTime(from), parseTime(to)];
  return start === undefined || end === undefined ? '-' : ageText(end - start);
}

/** What the release says of itself, and how its deployment went. */
const RELEASE = ['version', 'imageVersion', 'digest', 'revision', 'created'] as const;
const DEPLOYMENT = ['at', 'outcome', 'message', 'reason'] as const;
const LABELS: Record<string, string> = { imageVersion: 'image version', at: 'deployed' };

interface Difference {
  field: string;
  before: string;
  after: string;
}

/** What two deployments differ in; `lines` for people. */
export function deploymentDiff(before: DeploymentView, after: DeploymentView) {
  const all: Difference[] = [
    ...RELEASE.map((field) => ({ field, before: before[field] ?? '', after: after[field] ?? '' })),
    ...DEPLOYMENT.map((field) => ({ field, before: before[field] ?? '', after: after[field] ?? '' })),
    { field: 'by', before: before.by.name, after: after.by.name },
  ];
  const differences = all.filter((each) => each.before !== each.after);
  return {
    before: before.id,
    after: after.id,
    differences,
    lines: (look: Look): string[] =>
      table([
        ['', `${before.id}`, `${after.id}`].map((cell) => look.strong(cell)),
        ...differences.map(({ field, before, after }) => [
          LABELS[field] ?? field,
          ...[before, after].map((value) => look.text(value) || '-'),
        ]),
      ]),
  };
}
