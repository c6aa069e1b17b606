/** `get --watch`: on a terminal the trees, drawn again with every change; on a pipe a line for each change. */
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import type { Application } from '../../client/explain/application.ts';
import { explainRollouts } from '../../client/explain/rollout/explainRollout.ts';
import { type Goal, type GoalProgress, progressTo } from '../../client/explain/rollout/reached.ts';
import { EXIT } from '../../client/problem.ts';
import { problemOf } from '../../connection/kube/apiProblems.ts';
import type { Cluster } from '../../connection/kube/cluster.ts';
import { Live } from '../../connection/read/live.ts';
import { type RolloutSelection, readRollouts } from '../../connection/read/namedObjects.ts';
import { refKey } from '../../core/kube/names.ts';
import { formatTime } from '../../core/kube/time.ts';
import type { Context } from '../command/command.ts';
import type { ClusterApplications } from '../terminal/applicationTable.ts';
import { openScreen } from '../terminal/screen.ts';
import { styleOf } from '../terminal/style.ts';
import { applicationTrees, changeLines, clusterTree } from '../terminal/tree.ts';

/** The interval at which trees are redrawn without a change, because ages grow. */
const REDRAW_MS = 1000;
/** The interval at which the goal is checked on a pipe without a change. */
const RECHECK_MS = 60_000;
/** The time to the next read of a cluster that didn't answer. */
const RETRY_MS = 15_000;

const LOST = 'Lost connection to the API server; retrying.';

interface Until {
  goal: Goal;
  release?: string | undefined;
}

/** The last known state of a cluster. `value`: absent before the first read. `problem`: why it does not answer. */
interface Watched extends Omit<ClusterApplications, 'cluster'> {
  /** The cluster; absent if there is only one. */
  cluster?: string;
  /** Whether a watch is disconnected, so that the applications may be out of date. */
  isLost: boolean;
}

/** Watches applications until Ctrl-C, or until all have reached `until`. No cluster delays the others. */
export async function watchApplications(
  context: Context,
  clusters: readonly Cluster[],
  which: RolloutSelection,
  until: Until | undefined,
): Promise<number> {
  const { terminal, now } = context;
  const ended = new AbortController();
  const signal = AbortSignal.any([context.signal, ended.signal]);
  const isOne = clusters.length === 1;
  const all: Watched[] = clusters.map(({ selected }) => ({
    isLost: false,
    ...(!isOne && { cluster: selected.context }),
  }));
  const draw = terminal.isTerminal ? drawer(context, which) : changePrinter(context);
  let progress: GoalProgress = 'under way';
  const update = (index: number, state: Omit<Watched, 'cluster'>) => {
    const { cluster } = all[index]!;
    all[index] = { ...state, ...(cluster !== undefined && { cluster }) };
    draw.show(all);
    progress = until ? progressOf(all, until) : 'under way';
    if (progress !== 'under way') ended.abort();
  };
  const follow = async (cluster: Cluster, index: number) => {
    // A watch would wait for a Rollout that doesn't exist: this read throws.
    if (which.names.length > 0) await readRollouts(cluster, which);
    const { client, namespace } = cluster;
    const { names, selector, everywhere } = which;
    const live = new Live({ client, namespace: everywhere ? undefined : namespace, names, selector, signal });
    for await (const _ of live.updates(terminal.isTerminal ? REDRAW_MS : RECHECK_MS))
      update(index, { value: explainRollouts(live.rollouts, live.related, now()), isLost: live.isLost });
  };
  const followOneOfSeveral = async (cluster: Cluster, index: number) => {
    while (!signal.aborted) {
      try {
        await follow(cluster, index);
      } catch (error) {
        if (signal.aborted) return;
        const problem = problemOf(error, cluster.selected);
        if (!problem) throw error;
        update(index, { isLost: false, problem: problem.message });
        await wait(RETRY_MS, undefined, { signal }).catch(() => undefined);
      }
    }
  };
  try {
    // Reads that can't be aborted are not awaited: a cluster may never answer.
    await Promise.race([Promise.all(clusters.map(isOne ? follow : followOneOfSeveral)), once(signal, 'abort')]);
  } finally {
    ended.abort();
    draw.close();
  }
  return { reached: EXIT.ok, failed: EXIT.failed, 'under way': EXIT.interrupted }[progress];
}

function progressOf(all: readonly Watched[], { goal, release }: Until): GoalProgress {
  const each = all.flatMap(({ value = [] }) => value.map((app) => progressTo(goal, app, release)));
  if (each.includes('failed')) return 'failed';
  const isWhole = each.length > 0 && all.every(({ value }) => value !== undefined);
  return isWhole && each.every((is) => is === 'reached') ? 'reached' : 'under way';
}

/** Shows the states of the clusters: draws them, or prints changes. */
interface Drawer {
  show(all: readonly Watched[]): void;
  close(): void;
}

function drawer(context: Context, { everywhere }: RolloutSelection): Drawer {
  const { terminal } = context;
  const screen = openScreen(terminal, () => ({ rows: terminal.rows(), columns: terminal.columns() ?? 80 }));
  return {
    show(all) {
      const style = styleOf(context);
      const rows = terminal.rows();
      const lines = all.flatMap(({ cluster, isLost, ...state }) => [
        ...(cluster === undefined
          ? applicationTrees(state.value ?? [], style, { isQualified: everywhere, rows })
          : ['', ...clusterTree({ cluster, ...state }, style, rows)]),
        ...(isLost ? [style.tone('bad', `${LOST} This may be out of date.`)] : []),
      ]);
      screen.draw(lines[0] === '' ? lines.slice(1) : lines);
    },
    close: () => screen.close(),
  };
}

function changePrinter({ terminal, now }: Context): Drawer {
  const before = new Map<string | undefined, Watched>();
  const changes = (was: Watched | undefined, apps: readonly Application[]): string[] => {
    const known = new Map(was?.value?.map((app) => [refKey(app), app]));
    const lines = apps.flatMap((app) => changeLines(known.get(refKey(app)), app));
    for (const app of apps) known.delete(refKey(app));
    return [...lines, ...[...known.keys()].map((key) => `${key}: deleted`)];
  };
  return {
    show(all) {
      for (const each of all) {
        const { cluster, value } = each;
        const was = before.get(cluster);
        if (was === each) continue;
        const trouble = troubleText(each);
        const of = cluster === undefined ? '' : `${cluster}: `;
        if (trouble !== (was && troubleText(was))) terminal.note(`${of}${trouble ?? 'Reconnected to the API server.'}`);
        const at = `${formatTime(now())} ${cluster === undefined ? '' : `${cluster} `}`;
        if (value) for (const line of changes(was, value)) terminal.print(`${at}${line}`);
        // The last applications of a cluster that does not answer are kept, to compare with those after it.
        before.set(cluster, value || !was?.value ? each : { ...each, value: was.value });
      }
    },
    close() {},
  };
}

const troubleText = ({ isLost, problem }: Watched) => problem ?? (isLost ? LOST : undefined);
