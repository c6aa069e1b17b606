/** Applications in a table, one a line: `-o wide`. */
import { type Application, type Cause, outcomeOf } from '../../client/explain/application.ts';
import { table } from './columns.ts';
import { OUTCOME_TONES, STATE_TONES, type Style } from './style.ts';

interface TableOptions {
  /** Whether there is a column for the namespace. */
  isQualified: boolean;
  header: boolean;
}

export function applicationTable(apps: readonly Application[], style: Style, options: TableOptions): string[] {
  const rows = apps.map((app) => row(app, style, options.isQualified));
  return table(options.header ? [headOf(options.isQualified), ...rows] : rows);
}

/** The answer of one cluster. */
export interface ClusterApplications {
  cluster: string;
  value?: readonly Application[];
  /** Why the cluster has no applications to show. */
  problem?: string;
}

/** Applications of several clusters in a table, with a row for each cluster without an answer. */
export function clustersTable(answers: readonly ClusterApplications[], style: Style, header: boolean): string[] {
  const head = ['CLUSTER', ...headOf(true)];
  const rows = answers.flatMap(({ cluster, value = [], problem }) => [
    ...value.map((app) => [cluster, ...row(app, style, true)]),
    ...(problem ? [[cluster, '-', '-', '-', '-', '-', style.tone('bad', 'unknown'), style.text(problem)]] : []),
  ]);
  return table(header ? [head, ...rows] : rows);
}

function headOf(isQualified: boolean): string[] {
  return [...(isQualified ? ['NAMESPACE'] : []), 'NAME', 'RUNS', 'SINCE', 'WAITS', 'STATE', 'CAUSE'];
}

function row(app: Application, style: Style, isQualified: boolean): string[] {
  const { runs, waiting, causes, state, pinned } = app;
  return [
    ...(isQualified ? [app.namespace] : []),
    app.name,
    runs ? `${style.symbol(OUTCOME_TONES[outcomeOf(runs)])} ${runs.version.tag}` : '-',
    runs ? style.age(runs.bakeEndTime ?? runs.timestamp) : '-',
    waiting?.version ?? '-',
    style.tone(STATE_TONES[state], state),
    style.text((pinned === undefined ? mainCause(app) : causes[0])?.text ?? ''),
  ];
}

/** The first cause; of a version that runs, only that nothing has it. */
export function mainCause({ state, causes }: Application): Cause | undefined {
  return state === 'done' ? causes.find(({ code }) => code === 'NothingBound') : causes[0];
}
