/** One call of the program: from the arguments to the exit code. All inputs and outputs are parameters. */
import type { EpochMs } from '../api/kubernetes.ts';
import { parseDuration } from '../core/kube/duration.ts';
import type { Cluster, CommandDefinition, Context, Invocation } from './command/command.ts';
import type { Whereabouts } from './kube/apiProblems.ts';
import type { ConnectionFlags } from './kube/kubeconfig.ts';
import { EXIT, Problem } from './kube/problem.ts';
import { commandFirst, createProgram, exitCodeOf } from './program.ts';
import { createTerminal, type Streams, type Terminal } from './terminal/terminal.ts';

/** How kubectl, flux and the scripts of `completion` ask what may come next. */
export const COMPLETE = '__complete';

interface ProgramInputs extends Streams {
  /** After the program's name. */
  args: readonly string[];
  env: Readonly<Record<string, string | undefined>>;
  /** `kubectl rollouts`. */
  program: string;
  version: string;
  now(): EpochMs;
  timeZone: string;
  /** Aborts on Ctrl-C. */
  signal: AbortSignal;
}

export async function run(inputs: ProgramInputs): Promise<number> {
  const { env, program, version } = inputs;
  const args = commandFirst(inputs.args);
  const terminal = createTerminal(inputs, env, !args.includes('--no-color'));
  if (inputs.args[0] === COMPLETE) {
    // Shells expect a tab before each description.
    for (const line of await completions(inputs, terminal)) terminal.printText(line.replace(/[\r\n]+/g, ' '));
    return EXIT.ok;
  }
  const called = { exitCode: EXIT.ok as number, where: undefined as Whereabouts | undefined };
  const parser = await createProgram(
    {
      name: program,
      version,
      print: terminal.printText,
      note: terminal.noteText,
      columns: terminal.columns() ?? 100,
      async run(_, definition, invocation) {
        const flags: ConnectionFlags = invocation.options;
        const context = contextOf(inputs, terminal, flags, (where) => {
          called.where = where;
        });
        called.exitCode = await runCommand(definition, context, invocation);
      },
    },
    new Set(args.filter((arg) => !arg.startsWith('-')).slice(0, 1)),
  );
  try {
    await parser.parseAsync([...args], { from: 'user' });
    return called.exitCode;
  } catch (error) {
    if (inputs.signal.aborted) return EXIT.interrupted;
    const usage = exitCodeOf(error);
    if (usage !== undefined) return usage;
    const { problemOf } = await import('./kube/apiProblems.ts');
    const problem = problemOf(error, called.where);
    if (!problem) throw error;
    terminal.noteText(problem.message);
    return problem.exitCode;
  }
}

async function runCommand(definition: CommandDefinition, context: Context, invocation: Invocation): Promise<number> {
  try {
    const code = await definition.run(context, invocation);
    return context.signal.aborted ? EXIT.interrupted : code;
  } finally {
    await context.close();
  }
}

async function completions(inputs: ProgramInputs, terminal: Terminal): Promise<string[]> {
  const { complete } = await import('./completion/complete.ts');
  const opened: Context[] = [];
  const lines = await complete(inputs.args.slice(1), (flags) => {
    const context = contextOf(inputs, terminal, flags, () => {});
    opened.push(context);
    return context.cluster();
  });
  for (const context of opened) await context.close();
  return lines;
}

function contextOf(
  inputs: ProgramInputs,
  terminal: Terminal,
  flags: ConnectionFlags,
  found: (where: Whereabouts) => void,
): Context {
  const { env, program, version, now, timeZone, signal } = inputs;
  let cluster: Promise<Cluster> | undefined;
  const open = async (): Promise<Cluster> => {
    const timeoutMs = timeoutOf(flags.requestTimeout);
    const [{ selectCluster }, { createClient }] = await Promise.all([
      import('./kube/kubeconfig.ts'),
      import('./kube/kubeClient.ts'),
    ]);
    const selected = selectCluster(flags, env);
    found(selected);
    const { as, asGroup } = flags;
    const client = createClient(selected, { timeoutMs, as, asGroup, userAgent: `rollouts-cli/${version}` });
    return { client, selected, namespace: selected.namespace };
  };
  return {
    program,
    version,
    env,
    terminal,
    now,
    timeZone,
    signal,
    flags,
    cluster() {
      cluster ??= open();
      return cluster;
    },
    async close() {
      const opened = await cluster?.catch(() => undefined);
      opened?.client.close();
    },
  };
}

/** `0` means no limit, and a bare number seconds, as kubectl has it. */
function timeoutOf(text: string | undefined): number {
  const ms = parseDuration(/^\d+$/.test(text ?? '') ? `${text}s` : text);
  if (text === undefined || ms !== undefined) return ms ?? 0;
  throw new Problem(`--request-timeout: '${text}' is not a time such as 30s or 2m.`, EXIT.usage);
}
