/** docs/cli.md, from the commands. */
import { COMMON_EXIT_CODES, type CommandDefinition, type OptionDefinition } from '../../cli/command/command.ts';
import { CONNECTION_OPTIONS } from '../../cli/command/options.ts';
import { COMMANDS, type CommandEntry } from '../../cli/commands/index.ts';
import { code, escaped, type Generated, table } from './generated.ts';

const PROGRAM = 'kubectl rollouts';

const INTRODUCTION = `# The command

<!-- Written by dev/scripts/generate-cli-docs.ts from cli/commands: change the commands, then run npm run generate. -->

\`kubectl rollouts\` shows what runs, what waits and why, and makes the writes that release it.
\`flux rollouts\` is the same program under another name. It has exactly your permissions: each action is an annotation
or a field that kubectl could write. It explains with the texts of conditions and denials.

## Install

A [release](releases.md#verify-what-you-install) has an executable without dependencies for Linux (x64, arm64; glibc 2.28
or newer and libatomic), macOS on Apple silicon, and Windows (x64):

\`\`\`sh
mkdir -p ~/.local/bin && tar -xzf flux-rollouts_X.Y.Z_linux_amd64.tar.gz -C ~/.local/bin
for name in kubectl-rollouts kubectl_complete-rollouts; do ln -sf flux-rollouts ~/.local/bin/$name; done
\`\`\`

Or let krew or Flux install it, by the manifests of the release:

\`\`\`sh
kubectl krew install --manifest-url https://github.com/<owner>/rollout-hooks/releases/download/vX.Y.Z/plugin-krew.yaml
\`\`\`

\`flux plugin install\` reads a catalogue: put \`plugin-flux.yaml\` into yours as \`rollouts.yaml\`, and set \`FLUXCD_PLUGIN_CATALOG\` to its URL.

Elsewhere, such as on Alpine and macOS on Intel, it runs on Node 20 or newer: the package of a release, or a clone.

\`\`\`sh
npm install --global ./rollout-hooks-cli-X.Y.Z.tgz   # of a release

npm run build:cli                                    # or from a clone: one file, in dist/cli
npm install --global ./dist/cli
npm run build:cli -- --executable                    # an executable for this machine, in dist/cli-linux-x64 or the like
\`\`\`

kubectl finds \`kubectl-rollouts\`, and for completions \`kubectl_complete-rollouts\`, on the PATH.
Flux looks into its plugin folder: \`ln -s "$(which flux-rollouts)" ~/.fluxcd/plugins/flux-rollouts\`.
\`THIRD_PARTY_NOTICES.txt\` beside it has the licenses of what is inside.

## For every command

Cluster, user and namespace are chosen as by kubectl: \`KUBECONFIG\` (a list is merged), \`~/.kube/config\`, or the
ServiceAccount inside a cluster. Client certificates, tokens, exec plugins and proxies work.
Options may stand before or after the command's name.
Commands that it prints have the same flags for the cluster and the user.`;

const CONVENTIONS = `Colors are for terminals only; \`NO_COLOR\` turns them off. Times are in your time zone (\`TZ\`). On a pipe nothing is
wrapped.`;

export async function commandPage(): Promise<Generated> {
  const loaded = await Promise.all(COMMANDS.map(async (entry) => ({ entry, definition: await entry.load() })));
  const groups = [...new Set(COMMANDS.map(({ group }) => group))];
  const index = COMMANDS.map(({ name, group, summary }, row) => [
    COMMANDS[row - 1]?.group === group ? '' : `**${group}**`,
    `[\`${name}\`](#${name})`,
    summary,
  ]);
  const parts = [
    INTRODUCTION,
    optionTable(CONNECTION_OPTIONS),
    CONVENTIONS,
    ...rowsOf('exit code', 'means', exitRows(COMMON_EXIT_CODES)),
    'Commands list further exit codes.',
    table(['', 'command', 'what it does'], index),
    ...groups.flatMap((group) => loaded.filter(({ entry }) => entry.group === group).map(section)),
  ];
  return [['docs/cli.md', `${parts.join('\n\n')}\n`]];
}

function section({ entry, definition }: { entry: CommandEntry; definition: CommandDefinition }): string {
  const { description, arguments: args = [], options = [], examples, exitCodes = [] } = definition;
  const synopsis = [
    PROGRAM,
    entry.name,
    ...args.map(({ syntax }) => syntax),
    ...(options.length > 0 ? ['[options]'] : []),
  ].join(' ');
  const examplesText = examples.map(([what, line]) => `# ${what}\n${PROGRAM} ${line}`).join('\n\n');
  return [
    `## ${entry.name}`,
    `\`${synopsis}\``,
    description,
    ...rowsOf(
      'argument',
      '',
      args.map(({ syntax, help }) => [code(syntax), escaped(help)]),
    ),
    ...(options.length > 0 ? [optionTable(options)] : []),
    ...rowsOf('exit code', 'means', exitRows(exitCodes)),
    `\`\`\`sh\n${examplesText}\n\`\`\``,
  ].join('\n\n');
}

const exitRows = (codes: typeof COMMON_EXIT_CODES) => codes.map(([code, meaning]) => [`${code}`, escaped(meaning)]);

const rowsOf = (first: string, second: string, rows: string[][]) =>
  rows.length > 0 ? [table([first, second], rows)] : [];

function optionTable(options: readonly OptionDefinition[]): string {
  const rows = options.map(({ flags, help, choices, ...rest }) => {
    const values = choices ? `: ${choices.map(code).join(', ')}` : '';
    const byDefault = rest.default === undefined ? '' : `; default \`${rest.default}\``;
    return [code(flags), `${escaped(help)}${values}${byDefault}`];
  });
  return table(['option', ''], rows);
}
