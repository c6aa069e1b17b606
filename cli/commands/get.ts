import { explainRollout } from '../../core/explain/rollout.ts';
import type { CommandDefinition } from '../command/command.ts';
import { ALL_NAMESPACES, output, SELECTOR } from '../command/options.ts';
import { readRollouts } from '../read/rollouts.ts';
import { readSurroundings } from '../read/surroundings.ts';
import { EXIT } from '../terminal/exit.ts';
import { lookOf } from '../view/look.ts';
import { applicationTree } from '../view/tree.ts';

export const get: CommandDefinition = {
  description: `Shows Rollouts, each as a tree: what runs, what waits, each gate, check, object and stage in its way, since when and by whom,
and what happens next by itself.`,
  arguments: [{ syntax: '[rollout...]', help: 'names; all of the namespace when absent', completes: 'rollouts' }],
  options: [ALL_NAMESPACES, SELECTOR, output('json')],
  examples: [
    ['everything in the namespace', 'get'],
    ['one application', 'get my-app -n shop'],
  ],
  async run(context, { arguments: [names], options }) {
    const cluster = await context.cluster();
    const everywhere = options.allNamespaces === true;
    const which = { names: (names ?? []) as string[], everywhere, selector: options.selector };
    const rollouts = await readRollouts(cluster, which);
    const around = await readSurroundings(cluster.client, rollouts, everywhere && which.names.length === 0);
    const now = context.now();
    const apps = rollouts.map((rollout) => explainRollout(rollout, around, now));
    if (options.output === 'json') {
      context.terminal.print(JSON.stringify(apps, undefined, 2));
      return EXIT.ok;
    }
    const look = lookOf(context);
    const isQualified = everywhere;
    apps.forEach((app, index) => {
      if (index > 0) context.terminal.print('');
      for (const line of applicationTree(app, look, isQualified)) context.terminal.print(line);
    });
    if (apps.length === 0)
      context.terminal.note(
        `No Rollouts found in ${everywhere ? 'any namespace' : `namespace '${cluster.namespace}'`}.`,
      );
    return EXIT.ok;
  },
};
