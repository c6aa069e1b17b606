import { lackingText, rightKey } from '../../client/actions/action.ts';
import { commandViewsOf } from '../../client/actions/lines.ts';
import { PROGRAM } from '../../client/actions/writes/plannedWrite.ts';
import type { CommandView } from '../../client/explain/application.ts';
import type { Explanation } from '../../client/explain/kinds/explanation.ts';
import { EXIT } from '../../client/problem.ts';
import { type KubeClient, reviewRights, unlessRefused } from '../../connection/kube/kubeClient.ts';
import { structuredText } from '../../connection/kube/objectText.ts';
import { explainObject } from '../../connection/read/explained.ts';
import { readTarget } from '../../connection/read/namedObjects.ts';
import { refKey } from '../../core/kube/names.ts';
import { withFullStop } from '../../core/text/commands.ts';
import type { CommandDefinition } from '../command/command.ts';
import { ANY_OBJECT, outputOption, SHOW_KUBECTL } from '../command/options.ts';
import { forSameCluster } from '../command/sameCluster.ts';
import { wrapText } from '../terminal/columns.ts';
import { EXPLAINED_TONES, type Style, styleOf } from '../terminal/style.ts';
import { nextText } from '../terminal/tree.ts';

/** The most commands that are printed: a Gate may hold many versions. */
const MAX_COMMANDS = 10;

export const why: CommandDefinition = {
  description: `Explains why an object is waiting or blocked: the cause, what happens next, and how to release it.

To release it, the output lists commands, and whether you are allowed to run each of them; -v adds the kubectl commands.
KIND is any kind of rollout-hooks or Flux. A name without a kind is a Rollout.`,
  arguments: [
    { syntax: '<kind/name>', help: 'rollout/my-app, gate/year-end, kustomization/web', completes: ANY_OBJECT },
  ],
  options: [SHOW_KUBECTL, outputOption('json', 'yaml')],
  examples: [
    ['why is 1.2.0 not deployed?', 'why my-app -n shop'],
    ['who has suspended this Kustomization?', 'why kustomization/web -n shop'],
    ['what does this Gate hold, and until when?', 'why gate/year-end -n flux-system'],
  ],
  async run(context, { arguments: [text], options }) {
    const cluster = await context.cluster();
    const target = await readTarget(cluster, text as string);
    const { actions, unread, ...found } = await explainObject(cluster.client, target, context.now());
    const commands = (await withRights(cluster.client, commandViewsOf(actions, context.now()))).map((each) => ({
      ...each,
      command: forSameCluster(each.command, context.flags),
      kubectl: forSameCluster(each.kubectl, context.flags),
    }));
    const explanation = { ...found, commands, unread };
    if (options.output) context.terminal.printText(await structuredText(explanation, options.output));
    else {
      const print: Print = { style: styleOf(context), program: context.program, withKubectl: !!options.showKubectl };
      for (const line of explanationLines(explanation, print)) context.terminal.print(line);
    }
    return EXIT.ok;
  },
};

/** The explanation, with command lines for its actions. */
type Explained = Omit<Explanation, 'actions'> & { commands: CommandView[] };

/** How to print. `program`: the name by which the program was called. */
interface Print {
  style: Style;
  program: string;
  withKubectl: boolean;
}

/** The explanation in sentences. */
function explanationLines(explanation: Explained, print: Print): string[] {
  const { style } = print;
  const { object, headline, state, causes, next, commands, unread } = explanation;
  const title = `${object.kind} ${refKey(object)}`;
  const head = `${style.symbol(EXPLAINED_TONES[state])} ${style.strong(title)}: ${style.text(headline)}`;
  const then = next && nextText(next, style);
  const text = causes.length > 0 || then ? causes.map(({ text }) => style.text(text)) : ['Nothing blocks it'];
  const sentences = [...text, ...(then ? [then] : [])];
  return [
    ...wrapText(head, style.columns),
    ...sentences.flatMap((text) => wrapText(withFullStop(text), style.columns)),
    ...unread.flatMap((text) => wrapText(style.faint(`Not read: ${withFullStop(text)}`), style.columns)),
    ...(commands.length > 0
      ? ['', ...commands.slice(0, MAX_COMMANDS).flatMap((view) => commandLines(view, print))]
      : []),
  ];
}

/** An action: its effect, whether the user may take it, and its commands, not wrapped, so that they can be pasted. */
function commandLines(
  { text, command, kubectl, allowed, lacks }: CommandView,
  { style, program, withKubectl }: Print,
): string[] {
  const right =
    allowed === undefined
      ? style.faint('(permission unknown)')
      : allowed
        ? style.tone('good', '(allowed)')
        : style.tone('bad', `(not allowed: you need ${lacks})`);
  const ours = command.startsWith(PROGRAM) ? `${program}${command.slice(PROGRAM.length)}` : command;
  return [
    ...wrapText(`To ${text} ${right}`, style.columns),
    // Only the first line of a command is indented: a manifest in it has to begin and end at the margin.
    ...[...new Set(withKubectl ? [ours, kubectl] : [ours])].flatMap((text) =>
      `  ${text}`.split('\n').map((line) => (allowed === false || text !== ours ? style.faint(line) : line)),
    ),
  ];
}

/** The commands with `allowed` and `lacks`, unless the API server refuses to review the user's access. */
async function withRights(client: KubeClient, commands: readonly CommandView[]): Promise<CommandView[]> {
  const needed = commands.flatMap(({ rights }) => rights);
  const rights = await reviewRights(needed, (right) => unlessRefused(client.mayI(right), 403));
  return commands.map((view) => {
    const known = view.rights.filter((right) => rights[rightKey(right)] !== undefined);
    const lacks = lackingText(known, rights);
    if (lacks) return { ...view, allowed: false, lacks };
    return known.length === view.rights.length ? { ...view, allowed: true } : view;
  });
}
