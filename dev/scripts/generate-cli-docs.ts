/** Writes docs/cli.md from the commands. `--check` writes nothing and fails when the page is out of date. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CommandDefinition, OptionDefinition } from '../../cli/command/command.ts';
import { CONNECTION_OPTIONS } from '../../cli/command/options.ts';
import { COMMANDS, type CommandEntry } from '../../cli/commands/index.ts';
import { REPOSITORY } from '../repository.ts';

const usage = `Usage: node dev/scripts/generate-cli-docs.ts [--check]

Writes docs/cli.md from cli/commands.
  --check   only compare; exit 1 when the page is out of date
`;

const PROGRAM = 'kubectl rollouts';

const INTRODUCTION = `# The command

<!-- Written by dev/scripts/generate-cli-docs.ts from cli/commands: change the commands, then run npm run generate. -->

\`kubectl rollouts\` shows what runs, what waits and why, and does what people do about it. \`flux rollouts\` is the same program under another name. It talks
to the API server as you do with kubectl, and may no more than you may: everything it asks for is an annotation or a field that kubectl could write. What it
says is what conditions and denials say, from the same functions.

## Install

A [release](releases.md#verify-what-you-install) has an executable, which needs nothing else, for Linux (x64, arm64; glibc 2.28 or newer and libatomic),
macOS on Apple silicon, and Windows (x64):

\`\`\`sh
mkdir -p ~/.local/bin && tar -xzf flux-rollouts_X.Y.Z_linux_amd64.tar.gz -C ~/.local/bin
for name in kubectl-rollouts kubectl_complete-rollouts; do ln -sf flux-rollouts ~/.local/bin/$name; done
\`\`\`

Or let krew or Flux install it, by the manifests of the release, until their catalogues have them:

\`\`\`sh
kubectl krew install --manifest-url https://github.com/<owner>/rollout-hooks/releases/download/vX.Y.Z/plugin-krew.yaml
\`\`\`

\`flux plugin install\` reads a catalogue: put \`plugin-flux.yaml\` into yours as \`rollouts.yaml\`, and set \`FLUXCD_PLUGIN_CATALOG\` to its URL.

Anywhere else, Alpine and macOS on Intel included, it runs on Node 20 or newer: as the package of the release, or from a clone of this repository.

\`\`\`sh
npm install --global ./rollout-hooks-cli-X.Y.Z.tgz   # of a release

npm run build:cli                                    # or from a clone: bundles the command into dist/cli, one file that needs no other package
npm install --global ./dist/cli
npm run build:cli -- --executable                    # and the executable for this machine, into dist/cli-linux-x64 or the like
\`\`\`

kubectl finds \`kubectl-rollouts\`, and for completions \`kubectl_complete-rollouts\`, on the PATH. Flux looks into its plugin folder:
\`ln -s "$(which flux-rollouts)" ~/.fluxcd/plugins/flux-rollouts\`. The licenses of what is inside are in \`THIRD_PARTY_NOTICES.txt\` beside it.

## For every command

Cluster, user and namespace are chosen as kubectl chooses them: \`KUBECONFIG\` (a list is merged), \`~/.kube/config\`, or the ServiceAccount inside a cluster; client certificates,
tokens, exec plugins and proxies work. Options may stand before or after the command's name.`;

const EXIT_CODES = `Colors are for terminals only; \`NO_COLOR\` turns them off. Times are shown in your time zone (\`TZ\`). On a pipe nothing is wrapped.

| exit code | means |
|---|---|
| 0 | done |
| 1 | something went wrong: one sentence on standard error says what |
| 2 | the command line is wrong |
| 130 | Ctrl-C |

What a command adds to these stands with it.`;

async function page(): Promise<string> {
  const shown = COMMANDS.filter(({ isHidden }) => !isHidden);
  const loaded = await Promise.all(shown.map(async (entry) => ({ entry, definition: await entry.load() })));
  const groups = [...new Set(shown.map(({ group }) => group))];
  const index = shown.map(({ name, aliasOf, summary }) => `| [\`${name}\`](#${aliasOf ?? name}) | ${summary} |`);
  return `${[
    INTRODUCTION,
    optionTable(CONNECTION_OPTIONS),
    EXIT_CODES,
    `| command | what it does |\n|---|---|\n${index.join('\n')}`,
    ...groups.flatMap((group) => loaded.filter(({ entry }) => entry.group === group && !entry.aliasOf).map(section)),
  ].join('\n\n')}\n`;
}

function section({ entry, definition }: { entry: CommandEntry; definition: CommandDefinition }): string {
  const { description, arguments: args = [], options = [], examples, exitCodes = [] } = definition;
  const shown = options.filter(({ isHidden }) => !isHidden);
  const synopsis = [
    PROGRAM,
    entry.name,
    ...args.map(({ syntax }) => syntax),
    ...(shown.length > 0 ? ['[options]'] : []),
  ].join(' ');
  const examplesText = examples.map(([what, line]) => `# ${what}\n${PROGRAM} ${line}`).join('\n\n');
  return [
    `## ${entry.name}`,
    `\`${synopsis}\``,
    description,
    ...(args.length > 0
      ? [
          `| argument | |\n|---|---|\n${args.map(({ syntax, help }) => `| \`${syntax}\` | ${escaped(help)} |`).join('\n')}`,
        ]
      : []),
    ...(shown.length > 0 ? [optionTable(shown)] : []),
    ...(exitCodes.length > 0
      ? [
          `| exit code | means |\n|---|---|\n${exitCodes.map(([code, meaning]) => `| ${code} | ${escaped(meaning)} |`).join('\n')}`,
        ]
      : []),
    `\`\`\`sh\n${examplesText}\n\`\`\``,
  ].join('\n\n');
}

function optionTable(options: readonly OptionDefinition[]): string {
  const rows = options.map(({ flags, help, choices, ...rest }) => {
    const values = choices ? `: ${choices.map((each) => `\`${each}\``).join(', ')}` : '';
    const byDefault = rest.default === undefined ? '' : `; default \`${rest.default}\``;
    return `| \`${flags}\` | ${escaped(help)}${values}${byDefault} |`;
  });
  return `| option | |\n|---|---|\n${rows.join('\n')}`;
}

function escaped(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('<', '&lt;');
}

const args = process.argv.slice(2);
if (args.includes('--help')) {
  console.log(usage);
  process.exit(0);
}
const file = join(REPOSITORY, 'docs/cli.md');
const text = await page();
const isCurrent = (await readFile(file, 'utf8').catch(() => '')) === text;
if (!isCurrent && args.includes('--check')) console.error(`${file} is out of date: run npm run generate`);
else if (!isCurrent) await writeFile(file, text);
process.exit(args.includes('--check') && !isCurrent ? 1 : 0);
