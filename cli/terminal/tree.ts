/** An application as a tree, and its changes as lines for pipes and logs. */
import { type Application, type DeploymentView, isOfEarlier, type Step } from '../../client/explain/application.ts';
import { padded, widthOf, wrapped } from './layout.ts';
import { OUTCOME_TONES, STEP_TONES, type Style, type Tone } from './style.ts';

/** `isQualified`: with its namespace, where there is more than one. */
export function applicationTree(app: Application, look: Style, isQualified: boolean): string[] {
  const name = isQualified ? `${app.namespace}/${app.name}` : app.name;
  const titles = app.steps.map(({ title }) => widthOf(title));
  // Long names must not push every detail to the right.
  const width = Math.min(Math.max(0, ...titles), 48);
  const branches = app.steps.map((step) => (isLast: boolean) => {
    const tone = isOfEarlier(step, app.waiting?.version) ? 'quiet' : STEP_TONES[step.state];
    return branch(step, tone, width, isLast, look);
  });
  const notes = app.unread.map((text) => (isLast: boolean) => noteLines(text, isLast, look));
  const all = [...branches, ...notes];
  return [
    ...headLines(name, app, look),
    ...all.flatMap((lines, index) => lines(index === all.length - 1)),
    ...nextLines(app, look),
  ];
}

function headLines(name: string, app: Application, look: Style): string[] {
  const parts = [
    ...(app.waiting
      ? [`${look.symbol('busy')} ${look.strong(app.waiting.version)} waits${requestedText(app, look)}`]
      : []),
    app.runs ? runsText(app.runs, look) : `${look.symbol('quiet')} nothing is deployed`,
    ...(app.failure?.lastGood ? [`${look.symbol('quiet')} last good: ${look.strong(app.failure.lastGood)}`] : []),
  ];
  const line = [look.strong(name), ...parts].join('   ');
  if (look.columns === undefined || widthOf(line) <= look.columns) return [line];
  return [look.strong(name), ...parts.map((part) => `  ${part}`)];
}

function requestedText({ waiting }: Application, look: Style): string {
  const { by, at } = waiting?.requested ?? {};
  if (!by) return '';
  return look.faint(` (asked for by ${by}${at ? ` ${look.ago(at)}` : ''})`);
}

function runsText(runs: DeploymentView, look: Style): string {
  const { version, outcome, at, bakeStartedAt, endedAt } = runs;
  const said: Record<DeploymentView['outcome'], string> = {
    Deploying: `deploying for ${look.age(runs.retriedAt ?? at)}`,
    InProgress: `baking for ${look.age(bakeStartedAt ?? at)}`,
    Succeeded: `${bakeStartedAt ? 'baked' : 'deployed'} ${look.ago(endedAt ?? at)}`,
    Failed: `failed ${look.ago(endedAt ?? at)}`,
    Cancelled: `cancelled ${look.ago(endedAt ?? at)}`,
    Unknown: `deployed ${look.ago(at)}`,
  };
  return `${look.symbol(OUTCOME_TONES[outcome])} ${look.strong(version)} ${said[outcome]}`;
}

function branch(step: Step, tone: Tone, width: number, isLast: boolean, look: Style): string[] {
  const lead = `${isLast ? look.branch.last : look.branch.mid}${look.symbol(tone)} `;
  const rail = `${isLast ? look.branch.gap : look.branch.rail}  `;
  const detail = detailText(step, look);
  const isNarrow = look.columns !== undefined && look.columns < 3 + 2 + width + 3 + 30;
  if (isNarrow) {
    const [first = '', ...rest] = wrapped(step.title, look.columns! - 5);
    const more = detail === '' ? [] : wrapped(detail, look.columns! - 7).map((line) => `  ${line}`);
    return [lead + first, ...[...rest, ...more].map((line) => rail + look.faint(line))];
  }
  const [first = '', ...rest] = wrapped(detail, look.columns && look.columns - 5 - width - 3);
  const indent = ' '.repeat(width + 3);
  return [`${lead}${padded(step.title, width)}   ${first}`.trimEnd(), ...rest.map((line) => `${rail}${indent}${line}`)];
}

function detailText({ detail = '', by, reason, until, since, state, kind }: Step, look: Style): string {
  const said = look.text(detail);
  const who = by && kind !== 'gate' ? `by ${by}${reason ? `: ${reason}` : ''}` : '';
  const isOver = state === 'passed';
  const word = kind === 'gate' && state === 'blocks' ? 'opens' : 'until';
  const end = until && !isOver && kind !== 'stage' ? `${word} ${look.when(until)}` : '';
  const begin = since && !isOver && kind !== 'gate' && kind !== 'stage' ? `for ${look.age(since)}` : '';
  const parts = [who, end || begin].filter((part) => part !== '');
  return [parts.length > 0 ? said.replace(/\.$/, '') : said, ...parts].filter((part) => part !== '').join(', ');
}

function noteLines(text: string, isLast: boolean, look: Style): string[] {
  const lead = `${isLast ? look.branch.last : look.branch.mid}${look.symbol('quiet')} `;
  const rail = `${isLast ? look.branch.gap : look.branch.rail}  `;
  return wrapped(`not shown: ${text}`, look.columns && look.columns - 5).map(
    (line, index) => (index === 0 ? lead : rail) + look.faint(line),
  );
}

function nextLines({ next }: Application, look: Style): string[] {
  if (!next) return [];
  const at = next.at ? ` ${look.when(next.at)}` : '';
  return wrapped(`Next: ${look.text(next.text)}${at && `,${at}`}`, look.columns);
}

/** Empty where nothing that is shown has changed. The first look is the headline. */
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

function sameJson(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
