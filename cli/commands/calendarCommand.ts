import { GATES } from '../../api/kinds.ts';
import type { AnyObject } from '../../api/kubernetes.ts';
import type { ClusterRolloutSchedule, Gate, RolloutSchedule } from '../../api/types.ts';
import { type CalendarRow, gateRow, type Span, scheduleRow } from '../../client/explain/calendar/calendarRows.ts';
import { UNREAD, unreadTexts } from '../../client/explain/related.ts';
import { EXIT, Problem } from '../../client/problem.ts';
import type { Cluster } from '../../connection/kube/cluster.ts';
import { structuredText } from '../../connection/kube/objectText.ts';
import { optionalReader } from '../../connection/read/optionalReads.ts';
import { instantOf, localDay } from '../../core/calendar/localTime.ts';
import { gateRequestsOf } from '../../core/gate/gateRequests.ts';
import { evaluateGate } from '../../core/gate/gateTimeline.ts';
import { identityOf, refKey } from '../../core/kube/names.ts';
import { formatTime, parseTime } from '../../core/kube/time.ts';
import { countOf } from '../../core/text/count.ts';
import type { CommandDefinition, Context } from '../command/command.ts';
import { ALL_NAMESPACES, outputOption } from '../command/options.ts';
import { padEnd, widthOf, wrapText } from '../terminal/columns.ts';
import { type Style, styleOf } from '../terminal/style.ts';

const MAX_WEEKS = 8;

export const calendarCommand: CommandDefinition = {
  description: `Draws the next weeks of Gates and schedules: when each is open or closed, and by which user.

The calendar follows from the requests and rules that exist now.
For a namespace it shows the Gates and schedules of that namespace, and Gates of other namespaces that hold its objects.`,
  options: [
    ALL_NAMESPACES,
    { flags: '--weeks <count>', help: `how many, up to ${MAX_WEEKS}`, default: '2' },
    outputOption('json', 'yaml'),
  ],
  examples: [
    ['the next two weeks', 'calendar -n shop'],
    ['everything, for a month', 'calendar -A --weeks 4'],
  ],
  async run(context, { options }) {
    const weeks = Number(options.weeks);
    if (!Number.isInteger(weeks) || weeks < 1 || weeks > MAX_WEEKS) {
      throw new Problem(`--weeks: '${options.weeks}' is not a number from 1 to ${MAX_WEEKS}.`, EXIT.usage);
    }
    const { terminal, timeZone, now } = context;
    const cluster = await context.cluster();
    const from = now();
    const to = instantOf(localDay(from, timeZone) + weeks * 7, 0, timeZone);
    const { gates, schedules, unread } = await readPlans(cluster, options.allNamespaces === true);
    const rows = [
      ...gates.map((gate) => gateRow(gate, from, to)),
      ...schedules.map((schedule) => scheduleRow(schedule, from, to)),
    ];
    if (options.output) {
      terminal.printText(
        await structuredText({ from: formatTime(from), to: formatTime(to), timeZone, rows, unread }, options.output),
      );
      return EXIT.ok;
    }
    const where = options.allNamespaces ? 'the cluster' : `namespace ${cluster.namespace}`;
    if (rows.length > 0) for (const line of calendarLines(rows, weeks, context, styleOf(context))) terminal.print(line);
    else if (unread.length === 0)
      terminal.note(`Nothing opens or closes in ${where}: there is no Gate and no schedule.`);
    const later = laterText(gates, to, context);
    if (later !== undefined) terminal.note(later);
    for (const text of unread) terminal.note(`Not read: ${text}.`);
    return EXIT.ok;
  },
};

