import type { HistoryEntry } from '../../api/types.ts';
import { pinText } from '../../client/explain/pinText.ts';
import { deploymentView } from '../../client/explain/rollout/deploymentView.ts';
import { pinRecordOf } from '../../core/approval/pinRecord.ts';
import type { CommandDefinition } from '../command/command.ts';
import { output } from '../command/options.ts';
import { readRollout } from '../read/rollouts.ts';
import { EXIT, Problem } from '../terminal/exit.ts';
import { deploymentDiff, historyLines } from '../view/history.ts';
import { lookOf } from '../view/look.ts';
import { structured } from '../view/structured.ts';

export const history: CommandDefinition = {
  description: `The deployments of a Rollout, newest first: how each went, who wanted it and why, and how long each phase took.
--diff shows what two of them differ in, by the ids of the first column.`,
  arguments: [{ syntax: '<rollout>', help: 'its name', completes: 'rollouts' }],
  options: [
    { flags: '--diff <ids...>', help: 'two ids: what the second has that the first had not' },
    output('json', 'yaml'),
  ],
  examples: [
    ['who deployed what, and why', 'history my-app -n shop'],
    ['what differs between two deployments', 'history my-app --diff 12 13'],
  ],
  async run(context, { arguments: [name], options }) {
    const cluster = await context.cluster();
    const rollout = await readRollout(cluster, name as string);
    const entries = rollout.status?.history ?? [];
    const { terminal } = context;
    const look = lookOf(context);
    if (options.diff) {
      const [before, after] = pairOf(options.diff, entries);
      const diff = deploymentDiff(deploymentView(before), deploymentView(after));
      if (options.output) terminal.printText(await structured(diff, options.output));
      else for (const line of diff.lines(look)) terminal.print(line);
      return EXIT.ok;
    }
    const views = entries.map(deploymentView);
    if (options.output) terminal.printText(await structured(views, options.output));
    else if (views.length === 0) terminal.note(`Rollout '${rollout.metadata.name}' has deployed nothing yet.`);
    else for (const line of historyLines(views, look, context.now())) terminal.print(line);
    const pin = options.output ? undefined : pinRecordOf(rollout);
    if (pin) terminal.note(look.text(`${pinText(pin)}.`));
    return EXIT.ok;
  },
};

function pairOf(ids: readonly string[], entries: readonly HistoryEntry[]): [HistoryEntry, HistoryEntry] {
  if (ids.length !== 2) throw new Problem('--diff takes two ids, such as --diff 12 13.', EXIT.usage);
  const [before, after] = ids.map((id) => {
    const found = entries.find((entry) => String(entry.id ?? 0) === id);
    if (found) return found;
    const known = entries.map((entry) => entry.id ?? 0).join(', ') || 'none';
    throw new Problem(`There is no deployment ${id} in the history: it has ${known}.`);
  });
  return [before!, after!];
}
