/** An application as a tree, and its changes as lines. */
import {
  type Application,
  type Deployment,
  isOfDeployedVersion,
  type Next,
  type Outcome,
  outcomeOf,
  STATE_ORDER,
  type Step,
} from '../../client/explain/application.ts';
import { sameJson } from '../../core/kube/json.ts';
import { type ClusterApplications, mainCause } from './applicationTable.ts';
import { padEnd, widthOf, wrapText } from './columns.ts';
import { OUTCOME_TONES, STEP_TONES, type Style, type TerminalTone } from './style.ts';

/** The tree of an application, without unread kinds: see `unreadLines`. `isQualified`: with the namespace. */
export function applicationTree(app: Application, style: Style, isQualified: boolean): string[] {
  const name = isQualified ? `${app.namespace}/${app.name}` : app.name;
  // The head line has the outcome of a deployment that has succeeded.
  const steps = app.steps.filter(({ kind }) => kind !== 'bake' || app.runs?.bakeStatus !== 'Succeeded');
  const titles = steps.map(({ title }) => widthOf(title));
  // A long title must not push all details to the right.
  const width = Math.min(Math.max(0, ...titles), 48);
  return [
    ...headLines(name, app, style),
    ...problemLines(app, style),
    ...steps.flatMap((step, index) => {
      const tone = isOfDeployedVersion(step, app.waiting?.version) ? 'quiet' : STEP_TONES[step.state];
      return stepLines(step, tone, width, index === steps.length - 1, style);
    }),
    ...nextLines(app, style),
  ];
}

/** The lines about kinds that could not be read, each kind once. */
export function unreadLines(texts: readonly string[], style: Style): string[] {
  return [...new Set(texts)].flatMap((text) =>
    wrapText(`not read: ${text}`, style.columns && style.columns - 2).map(
      (line, index) => (index === 0 ? `${style.symbol('quiet')} ` : '  ') + style.faint(line),
    ),
  );
}

/**
 * The trees of applications, and the kinds that could not be read. `rows`: draws only the trees that fit. If not all
 * do, those of Rollouts that need a user come first.
 */
export function applicationTrees(
  apps: readonly Application[],
  style: Style,
  { isQualified, rows = Number.POSITIVE_INFINITY }: { isQualified: boolean; rows?: number | undefined },
): string[] {
  if (apps.length === 0) return ['There are no Rollouts.'];
  const trees = (of: readonly Application[]) =>
    treesWithin(of, rows, (app) => applicationTree(app, style, isQualified));
  const lines = trees(apps);
  const rank = ({ state }: Application) => STATE_ORDER.indexOf(state);
  return [
    ...(lines.length < rows ? lines : trees([...apps].sort((a, b) => rank(a) - rank(b)))),
    ...unreadLines(
      apps.flatMap(({ unread }) => unread),
      style,
    ),
  ];
}

function treesWithin(apps: readonly Application[], rows: number, treeOf: (app: Application) => string[]): string[] {
  const lines: string[] = [];
  for (const [index, app] of apps.entries()) {
    if (lines.length >= rows) return [...lines, `… and ${apps.length - index} more Rollouts`];
    lines.push(...(index > 0 ? [''] : []), ...treeOf(app));
  }
  return lines;
}

/** The trees of one of several clusters, or its problem. */
export function clusterTree({ cluster, value, problem }: ClusterApplications, style: Style, rows?: number): string[] {
  const head = style.strong(`Cluster ${cluster}`);
  if (problem) return [head, ...wrapText(`${style.symbol('bad')} ${style.text(problem)}`, style.columns)];
  if (!value?.length) return [head, value ? 'There are no Rollouts.' : 'Reading …'];
  return [head, '', ...applicationTrees(value, style, { isQualified: true, rows })];
}

function headLines(name: string, app: Application, style: Style): string[] {
  const parts = [
    ...(app.waiting
      ? [`${style.symbol('busy')} ${style.strong(app.waiting.version)} waits${requestedText(app, style)}`]
      : []),
    app.runs ? runsText(app.runs, style) : `${style.symbol('quiet')} nothing is deployed`,
    ...(app.runs?.rolledBackFrom ? [`${style.symbol('quiet')} ${app.runs.rolledBackFrom} was rolled back`] : []),
    ...(app.failure?.lastGood ? [`${style.symbol('quiet')} last good: ${style.strong(app.failure.lastGood)}`] : []),
  ];
  const line = [style.strong(name), ...parts].join('   ');
  if (style.columns === undefined || widthOf(line) <= style.columns) return [line];
  return [style.strong(name), ...parts.map((part) => `  ${part}`)];
}