async function readPlans({ client, namespace }: Cluster, everywhere: boolean) {
  const { unread, list } = optionalReader(client);
  const [gates, schedules, ofCluster] = await Promise.all([
    list<Gate>('Gate', undefined),
    list<RolloutSchedule>('RolloutSchedule', everywhere ? undefined : namespace),
    list<ClusterRolloutSchedule>('ClusterRolloutSchedule', undefined),
  ]);
  const isNarrow = !everywhere && unread.some(({ kind, why }) => kind === 'Gate' && why === UNREAD.forbidden);
  const own = isNarrow ? await client.list<Gate>({ ...GATES, namespace }) : gates;
  const here = ofCluster.filter(
    ({ status }) => everywhere || status?.managedGates?.some((gate) => gate.startsWith(`${namespace}/`)),
  );
  const byName = (a: AnyObject, b: AnyObject) => (refKey(identityOf(a)) < refKey(identityOf(b)) ? -1 : 1);
  return {
    gates: own.filter((gate) => everywhere || concernsNamespace(gate, namespace)).sort(byName),
    schedules: [...schedules.sort(byName), ...here.sort(byName)],
    unread: [
      ...(isNarrow ? [`Gates of other namespaces: ${UNREAD.forbidden}`] : []),
      ...unreadTexts(unread.filter(({ kind }) => !isNarrow || kind !== 'Gate')),
    ],
  };
}

function concernsNamespace({ metadata, status }: Gate, namespace: string): boolean {
  return metadata.namespace === namespace || (status?.requiredBy ?? []).some((held) => held.namespace === namespace);
}

/** The planned closures that begin after the calendar's end, and the option that shows them; undefined: none. */
function laterText(gates: readonly Gate[], end: number, { now, timeZone }: Output): string | undefined {
  const later = gates.flatMap((gate) => {
    const { planned } = gateRequestsOf(gate, now());
    if (planned?.action !== 'close' || planned.at < end) return [];
    return [{ at: planned.at, until: evaluateGate(gate, planned.at).until }];
  });
  if (later.length === 0) return undefined;
  const ends = later.map(({ until }) => until ?? Number.POSITIVE_INFINITY);
  const last = Math.max(...ends);
  const until = Number.isFinite(last) ? `until ${clockText(last, timeZone, true)}` : 'without an end';
  const today = localDay(now(), timeZone);
  const weeks = Math.ceil((localDay(Math.max(...later.map(({ at }) => at)), timeZone) + 1 - today) / DAYS);
  const how =
    weeks <= MAX_WEEKS
      ? `To show all: --weeks ${weeks}`
      : `The last begins after the longest calendar, --weeks ${MAX_WEEKS}`;
  return `Planned later: ${countOf(later.length, 'closure')} ${until}. ${how}.`;
}

// The coming weeks as a picture: a row for each Gate and schedule, a few cells for each day.

type Output = Pick<Context, 'terminal' | 'now' | 'timeZone'>;

const DAYS = 7;
/** The most spans of a week that are listed as text. */
const MAX_SPAN_TEXTS = 3;

function calendarLines(rows: readonly CalendarRow[], weeks: number, seen: Output, style: Style): string[] {
  const { terminal, now, timeZone } = seen;
  const columns = terminal.columns() ?? 100;
  const names = rows.map(nameOf);
  const widest = Math.max(...names.map((name) => widthOf(name)));
  // A name is beside its picture if both fit into a line.
  const isBeside = widest + 2 + DAYS * 6 <= columns;
  const indent = isBeside ? widest + 2 : 2;
  const perDay = Math.max(1, Math.min(8, Math.floor((columns - indent) / DAYS) - 1));
  const today = localDay(now(), timeZone);
  const blocks = Array.from({ length: weeks }, (_, week) => {
    const first = today + week * DAYS;
    const days = Array.from({ length: DAYS }, (_each, index) => first + index);
    const heads = days.map((day) => padEnd(headOf(day, timeZone, perDay), perDay + 1)).join('');
    const lines = rows.flatMap((row, index) => {
      const picture = days.map((day) => dayCells(row, day, perDay, seen, style)).join(' ');
      const texts = spanTexts(row, first, seen).flatMap((text) =>
        wrapText(style.text(text), columns - indent).map((line) => ' '.repeat(indent) + style.faint(line)),
      );
      const name = style.strong(names[index]!);
      return isBeside
        ? [`${padEnd(name, widest + 2)}${picture}`, ...texts]
        : [name, `${' '.repeat(indent)}${picture}`, ...texts];
    });
    return [`${' '.repeat(indent)}${heads}`.trimEnd(), ...lines];
  });
  const problems = rows.flatMap(({ problem }, index) =>
    problem ? wrapText(`${names[index]}: ${problem}`, columns) : [],
  );
  const [open, closed, both] = symbolsOf(style);
  return [
    ...blocks.flatMap((lines, index) => (index > 0 ? ['', ...lines] : lines)),
    '',
    ...problems,
    ...wrapText(`${closed} closed  ${open} open  ${both} both; ${timeZone}`, columns),
  ];
}

