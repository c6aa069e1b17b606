/** The parts of a command, and its context. Each command is a file in cli/commands, listed in cli/commands/index.ts. */

import type { KindName } from '../../api/kinds.ts';
import type { EpochMs } from '../../api/kubernetes.ts';
import type { Cluster } from '../../tools/kube/cluster.ts';
import type { ConnectionFlags } from '../../tools/kube/kubeconfig.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** The values that a shell may complete. */
export type Completion =
  | 'rollouts'
  /** Tags of the Rollout that the first argument names, or of its RolloutGate's. */
  | 'versions'
  /** `kind/name` of any kind, and Rollouts by their names alone. */
  | 'targets'
  /** Likewise, of these kinds. */
  | { kinds: readonly KindName[]; orRollout: boolean }
  /** Gates by their names, and `rolloutgate/name`. */
  | 'gates'
  | 'rolloutGates'
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
  /** Anything else is refused. */
  choices?: readonly string[];
  /** May be given more than once: its value is a list. */
  isRepeated?: true;
  completes?: Completion;
}

export interface CommandDefinition {
  /** Paragraphs: what it does, beyond the summary of cli/commands/index.ts. */
  description: string;
  arguments?: readonly ArgumentDefinition[];
  options?: readonly OptionDefinition[];
  /** Examples, at least one: a purpose, and the command line after the program's name. */
  examples: readonly (readonly [what: string, line: string])[];
  /** Beside 0, 1, 2 and 130. */
  exitCodes?: readonly (readonly [code: number, meaning: string])[];
  /** Talks to no cluster: it has no connection options. */
  isLocal?: true;
  /**
   * Runs the command, with the context's terminal for output. Returns the exit code. @throws Problem with a
   * message for the user
   */
  run(context: Context, invocation: Invocation): Promise<number>;
}

/** The parsed command line: arguments in their order, options by their long names in camel case. */
export interface Invocation {
  arguments: readonly (string | readonly string[] | undefined)[];
  options: Readonly<Record<string, any>>;
}

export interface Context {
  /** The name by which it was called: `kubectl rollouts` or `flux rollouts`. */
  program: string;
  /** The package's version. */
  version: string;
  env: Readonly<Record<string, string | undefined>>;
  terminal: Terminal;
  now(): EpochMs;
  /** IANA name, for printed times. */
  timeZone: string;
  /** Aborts on Ctrl-C: every wait ends, and the command exits with 130. */
  signal: AbortSignal;
  /** Connects at the first call. @throws Problem without a cluster. */
  cluster(): Promise<Cluster>;
  /** The cluster of each --context, for commands that take several; one by default. */
  clusters(): Promise<readonly Cluster[]>;
  /** The connection flags, for commands that start others. */
  flags: ConnectionFlags;
  /** Closes the connection, if any. */
  close(): Promise<void>;
}
