import type { Rollout } from '../../api/types.ts';
import { commandViewsOf } from '../../client/actions/lines.ts';
import { rolloutActions } from '../../client/actions/rolloutActions.ts';
import type { Application } from '../../client/explain/application.ts';
import { type RelatedObjects, relatedByNamespace, watchesOtherNamespaces } from '../../client/explain/related.ts';
import { explainRollouts } from '../../client/explain/rollout/explainRollout.ts';
import { GOALS, type Goal } from '../../client/explain/rollout/reached.ts';
import { EXIT, Problem } from '../../client/problem.ts';
import type { Cluster } from '../../connection/kube/cluster.ts';
import { isApiError } from '../../connection/kube/kubeClient.ts';
import { structuredText } from '../../connection/kube/objectText.ts';
import { answersOf, type ClusterAnswer } from '../../connection/read/clusters.ts';
import { type RolloutSelection, readRollouts, rolloutPages } from '../../connection/read/namedObjects.ts';
import { readAllRelated, readNamespaces, readRelated } from '../../connection/read/readRelated.ts';
import { withFullStop } from '../../core/text/commands.ts';
import type { CommandDefinition, Context, Invocation } from '../command/command.ts';
import { ALL_NAMESPACES, CONTEXTS, outputOption, RELEASE, SELECTOR } from '../command/options.ts';
import { forSameCluster } from '../command/sameCluster.ts';
import { applicationTable, clustersTable } from '../terminal/applicationTable.ts';
import { styleOf } from '../terminal/style.ts';
import { applicationTree, clusterTree, unreadLines } from '../terminal/tree.ts';
import { watchApplications } from './watchApplications.ts';

type Format = 'json' | 'yaml' | 'name' | 'wide' | undefined;

export const get: CommandDefinition = {
  description: `Shows Rollouts, each as a tree: what runs, what waits, what blocks it, and what happens next.

Gates, RolloutGates, HealthChecks, Flux objects and upstream Rollouts can block a version. The tree has the time and the user of each.
On a terminal, --watch draws the trees again with every change. If not all fit, those that need a user come first. In a pipe it prints a line for each change.
With several --context it reads or watches all these clusters at once. A cluster that does not answer is listed with the cause; without --watch the exit code is then 1.`,
  arguments: [
    { syntax: '[rollout...]', help: 'names; all of the namespace when absent', completes: { names: 'Rollout' } },
  ],
  options: [
    ALL_NAMESPACES,
    SELECTOR,
    CONTEXTS,
    outputOption('wide', 'name', 'json', 'yaml'),
    { flags: '-w, --watch', help: 'keep watching until Ctrl-C' },
    {
      flags: '--until <state>',
      help: 'with --watch: exit once all Rollouts have reached this state',
      choices: GOALS,
    },
    RELEASE,
  ],
  examples: [
    ['everything in the namespace', 'get'],
    ['one application, until its bake has succeeded', 'get my-app -n shop --watch --until baked'],
    ['one line for each Rollout of a team, in all namespaces', 'get -A -l team=shop -o wide'],
    ['one application in two clusters', 'get my-app -n shop --context staging --context production -o wide'],
  ],
  exitCodes: [[EXIT.failed, 'with --until: a deployment has failed']],
  async run(context, invocation) {
    const { options } = invocation;
    const clusters = await context.clusters();
    const which = selectionOf(invocation);
    if (options.until && !options.watch)
      throw new Problem('--until needs --watch. To wait without drawing, use status.', EXIT.usage);
    if (options.release && !options.until) throw new Problem('--release needs --until.', EXIT.usage);
    if (options.watch && options.output) throw new Problem("--watch and --output can't be combined.", EXIT.usage);
    if (options.watch) {
      const until = options.until ? { goal: options.until as Goal, release: options.release } : undefined;
      return namingSelector(which, watchApplications(context, clusters, which, until));
    }
    return namingSelector(
      which,
      clusters.length > 1
        ? showClusters(context, clusters, which, options.output)
        : show(context, await context.cluster(), which, options.output),
    );
  },
};

/** The result. A refusal of the selector names the option, which the API server's message lacks. @throws Problem */
function namingSelector({ selector }: RolloutSelection, result: Promise<number>): Promise<number> {
  return result.catch((error) => {
    if (selector === undefined || !isApiError(error, 400)) throw error;
    throw new Problem(`--selector: '${selector}' does not parse: ${withFullStop(error.message)}`, EXIT.usage);
  });
}

function selectionOf({ arguments: [names], options }: Invocation): RolloutSelection {
  const given = (names ?? []) as readonly string[];
  const everywhere = options.allNamespaces === true;
  if (given.length > 0 && (everywhere || options.selector)) {
    throw new Problem(
      'Give names, or else --all-namespaces and --selector: a name is looked up in one namespace.',
      EXIT.usage,
    );
  }
  return { names: given, everywhere, selector: options.selector };
}

