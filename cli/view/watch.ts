/** `get --watch`: on a terminal the trees, drawn again with every change; on a pipe a line for each change. */
import type { Application } from '../../client/explain/application.ts';
import { explainRollouts } from '../../client/explain/rollout/explainRollout.ts';
import { type Goal, type Progress, progressTo } from '../../client/explain/rollout/reached.ts';
import { formatTime } from '../../core/kube/time.ts';
import type { Cluster, Context } from '../command/command.ts';
import { Live } from '../read/live.ts';
import { readRollouts, type Which } from '../read/rollouts.ts';
import { EXIT } from '../terminal/exit.ts';
import { openScreen } from '../terminal/screen.ts';
import { changeLines } from './changes.ts';
import { lookOf } from './look.ts';
import { applicationTree } from './tree.ts';

/** Ages run on. */
const TICK_MS = 1000;
const QUIET_MS = 60_000;

export interface Until {
  goal: Goal;
  release?: string | undefined;
}

/** Ends with Ctrl-C, or once all have come as far as `until` says. */
export async function watchApplications(
  context: Context,
  cluster: Cluster,
  which: Which,
  until: Until | undefined,
): Promise<number> {
  // A name that there is not is an error, and nothing to wait for.
  if (which.names.length > 0) await readRollouts(cluster, which);
  const { terminal, signal } = context;
  const namespace = which.everywhere ? undefined : cluster.namespace;
  const ended = new AbortController();
  const live = new Live({
    client: cluster.client,
    namespace,
    names: which.names,
    selector: which.selector,
    signal: AbortSignal.any([signal, ended.signal]),
  });
  const draw = terminal.isTerminal ? drawer(context, which) : appender(context);
  try {
    for await (const _ of live.looks(terminal.isTerminal ? TICK_MS : QUIET_MS)) {
      const apps = explainRollouts(live.rollouts, live.around, context.now());
      draw.show(apps, live.isLost);
      const outcome = until && outcomeOf(apps, until);
      if (outcome === 'reached') return EXIT.ok;
      if (outcome === 'failed') return EXIT.failed;
    }
    return EXIT.interrupted;
  } finally {
    ended.abort();
    draw.close();
  }
}

function outcomeOf(apps: readonly Application[], { goal, release }: Until): Progress {
  const all = apps.map((app) => progressTo(goal, app, release));
  if (all.includes('failed')) return 'failed';
  return all.length > 0 && all.every((each) => each === 'reached') ? 'reached' : 'under way';
}

interface Drawer {
  show(apps: readonly Application[], isLost: boolean): void;
  close(): void;
}

function drawer(context: Context, { everywhere }: Which): Drawer {
  const { terminal } = context;
  const screen = openScreen(terminal, () => ({ rows: terminal.rows(), columns: terminal.columns() ?? 80 }));
  return {
    show(apps, isLost) {
      const look = lookOf(context);
      const lines: string[] = [];
      // Of thousands only those that fit are drawn, every second.
      for (const [index, app] of apps.entries()) {
        if (lines.length >= terminal.rows()) {
          lines.push(`… and ${apps.length - index} more Rollouts`);
          break;
        }
        lines.push(...(index > 0 ? [''] : []), ...applicationTree(app, look, everywhere));
      }
      const lost = isLost ? [look.tone('bad', 'The API server is not heard: this may be old. Trying again …')] : [];
      screen.draw(apps.length === 0 ? ['There are no Rollouts.', ...lost] : [...lines, ...lost]);
    },
    close: () => screen.close(),
  };
}

function appender({ terminal, now }: Context): Drawer {
  const before = new Map<string, Application>();
  let wasLost = false;
  return {
    show(apps, isLost) {
      const at = formatTime(now());
      if (isLost !== wasLost)
        terminal.note(isLost ? 'The API server is not heard; trying again.' : 'The API server is heard again.');
      wasLost = isLost;
      for (const app of apps) {
        const key = `${app.namespace}/${app.name}`;
        for (const line of changeLines(before.get(key), app)) terminal.print(`${at} ${line}`);
        before.set(key, app);
      }
      const there = new Set(apps.map((app) => `${app.namespace}/${app.name}`));
      for (const key of [...before.keys()].filter((each) => !there.has(each))) {
        before.delete(key);
        terminal.print(`${at} ${key}: deleted`);
      }
    },
    close() {},
  };
}
