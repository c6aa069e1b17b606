/** Runs the program, from the arguments to the exit code. All inputs and outputs are parameters. */
import type { EpochMs } from '../api/kubernetes.ts';
import { EXIT, Problem } from '../client/problem.ts';
import type { ClusterNames } from '../connection/kube/apiProblems.ts';
import type { Cluster } from '../connection/kube/cluster.ts';
import type { ConnectionFlags } from '../connection/kube/kubeconfig.ts';
import { parseDuration } from '../core/kube/duration.ts';
import type { CommandDefinition, Context, Invocation } from './command/command.ts';
import { commandFirst, createProgram, exitCodeOf, usageHint } from './program.ts';
import { createTerminal, type Streams, type Terminal } from './terminal/terminal.ts';

/** The first argument by which kubectl, flux and the scripts of `completion` request completions. */
export const COMPLETE = '__complete';

interface ProgramInputs extends Streams {
  /** The arguments after the program's name. */
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
  const terminal = createTerminal(inputs, env, !inputs.args.includes('--no-color'));
  if (inputs.args[0] === COMPLETE) {
    // Shells expect a tab before each description.
    for (const line of await completions(inputs, terminal)) terminal.printText(line.replace(/[\r\n]+/g, ' '));
    return EXIT.ok;
  }
  const called = {
    exitCode: EXIT.ok as number,
    cluster: undefined as ClusterNames | undefined,
    flags: {} as ConnectionFlags,
  };
  const parser = await createProgram(
    {
      name: program,
      version,
      print: terminal.printText,
      note: terminal.noteText,
      columns: terminal.columns() ?? 100,
      async run(_, definition, invocation) {
        const { context: given, ...flags } = invocation.options;
        const contexts: string[] = [given ?? []].flat();
        called.flags = { ...flags, context: contexts[0] };
        const context = contextOf(inputs, terminal, called.flags, contexts, (cluster) => {
          called.cluster = cluster;
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
    if (usage !== undefined) {
      const hint = await usageHint(error, args, program);
      if (hint) terminal.noteText(hint);
      return usage;
    }
    const { problemOf } = await import('../connection/kube/apiProblems.ts');
    const problem = problemOf(error, called.cluster);
    if (!problem) throw error;
    const { forSameCluster } = await import('./command/sameCluster.ts');
    terminal.noteText(forSameCluster(problem.message, called.flags));
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
    const context = contextOf(inputs, terminal, flags, [], () => {});
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
  /** The values of --context, for commands that take several. */
  contexts: readonly string[],
  onSelected: (cluster: ClusterNames) => void,
): Context {
  const { env, program, version, now, timeZone, signal } = inputs;
  const opened = new Map<string | undefined, Promise<Cluster>>();
  const connect = async (context: string | undefined): Promise<Cluster> => {
    const timeoutMs = requestTimeoutOf(flags.requestTimeout);
    const [{ selectCluster }, { createClient }] = await Promise.all([
      import('../connection/kube/kubeconfig.ts'),
      import('../connection/kube/kubeClient.ts'),
    ]);
    const selected = selectCluster({ ...flags, context }, env);
    onSelected(selected);
    const { as, asGroup } = flags;
    const client = createClient(selected, { timeoutMs, as, asGroup, userAgent: `rollouts-cli/${version}` });
    return { client, selected, namespace: selected.namespace };
  };
  const open = (context: string | undefined): Promise<Cluster> => {
    const cluster = opened.get(context) ?? connect(context);
    opened.set(context, cluster);
    return cluster;
  };
  return {
    program,
    version,
    terminal,
    now,
    timeZone,
    signal,
    flags,
    cluster: () => open(flags.context),
    async clusters() {
      if (contexts.length > 1 && (flags.cluster || flags.user)) {
        throw new Problem('--cluster and --user work with one --context only.', EXIT.usage);
      }
      const names = contexts.length > 0 ? new Set(contexts) : [flags.context];
      return Promise.all([...names].map(open));
    },
    async close() {
      for (const each of opened.values()) (await each.catch(() => undefined))?.client.close();
    },
  };
}

/** The milliseconds of --request-timeout, with kubectl's meaning: a number alone is seconds, and 0 no limit. */
function requestTimeoutOf(text: string | undefined): number {
  const ms = parseDuration(/^\d+$/.test(text ?? '') ? `${text}s` : text);
  if (text === undefined || ms !== undefined) return ms ?? 0;
  throw new Problem(`--request-timeout: '${text}' is not a time such as 30s or 2m.`, EXIT.usage);
}