async function show(context: Context, cluster: Cluster, which: RolloutSelection, format: Format): Promise<number> {
  const shown = await (format === undefined || format === 'wide'
    ? showForPeople(context, cluster, which, format === 'wide')
    : showForPrograms(context, cluster, which, format));
  if (shown === 0 && format !== 'json' && format !== 'yaml') {
    const where = which.everywhere ? 'any namespace' : `namespace ${cluster.namespace}`;
    const labels = which.selector ? ` with the labels '${which.selector}'` : '';
    context.terminal.note(`There are no Rollouts${labels} in ${where}.`);
    if (labels) return EXIT.ok;
    const everywhere = which.everywhere ? '' : 'To list those of all namespaces:\n  kubectl rollouts get -A\n';
    const adopt = 'To adopt a running application under one:\n  kubectl rollouts adopt kustomization/my-app';
    context.terminal.noteText(forSameCluster(everywhere + adopt, context.flags));
  }
  return EXIT.ok;
}

/** Prints trees or tables, page by page, and returns the number of Rollouts. */
async function showForPeople(
  context: Context,
  cluster: Cluster,
  which: RolloutSelection,
  isWide: boolean,
): Promise<number> {
  const { terminal } = context;
  const style = styleOf(context);
  const isQualified = which.everywhere;
  const related = isQualified ? await readAllRelated(cluster.client) : undefined;
  let shown = 0;
  const unread: string[] = [];
  for await (const rollouts of rolloutPages(cluster, which)) {
    const apps = await explain(context, cluster, rollouts, related);
    unread.push(...apps.flatMap((app) => app.unread));
    const lines =
      isWide && apps.length > 0
        ? applicationTable(apps, style, { isQualified, header: shown === 0 })
        : apps.flatMap((app, index) => [
            ...(shown + index > 0 ? [''] : []),
            ...applicationTree(app, style, isQualified),
          ]);
    for (const line of lines) terminal.print(line);
    shown += rollouts.length;
    if (context.signal.aborted) break;
  }
  if (!isWide) for (const line of unreadLines(unread, style)) terminal.print(line);
  return shown;
}

/** Prints names, JSON or YAML, and returns the number of Rollouts. */
async function showForPrograms(
  context: Context,
  cluster: Cluster,
  which: RolloutSelection,
  format: 'json' | 'yaml' | 'name',
): Promise<number> {
  const { terminal } = context;
  const rollouts = await readRollouts(cluster, which);
  if (format === 'name') {
    for (const { metadata } of rollouts)
      terminal.print(`rollout.kuberik.com/${which.everywhere ? `${metadata.namespace}/` : ''}${metadata.name}`);
    return rollouts.length;
  }
  const related = which.everywhere ? await readAllRelated(cluster.client) : undefined;
  const items = await explainForPrograms(context, cluster, rollouts, related);
  const value = which.names.length === 1 ? items[0] : { kind: 'ApplicationList', items };
  terminal.printText(await structuredText(value, format));
  return rollouts.length;
}

/** Prints the Rollouts of several clusters. Not as names, which other commands take for one cluster. */
async function showClusters(
  context: Context,
  clusters: readonly Cluster[],
  which: RolloutSelection,
  format: Format,
): Promise<number> {
  if (format === 'name') throw new Problem('-o name works with one --context only.', EXIT.usage);
  const { terminal, signal } = context;
  const style = styleOf(context);
  const isForPrograms = format === 'json' || format === 'yaml';
  const read = async (cluster: Cluster) => {
    const rollouts = await readRollouts(cluster, which);
    const related = which.everywhere ? await readAllRelated(cluster.client) : undefined;
    return (isForPrograms ? explainForPrograms : explain)(context, cluster, rollouts, related);
  };
  const all: ClusterAnswer<Application[]>[] = [];
  for await (const answers of answersOf(clusters, read, signal)) {
    const isFirst = all.length === 0;
    all.push(...answers);
    if (isForPrograms) continue;
    const lines =
      format === 'wide'
        ? clustersTable(answers, style, isFirst)
        : answers.flatMap((each) => ['', ...clusterTree(each, style)]);
    for (const line of !isFirst || format === 'wide' ? lines : lines.slice(1)) terminal.print(line);
  }
  const problems = all.flatMap(({ cluster, problem }) => (problem ? [{ cluster, problem }] : []));
  if (isForPrograms) {
    const items = all.flatMap(({ cluster, value = [] }) => value.map((app) => ({ cluster, ...app })));
    terminal.printText(await structuredText({ kind: 'ApplicationList', items, unanswered: problems }, format));
  }
  return problems.length > 0 ? EXIT.error : EXIT.ok;
}

async function explain(context: Context, { client }: Cluster, rollouts: readonly Rollout[], known?: RelatedObjects) {
  const related = known ?? (await readRelated(client, rollouts));
  if (rollouts.some(watchesOtherNamespaces)) related.namespaces ??= await readNamespaces(client);
  return explainRollouts(rollouts, related, context.now());
}

/** The explanations with command lines for the actions. */
async function explainForPrograms(
  context: Context,
  cluster: Cluster,
  rollouts: readonly Rollout[],
  known?: RelatedObjects,
) {
  const related = known ?? (await readRelated(cluster.client, rollouts));
  const relatedOf = relatedByNamespace(related);
  const now = context.now();
  return (await explain(context, cluster, rollouts, related)).map((app, index) => {
    const actions = rolloutActions(rollouts[index]!, app, relatedOf(app.namespace), now);
    return { ...app, commands: commandViewsOf(actions, now) };
  });
}
