import type { Rollout } from '../../api/types.ts';
import type { Application } from '../../client/explain/application.ts';
import { explainRollouts } from '../../client/explain/rollout/explainRollout.ts';
import { GOALS, type Goal } from '../../client/explain/rollout/reached.ts';
import { type Surroundings, watchesElsewhere } from '../../client/explain/surroundings.ts';
import type { Cluster, CommandDefinition, Context, Invocation } from '../command/command.ts';
import { ALL_NAMESPACES, output, RELEASE, SELECTOR } from '../command/options.ts';
import { readRollouts, rolloutPages, type Which } from '../read/rollouts.ts';
import { readAllSurroundings, readNamespaces, readSurroundings } from '../read/surroundings.ts';
import { EXIT, Problem } from '../terminal/exit.ts';
import { applicationTable } from '../view/list.ts';
import { lookOf } from '../view/look.ts';
import { structured } from '../view/structured.ts';
import { applicationTree } from '../view/tree.ts';
import { watchApplications } from '../view/watch.ts';

type Format = 'json' | 'yaml' | 'name' | 'wide' | undefined;

export const get: CommandDefinition = {
  description: `Shows Rollouts, each as a tree: what runs, what waits, each gate, check, object and stage in its way, since when and by whom, and what happens next by itself.
On a terminal, --watch draws the tree again with every change; on a pipe it prints a line for each.`,
  arguments: [{ syntax: '[rollout...]', help: 'names; all of the namespace when absent', completes: 'rollouts' }],
  options: [
    ALL_NAMESPACES,
    SELECTOR,
    output('wide', 'name', 'json', 'yaml'),
    { flags: '-w, --watch', help: 'go on until Ctrl-C' },
    { flags: '--until <state>', help: 'with --watch: end once all have come so far', choices: GOALS, completes: GOALS },
    RELEASE,
  ],
  examples: [
    ['everything in the namespace', 'get'],
    ['one application, until its bake has succeeded', 'get my-app -n shop --watch --until baked'],
    ['a line for each of a team, in all namespaces', 'get -A -l team=shop -o wide'],
  ],
  exitCodes: [[EXIT.failed, 'with --until: a deployment has failed']],
  async run(context, invocation) {
    const { options } = invocation;
    const cluster = await context.cluster();
    const which = whichOf(invocation);
    if (options.until && !options.watch)
      throw new Problem('--until goes with --watch; status waits without drawing.', EXIT.usage);
    if (options.watch && options.output) throw new Problem('--watch draws trees: it has no --output.', EXIT.usage);
    if (!options.watch) return show(context, cluster, which, options.output);
    const until = options.until ? { goal: options.until as Goal, release: options.release } : undefined;
    return watchApplications(context, cluster, which, until);
  },
};

function whichOf({ arguments: [names], options }: Invocation): Which {
  const given = (names ?? []) as readonly string[];
  const everywhere = options.allNamespaces === true;
  if (given.length > 0 && (everywhere || options.selector)) {
    throw new Problem('Names go with neither --all-namespaces nor --selector: a name is of one namespace.', EXIT.usage);
  }
  return { names: given, everywhere, selector: options.selector };
}

async function show(context: Context, cluster: Cluster, which: Which, format: Format): Promise<number> {
  const shown = await (format === undefined || format === 'wide'
    ? showForPeople(context, cluster, which, format === 'wide')
    : showForPrograms(context, cluster, which, format));
  if (shown === 0) {
    const where = which.everywhere ? 'any namespace' : `namespace '${cluster.namespace}'`;
    context.terminal.note(`There are no Rollouts in ${where}.`);
  }
  return EXIT.ok;
}

/** A page at a time, as they arrive. */
async function showForPeople(context: Context, cluster: Cluster, which: Which, isWide: boolean): Promise<number> {
  const { terminal } = context;
  const look = lookOf(context);
  const around = which.everywhere ? await readAllSurroundings(cluster.client) : undefined;
  let shown = 0;
  for await (const rollouts of rolloutPages(cluster, which)) {
    for (const [index, lines] of [...blocks(await explain(context, cluster, rollouts, around))].entries()) {
      if (!isWide && shown + index > 0) terminal.print('');
      for (const line of lines) terminal.print(line);
    }
    shown += rollouts.length;
    if (context.signal.aborted) break;
  }
  return shown;

  function* blocks(apps: readonly Application[]): Generator<string[]> {
    const isQualified = which.everywhere;
    if (isWide && apps.length > 0) yield applicationTable(apps, look, { isQualified, header: shown === 0 });
    else for (const app of apps) yield applicationTree(app, look, isQualified);
  }
}

async function showForPrograms(
  context: Context,
  cluster: Cluster,
  which: Which,
  format: 'json' | 'yaml' | 'name',
): Promise<number> {
  const rollouts = await readRollouts(cluster, which);
  if (format === 'name') {
    for (const { metadata } of rollouts) {
      context.terminal.print(`${which.everywhere ? `${metadata.namespace}/` : ''}rollout.kuberik.com/${metadata.name}`);
    }
    return rollouts.length;
  }
  const around = which.everywhere ? await readAllSurroundings(cluster.client) : undefined;
  const items = await explain(context, cluster, rollouts, around);
  const isOne = which.names.length === 1;
  context.terminal.printText(await structured(isOne ? items[0] : { kind: 'ApplicationList', items }, format));
  return rollouts.length || 1;
}

async function explain(context: Context, { client }: Cluster, rollouts: readonly Rollout[], known?: Surroundings) {
  const around = known ?? (await readSurroundings(client, rollouts));
  if (rollouts.some(watchesElsewhere)) around.namespaces ??= await readNamespaces(client);
  return explainRollouts(rollouts, around, context.now());
}
