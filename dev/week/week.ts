/** `node dev/week/week.ts`: the week by kubectl, by `kubectl rollouts` and on the page: steps, keystrokes, seconds. */
import { join } from 'node:path';
import { logToStderr } from '../local/process/log.ts';
import { parseOptions, readCommandLine, UsageError } from '../local/process/options.ts';
import { onTemporaryCluster } from '../local/temporaryCluster.ts';
import { buildCli } from '../scripts/build-cli.ts';
import { type Effort, effortOfCommands, effortOfPage } from './effort.ts';
import { playTask } from './play.ts';
import { enterStage } from './stage.ts';
import { NAMESPACE, readTasks, type Task } from './tasks.ts';

const HELP = `Usage: node dev/week/week.ts [--by kubectl|rollouts] [--json]

Does the ten tasks of a working week (tasks.yaml) on a control plane of its own, and prints for each what it takes: steps, keystrokes, and seconds,
those of a person by the keystroke-level model and those of the machine as measured. What is done on the page is counted, not played: its
tests in Chromium do that.

  --by WAY   only this one is played (default: kubectl, which has to be on the path, then rollouts, which is built)
  --json     print JSON instead of a table
  --help     this text
`;

type Typed = 'kubectl' | 'rollouts';

interface Row {
  task: Task;
  efforts: Record<Typed | 'page', Effort>;
  /** Of the machine, by way. */
  machine: Partial<Record<Typed, number>>;
}

const WAYS: Typed[] = ['kubectl', 'rollouts'];

const { played, json } = readCommandLine(HELP, (args) => {
  const { values } = parseOptions({ args, options: { by: { type: 'string' }, json: { type: 'boolean' } } });
  const played = WAYS.filter((way) => values.by === undefined || values.by === way);
  if (played.length === 0) throw new UsageError(`--by ${values.by} is not one of ${WAYS.join(', ')}.`);
  return { played, json: values.json };
});

const code = await onTemporaryCluster({ prefix: 'rollout-hooks-week-' }, async (cluster, interrupt) => {
  const rows: Row[] = readTasks().map((task) => ({
    task,
    efforts: {
      kubectl: effortOfCommands(task.ways.kubectl),
      rollouts: effortOfCommands(task.ways.rollouts),
      page: effortOfPage(task.ways.page),
    },
    machine: {},
  }));
  const work = async () => {
    const folder = join(cluster.dir, 'rollouts');
    await buildCli(folder);
    const rollouts = `${process.execPath} ${join(folder, 'kubectl-rollouts.js')}`;
    for (const way of played) {
      const namespace = `${NAMESPACE}-${way}`;
      const stage = await enterStage(cluster.accessOf, namespace);
      for (const row of rows) {
        const { seconds } = await playTask(row.task, way, stage, {
          namespace,
          rollouts,
          kubeconfigOf: cluster.kubeconfigOf,
        });
        row.machine[way] = seconds;
        logToStderr(`${row.task.id} by ${way}: done, ${seconds.toFixed(1)} s of the machine`);
      }
      await stage.leave();
    }
    return 0;
  };
  const ended = await Promise.race([work(), interrupt]);
  if (ended === undefined) return 130;
  process.stdout.write(json ? `${JSON.stringify(rows, undefined, 2)}\n` : asTable(rows));
  return 0;
});
process.exit(code);

function asTable(rows: readonly Row[]): string {
  const lines = rows.map(({ task, efforts, machine }) => {
    const cells = (['kubectl', 'rollouts', 'page'] as const).map((way) => {
      const { steps, keystrokes, seconds } = efforts[way];
      const all = seconds + (way === 'page' ? 0 : (machine[way] ?? 0));
      return `${steps} / ${keystrokes} / ${Math.round(all)} s`;
    });
    return `| ${[task.asks, ...cells].join(' | ')} |`;
  });
  const head = '| task | kubectl | kubectl rollouts | the page |\n| --- | --- | --- | --- |';
  return `Steps / keystrokes / seconds.\n\n${head}\n${lines.join('\n')}\n`;
}
