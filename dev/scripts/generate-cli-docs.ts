/** The tables and commands of docs/cli.md, from the commands. */
import { COMMON_EXIT_CODES, type CommandDefinition, type OptionDefinition } from '../../cli/command/command.ts';
import { CONNECTION_OPTIONS } from '../../cli/command/options.ts';
import { COMMANDS, type CommandEntry } from '../../cli/commands/index.ts';
import { code, escaped, type Generated, table } from './generated.ts';

const PROGRAM = 'kubectl rollouts';

export async function commandPage(): Promise<Generated> {
  const loaded = await Promise.all(COMMANDS.map(async (entry) => ({ entry, definition: await entry.load() })));
  const groups = [...new Set(COMMANDS.map(({ group }) => group))];
  const index = COMMANDS.map(({ name, group, summary }, row) => [
    COMMANDS[row - 1]?.group === group ? '' : `**${group}**`,
    `[\`${name}\`](#${name})`,
    summary,
  ]);
  const parts = [
    optionTable(CONNECTION_OPTIONS),
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
