/** The parts of a command, and its context. The commands are in cli/commands, listed in cli/commands/index.ts. */
import type { KindName } from '../../api/kinds.ts';
import type { EpochMs } from '../../api/kubernetes.ts';
import { EXIT } from '../../client/problem.ts';
import type { Cluster } from '../../connection/kube/cluster.ts';
import type { ConnectionFlags } from '../../connection/kube/kubeconfig.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** The values that a shell may complete. */
export type Completion =
  /** Names of this kind. */
  | { names: KindName }
  /** Tags of the Rollout that the first argument names, directly or by its RolloutGate. */
  | 'versions'
  /** `kind/name` of these kinds; perhaps names of Rollouts too. */
  | { kinds: readonly KindName[]; orRollout: boolean }
  /** Names of Gates, and `rolloutgate/name`. */
  | 'gates'
  | 'budgets'
  | 'namespaces'
  | 'contexts'
  | readonly string[];

export interface ArgumentDefinition {
  /** The argument in commander's syntax: `<version>`, `[rollout...]`. */
  syntax: string;
  help: string;
  completes?: Completion;
}

export interface OptionDefinition {
  /** The option in commander's syntax: `-o, --output <format>`. */
  flags: string;
  help: string;
  default?: string | boolean;
  /** The only valid values, which shells complete. */
  choices?: readonly string[];
  /** Set if the option may be repeated: its value is a list. */
  isRepeated?: true;
  /** The values that shells complete, if any text is valid. */
  completes?: Completion;
}

type ExitCodes = readonly (readonly [code: number, meaning: string])[];

export const COMMON_EXIT_CODES: ExitCodes = [
  [EXIT.ok, 'done'],
  [EXIT.error, 'an error: one sentence on standard error'],
  [EXIT.usage, 'the command line is wrong'],
  [EXIT.interrupted, 'Ctrl-C'],
];

export interface CommandDefinition {
  /**
   * The text of `--help`: a line with the purpose, then an empty line and details. A line isn't indented: help wraps
   * it.
   */
  description: string;
  arguments?: readonly ArgumentDefinition[];
  options?: readonly OptionDefinition[];
  /** Examples, at least one: a purpose, and the command line after the program's name. */
  examples: readonly (readonly [what: string, line: string])[];
  /** Exit codes besides COMMON_EXIT_CODES, or instead of one of them. */
  exitCodes?: ExitCodes;
  /** Set if the command uses no cluster, and so has no connection options. */
  isLocal?: true;
  /** Runs the command, and returns the exit code. @throws Problem with a message for the user */
  run(context: Context, invocation: Invocation): Promise<number>;
}

/** The parsed command line: arguments in their order, options by their long names in camel case. */
export interface Invocation {
  arguments: readonly (string | readonly string[] | undefined)[];
  options: Readonly<Record<string, any>>;
}

export interface Context {
  /** The name by which the program was called: `kubectl rollouts` or `flux rollouts`. */
  program: string;
  /** The package's version. */
  version: string;
  terminal: Terminal;
  now(): EpochMs;
  /** The time zone of printed times, an IANA name. */
  timeZone: string;
  /** Aborts on Ctrl-C: every wait ends, and the command exits with 130. */
  signal: AbortSignal;
  /** The cluster, connected at the first call. @throws Problem if there is none */
  cluster(): Promise<Cluster>;
  /** The cluster of each --context, for commands that take several; one by default. */
  clusters(): Promise<readonly Cluster[]>;
  /** The connection flags. */
  flags: ConnectionFlags;
  /** Closes the connections. */
  close(): Promise<void>;
}
