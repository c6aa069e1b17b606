import { GATES, KINDS, type KindName, resourceOf } from '../../api/kinds.ts';
import type { KubeObject } from '../../api/kubernetes.ts';
import type { ClusterRolloutSchedule, Gate, RolloutSchedule } from '../../api/types.ts';
import { gateRow, scheduleRow } from '../../client/explain/calendar/spans.ts';
import { instantOf, localDay } from '../../core/calendar/localTime.ts';
import { formatTime } from '../../core/kube/time.ts';
import type { Cluster, CommandDefinition } from '../command/command.ts';
import { ALL_NAMESPACES, output } from '../command/options.ts';
import { isApiError } from '../kube/apiError.ts';
import { EXIT, Problem } from '../terminal/exit.ts';
import { calendarLines } from '../view/calendar.ts';
import { lookOf } from '../view/look.ts';
import { structured } from '../view/structured.ts';

const MOST_WEEKS = 8;

export const calendarCommand: CommandDefinition = {
  description: `The next weeks of Gates and schedules as a picture: open, closed, by whom and until when, by what is known now. In a namespace it shows its own, and those of others that hold something there.`,
  options: [
    ALL_NAMESPACES,
    { flags: '--weeks <count>', help: `how many, up to ${MOST_WEEKS}`, default: '2' },
    output('json', 'yaml'),
  ],
  examples: [
    ['the next two weeks', 'calendar -n shop'],
    ['everything, for a month', 'calendar -A --weeks 4'],
  ],
  async run(context, { options }) {
    const weeks = Number(options.weeks);
    if (!Number.isInteger(weeks) || weeks < 1 || weeks > MOST_WEEKS) {
      throw new Problem(`--weeks: '${options.weeks}' is not a number from 1 to ${MOST_WEEKS}.`, EXIT.usage);
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
        await structured({ from: formatTime(from), to: formatTime(to), timeZone, rows, unread }, options.output),
      );
      return EXIT.ok;
    }
    const where = options.allNamespaces ? 'the cluster' : `namespace '${cluster.namespace}'`;
    if (rows.length === 0) terminal.note(`Nothing opens or closes in ${where}: there is no Gate and no schedule.`);
    else for (const line of calendarLines(rows, weeks, context, lookOf(context))) terminal.print(line);
    for (const text of unread) terminal.note(`Not shown: ${text}.`);
    return EXIT.ok;
  },
};

interface Plans {
  gates: Gate[];
  schedules: (RolloutSchedule | ClusterRolloutSchedule)[];
  unread: string[];
}

async function readPlans({ client, namespace }: Cluster, everywhere: boolean): Promise<Plans> {
  const unread: string[] = [];
  const tried = async <T extends KubeObject<any, any>>(
    kind: KindName,
    home: string | undefined,
  ): Promise<T[] | undefined> => {
    try {
      return await client.list<T>({ ...resourceOf(KINDS[kind]), namespace: home });
    } catch (error) {
      if (isApiError(error, 404)) return [];
      if (!isApiError(error, 403)) throw error;
      return undefined;
    }
  };
  const listed = async <T extends KubeObject<any, any>>(kind: KindName, home: string | undefined): Promise<T[]> => {
    const found = await tried<T>(kind, home);
    if (!found) unread.push(`${kind}s${home ? ` in ${home}` : ''}, which you may not read`);
    return found ?? [];
  };
  const readGates = async (): Promise<Gate[]> => {
    const all = await tried<Gate>('Gate', undefined);
    if (all) return everywhere ? all : all.filter((gate) => isAbout(gate, namespace));
    if (!everywhere) unread.push('Gates of other namespaces, which you may not read');
    return everywhere ? listed<Gate>('Gate', undefined) : client.list<Gate>({ ...GATES, namespace });
  };
  const [gates, schedules, ofCluster] = await Promise.all([
    readGates(),
    listed<RolloutSchedule>('RolloutSchedule', everywhere ? undefined : namespace),
    listed<ClusterRolloutSchedule>('ClusterRolloutSchedule', undefined),
  ]);
  const here = ofCluster.filter(
    ({ status }) => everywhere || status?.managedGates?.some((gate) => gate.startsWith(`${namespace}/`)),
  );
  const key = ({ metadata }: KubeObject<any, any>) => `${metadata.namespace ?? ''}/${metadata.name}`;
  const byName = (a: KubeObject<any, any>, b: KubeObject<any, any>) => (key(a) < key(b) ? -1 : 1);
  return { gates: gates.sort(byName), schedules: [...schedules.sort(byName), ...here.sort(byName)], unread };
}

function isAbout({ metadata, status }: Gate, namespace: string): boolean {
  return metadata.namespace === namespace || (status?.heldObjects ?? []).some((held) => held.namespace === namespace);
}