function nameOf({ kind, namespace, name, holds }: CalendarRow): string {
  return `${kind} ${refKey({ namespace, name })}${holds ? ` (${holds})` : ''}`;
}

function symbolsOf(style: Style): [open: string, closed: string, both: string] {
  const isPlain = style.branch.mid.startsWith('|');
  return isPlain ? ['.', '#', '+'] : ['·', '█', '▒'];
}

/** The label of a day: `Fri 27`; in few columns `Fri` or `Fr`. */
function headOf(day: number, timeZone: string, width: number): string {
  const at = instantOf(day, 12 * 60, timeZone);
  const [weekday, date] = ['weekday', 'day'].map((part) =>
    new Intl.DateTimeFormat('en-GB', { timeZone, [part]: part === 'weekday' ? 'short' : 'numeric' }).format(at),
  ) as [string, string];
  return width >= 6 ? `${weekday} ${date}` : width >= 3 ? weekday : weekday.slice(0, width);
}

function dayCells(
  { spans }: CalendarRow,
  day: number,
  perDay: number,
  { now, timeZone }: Output,
  style: Style,
): string {
  const [open, closed, both] = symbolsOf(style);
  const [start, end] = [instantOf(day, 0, timeZone), instantOf(day + 1, 0, timeZone)];
  const cell = (end - start) / perDay;
  return Array.from({ length: perDay }, (_, index) => {
    const [from, to] = [start + index * cell, start + (index + 1) * cell];
    // The past is not drawn.
    if (to <= now()) return ' ';
    const states = new Set(spans.filter((span) => overlaps(span, Math.max(from, now()), to)).map(({ state }) => state));
    if (states.size === 0) return ' ';
    if (states.size > 1) return style.tone('busy', both);
    return states.has('closed') ? style.tone('bad', closed) : style.faint(open);
  }).join('');
}

function overlaps({ from, to }: Span, start: number, end: number): boolean {
  return (parseTime(from) ?? 0) < end && (parseTime(to) ?? 0) > start;
}

/** The spans of a week, each in the week of its start: `closed Fri 00:00 – Sat 00:00, by its schedule`. */
function spanTexts({ spans }: CalendarRow, first: number, { now, timeZone }: Output): string[] {
  const [start, end] = [instantOf(first, 0, timeZone), instantOf(first + DAYS, 0, timeZone)];
  const last = parseTime(spans.at(-1)?.to ?? '');
  const of = spans.filter(({ state, from, to }) => {
    const at = parseTime(from) ?? 0;
    return state !== 'open' && at < end && (at >= start || start <= now()) && (parseTime(to) ?? 0) > start;
  });
  const texts = of.slice(0, MAX_SPAN_TEXTS).map(({ state, from, to, why }) => {
    const [begin, until] = [parseTime(from) ?? 0, parseTime(to) ?? 0];
    const text = (at: number) => clockText(at, timeZone, first > localDay(now(), timeZone));
    const begins = begin <= now() ? '' : ` ${text(begin)}`;
    const ends = until === last ? '' : begins === '' ? ` until ${text(until)}` : ` – ${text(until)}`;
    const reason = why.replace(/^(closed|open) /, '');
    return `${state === 'closed' ? 'closed' : 'open'}${begins}${ends}, ${reason}`;
  });
  return of.length > MAX_SPAN_TEXTS ? [...texts, `and ${of.length - MAX_SPAN_TEXTS} more`] : texts;
}

/** The time of a span's edge: `Sat 00:00`, or `Sat 5 Dec 00:00` if it is dated. */
function clockText(at: number, timeZone: string, isDated: boolean): string {
  const date = isDated ? ({ day: 'numeric', month: 'short' } as const) : {};
  const clock = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;
  const format = new Intl.DateTimeFormat('en-GB', { timeZone, weekday: 'short', ...date, ...clock });
  return format.format(at).replaceAll(',', '').replace(' at ', ' ');
}