/** The cause that no step shows, such as a missing ImagePolicy, or that nothing is bound. */
function problemLines(app: Application, style: Style): string[] {
  const { state } = app;
  const cause = mainCause(app);
  if (!['problem', 'empty', 'done'].includes(state) || !cause || cause.step !== undefined) return [];
  return wrapText(`${style.symbol(state === 'problem' ? 'bad' : 'quiet')} ${style.text(cause.text)}`, style.columns);
}

function requestedText({ waiting }: Application, style: Style): string {
  if (!waiting?.requested) return '';
  const { by, at } = waiting.requested;
  return style.faint(` (requested by ${by} ${style.ago(at)})`);
}

function runsText(runs: Deployment, style: Style): string {
  const { version, timestamp: at, bakeStartTime, bakeEndTime = at } = runs;
  const outcome = outcomeOf(runs);
  const texts: Record<Outcome, string> = {
    Deploying: `deploying for ${style.age(runs.lastRetryTimestamp ?? at)}`,
    InProgress: `baking for ${style.age(bakeStartTime ?? at)}`,
    Succeeded: `${bakeStartTime ? 'baked' : 'deployed'} ${style.ago(bakeEndTime)}`,
    Failed: `failed ${style.ago(bakeEndTime)}`,
    Cancelled: `cancelled ${style.ago(bakeEndTime)}`,
    Unknown: `deployed ${style.ago(at)}`,
  };
  return `${style.symbol(OUTCOME_TONES[outcome])} ${style.strong(version.tag)} ${texts[outcome]}`;
}

function stepLines(step: Step, tone: TerminalTone, width: number, isLast: boolean, style: Style): string[] {
  const lead = `${isLast ? style.branch.last : style.branch.mid}${style.symbol(tone)} `;
  const rail = `${isLast ? style.branch.gap : style.branch.rail}  `;
  const detail = detailText(step, style);
  const isNarrow = style.columns !== undefined && style.columns < 3 + 2 + width + 3 + 30;
  if (isNarrow) {
    const [first = '', ...rest] = wrapText(step.title, style.columns! - 5);
    const more = detail === '' ? [] : wrapText(detail, style.columns! - 7).map((line) => `  ${line}`);
    return [lead + first, ...[...rest, ...more].map((line) => rail + style.faint(line))];
  }
  const [first = '', ...rest] = wrapText(detail, style.columns && style.columns - 5 - width - 3);
  const indent = ' '.repeat(width + 3);
  return [`${lead}${padEnd(step.title, width)}   ${first}`.trimEnd(), ...rest.map((line) => `${rail}${indent}${line}`)];
}

function detailText({ detail = '', by, reason, until, since, state, kind }: Step, style: Style): string {
  const text = style.text(detail);
  const who = by && kind !== 'gate' ? `by ${by}${reason ? `: ${reason}` : ''}` : '';
  const isOver = state === 'passed';
  const word = kind === 'gate' && state === 'blocks' ? 'opens' : 'until';
  const end = until && !isOver && kind !== 'upstream' ? `${word} ${style.when(until)}` : '';
  const hasBegin = since && !isOver && !end && kind !== 'gate' && kind !== 'upstream';
  const begin = hasBegin ? ` (for ${style.age(since)})` : '';
  const parts = [who, end].filter((part) => part !== '');
  const sentence = parts.length > 0 || begin ? text.replace(/\.$/, '') : text;
  // The age is in parentheses: at the end of a sentence it would read as a part of it.
  return [sentence, ...parts].filter((part) => part !== '').join(', ') + begin;
}

function nextLines({ next }: Application, style: Style): string[] {
  return next ? wrapText(nextText(next, style), style.columns) : [];
}

/** `Next at 19:44 (in 29m): the Gate opens`. */
export function nextText({ text, at }: Next, style: Style): string {
  return `Next${at === undefined ? '' : ` at ${style.when(at)}`}: ${style.text(text)}`;
}

/** The changes of an application: its headline and its steps. `before`: undefined at first. */
export function changeLines(before: Application | undefined, after: Application): string[] {
  const name = `${after.namespace}/${after.name}`;
  if (before && sameJson(before.steps, after.steps) && before.headline === after.headline) return [];
  const known = new Map(before?.steps.map((step) => [step.id, step]));
  const steps = before
    ? after.steps.filter((step) => step.state !== known.get(step.id)?.state)
    : after.steps.filter(({ state }) => state === 'blocks');
  const headline = before?.headline === after.headline ? [] : [`${name}: ${after.headline}`];
  return [...headline, ...steps.map((step) => `${name}: ${stepText(step)}`)];
}

function stepText({ title, state, detail }: Step): string {
  return `${title} ${state}${detail ? `: ${detail}` : ''}`;
}
