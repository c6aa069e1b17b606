import type { CommandDefinition } from '../command/command.ts';
import { output } from '../command/options.ts';
import { explained, withRights } from '../read/explained.ts';
import { readTarget } from '../read/target.ts';
import { EXIT } from '../terminal/exit.ts';
import { explanationLines } from '../view/explanation.ts';
import { lookOf } from '../view/look.ts';
import { structured } from '../view/structured.ts';

export const why: CommandDefinition = {
  description: `Why an object waits, is held or suspended, or was refused: the cause first, what happens by itself, and the exact commands that
would let it go, each with whether you may run it. KIND is any of ours or of Flux's; a name alone is a Rollout's.`,
  arguments: [
    { syntax: '<kind/name>', help: 'rollout/my-app, gate/year-end, kustomization/web', completes: 'targets' },
  ],
  options: [output('json', 'yaml')],
  examples: [
    ['why does 1.2.0 not go out?', 'why my-app -n shop'],
    ['who has suspended this Kustomization?', 'why kustomization/web -n shop'],
    ['what does this Gate hold, and until when?', 'why gate/year-end -n flux-system'],
  ],
  async run(context, { arguments: [text], options }) {
    const cluster = await context.cluster();
    const target = await readTarget(cluster, text as string);
    const found = await explained(cluster.client, target, context.now());
    const explanation = { ...found, remedies: await withRights(cluster.client, found.remedies) };
    if (options.output) context.terminal.printText(await structured(explanation, options.output));
    else
      for (const line of explanationLines(explanation, lookOf(context), context.program)) context.terminal.print(line);
    return EXIT.ok;
  },
};
