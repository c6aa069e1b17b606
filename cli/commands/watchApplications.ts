/** `get --watch`: on a terminal the trees, drawn again with every change; on a pipe a line for each change. */

import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import type { Application } from '../../client/explain/application.ts';
import { explainRollouts } from '../../client/explain/rollout/explainRollout.ts';
import { type Goal, type GoalProgress, progressTo } from '../../client/explain/rollout/reached.ts';
import { refKey } from '../../core/kube/names.ts';
import { formatTime } from '../../core/kube/time.ts';
import { problemOf } from '../../tools/kube/apiProblems.ts';
import type { Cluster } from '../../tools/kube/cluster.ts';
import { EXIT } from '../../tools/kube/problem.ts';
import { Live } from '../../tools/read/live.ts';
import { readRollouts, type RolloutSelection } from '../../tools/read/namedObjects.ts';
import type { Context } from '../command/command.ts';
import type { ClusterApplications } from '../terminal/applicationTable.ts';
import { openScreen } from '../terminal/screen.ts';
import { styleOf } from '../terminal/style.ts';
import { applicationTrees, changeLines, clusterTree } from '../terminal/tree.ts';

/** Ages run on. */
const TICK_MS = 1000;
const QUIET_MS = 60_000;
/** After which a cluster that did not answer is asked again. */
const RETRY_MS = 15_000;

const LOST = 'Lost connection to the API server; retrying.';

interface Until {
  goal: Goal;
  release?: string | undefined;
}

/** A cluster as it was seen last. `value`: absent before everything was read. `problem`: why it does not answer; it is asked again. */
interface Watched extends Omit<ClusterApplications, 'cluster'> {
  /** The cluster; absent if there is only one. */
  cluster?: string;
  /** Disconnected: the applications may be out of date. */
  isLost: boolean;
}

/**
 * Watches applications until Ctrl-C, or until all have reached `until`. A cluster that does not answer
 * doesn't block the others.
 */
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
  const draw = terminal.isTerminal ? drawer(context, which) : logger(context);
  let progress: GoalProgress = 'under way';
  const see = (at: number, seen: Omit<Watched, 'cluster'>) => {
    const { cluster } = all[at]!;
    all[at] = { ...seen, ...(cluster !== undefined && { cluster }) };
    draw.show(all);
    progress = until ? progressOf(all, until) : 'under way';
    if (progress !== 'under way') ended.abort();
  };
  const follow = async (cluster: Cluster, at: number) => {
    // A name that there is not is an error, and nothing to wait for.
    if (which.names.length > 0) await readRollouts(cluster, which);
    const { client, namespace } = cluster;
    const { names, selector, everywhere } = which;
    const live = new Live({ client, namespace: everywhere ? undefined : namespace, names, selector, signal });
    for await (const _ of live.updates(terminal.isTerminal ? TICK_MS : QUIET_MS))
      see(at, { value: explainRollouts(live.rollouts, live.related, now()), isLost: live.isLost });
  };
  const followOneOfSeveral = async (cluster: Cluster, at: number) => {
    while (!signal.aborted) {
      try {
        await follow(cluster, at);
      } catch (error) {
        if (signal.aborted) return;
        const problem = problemOf(error, cluster.selected);
        if (!problem) throw error;
        see(at, { isLost: false, problem: problem.message });
        await wait(RETRY_MS, undefined, { signal }).catch(() => undefined);
      }
    }
  };
  try {
    // Some reads can't be aborted: those of a silent cluster are not awaited.
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
      const lines = all.flatMap(({ cluster, isLost, ...seen }) => [
        ...(cluster === undefined
          ? applicationTrees(seen.value ?? [], style, { isQualified: everywhere, rows })
          : ['', ...clusterTree({ cluster, ...seen }, style, rows)]),
        ...(isLost ? [style.tone('bad', `${LOST} This may be out of date.`)] : []),
      ]);
      screen.draw(lines[0] === '' ? lines.slice(1) : lines);
    },
    close: () => screen.close(),
  };
}

function logger({ terminal, now }: Context): Drawer {
  /** By cluster. */
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
        const away = awayText(each);
        const of = cluster === undefined ? '' : `${cluster}: `;
        if (away !== (was && awayText(was))) terminal.note(`${of}${away ?? 'Reconnected to the API server.'}`);
        const at = `${formatTime(now())} ${cluster === undefined ? '' : `${cluster} `}`;
        if (value) for (const line of changes(was, value)) terminal.print(`${at}${line}`);
        // What is known of a cluster that has gone stays.
        before.set(cluster, value || !was?.value ? each : { ...each, value: was.value });
      }
    },
    close() {},
  };
}

const awayText = ({ isLost, problem }: Watched) => problem ?? (isLost ? LOST : undefined);
