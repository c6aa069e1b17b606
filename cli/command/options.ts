/** The options that several commands share. Names and letters are kubectl's. */
import { Option } from 'commander';
import { KINDS } from '../../api/kinds.ts';
import type { CommandDefinition, OptionDefinition } from './command.ts';

export const CONNECTION_OPTIONS: readonly OptionDefinition[] = [
  { flags: '-n, --namespace <name>', help: "namespace; the context's when absent", completes: 'namespaces' },
  { flags: '--context <name>', help: 'context of the kubeconfig', completes: 'contexts' },
  { flags: '--kubeconfig <file>', help: 'instead of KUBECONFIG and ~/.kube/config' },
  { flags: '--cluster <name>', help: 'cluster of the kubeconfig' },
  { flags: '--user <name>', help: 'user of the kubeconfig' },
  { flags: '--as <user>', help: 'impersonate this user' },
  { flags: '--as-group <group>', help: 'impersonate this group; may be repeated', isRepeated: true },
  {
    flags: '--request-timeout <time>',
    help: 'how long to wait for an answer: 30s, 2m; 0 for no limit',
    default: '30s',
  },
  { flags: '--no-color', help: 'no colors; NO_COLOR in the environment does the same' },
];

/** --context for commands that take several clusters, in place of the connection option. */
export const CONTEXTS: OptionDefinition = {
  flags: '--context <name>',
  help: 'context of the kubeconfig; may be repeated: several clusters in one',
  isRepeated: true,
  completes: 'contexts',
};

/** The options of a command: its own, and the connection options that its own don't replace. */
export function optionsOf({ options = [], isLocal }: CommandDefinition): {
  own: readonly OptionDefinition[];
  connection: readonly OptionDefinition[];
} {
  const connection = CONNECTION_OPTIONS.filter(({ flags }) => !options.some((each) => each.flags === flags));
  return { own: options, connection: isLocal ? [] : connection };
}

/** Whether the word is a name of the option: `-o` or `--output`. */
export function isNamed({ flags }: OptionDefinition, word: string): boolean {
  const { short, long } = new Option(flags);
  return word === short || word === long;
}

/** Whether the option takes a value, which may be the next word. */
export const takesValue = ({ flags }: OptionDefinition) => new Option(flags).required;

export const ALL_NAMESPACES: OptionDefinition = {
  flags: '-A, --all-namespaces',
  help: 'in all namespaces',
};

export const SELECTOR: OptionDefinition = {
  flags: '-l, --selector <labels>',
  help: 'only objects with these labels: team=shop,tier!=test',
};

/** The completion of an argument that names any object. */
export const ANY_OBJECT = { kinds: Object.values(KINDS).map(({ kind }) => kind), orRollout: true };

/** The completion of an argument that names a Rollout, RolloutGate or Gate. */
export const APPROVABLE = { kinds: ['RolloutGate', 'Gate'], orRollout: true } as const;

export const RELEASE: OptionDefinition = {
  flags: '--release <tag>',
  help: 'release to wait for; the newest when absent',
  completes: 'versions',
};

const REASON_OPTION: OptionDefinition = {
  flags: '--reason <text>',
  help: 'why; it is recorded with your name',
};

export const DRY_RUN: OptionDefinition = {
  flags: '--dry-run <how>',
  help: 'the API server validates the request and stores nothing',
  choices: ['server', 'none'],
  default: 'none',
};

export function outputOption(...formats: string[]): OptionDefinition {
  return { flags: '-o, --output <format>', help: 'format', choices: formats };
}

export const YES: OptionDefinition = { flags: '-y, --yes', help: 'do not ask for confirmation' };

export const SHOW_KUBECTL: OptionDefinition = {
  flags: '-v, --show-kubectl',
  help: 'also print the equivalent kubectl commands',
};

export const WRITE_OPTIONS: readonly OptionDefinition[] = [
  REASON_OPTION,
  YES,
  DRY_RUN,
  SHOW_KUBECTL,
  outputOption('json', 'yaml', 'name'),
];

/** The span for which `close` and `freeze` close a Gate. */
export const SPAN_OPTIONS: readonly OptionDefinition[] = [
  { flags: '--at <time>', help: "close it at this time instead of now: 'Mon 08:00', '2026-12-24 18:00'" },
  { flags: '--for <time>', help: 'open it again after this time: 30m, 24h, 2d' },
  {
    flags: '--until <time>',
    help: "open it again at this time, the first after --at: 'Mon 08:00', '18:00', '24 Dec', '2027-01-04'",
  },
];

const TIMEOUT: OptionDefinition = {
  flags: '--timeout <time>',
  help: 'with --wait: how long to wait; 0 for no limit',
  default: '10m',
};

const waitOptions = (help: string): readonly OptionDefinition[] => [{ flags: '--wait', help }, TIMEOUT];

export const WAIT_OPTIONS = waitOptions('wait until the requested version is deployed and has baked');

/** `--wait` of commands on a Rollout, or on one object behind a Gate. */
export const OBJECT_WAIT_OPTIONS = waitOptions(
  'wait until the requested version is deployed and has baked; for an object, until Flux has reconciled it',
);

/** `--wait` of commands that open or close a Gate. */
export const GATE_WAIT_OPTIONS = waitOptions(
  'wait until each object is held or released, and print each object with the result',
);

export const LIST_WAIT_OPTIONS = waitOptions('wait until its Rollout follows the list, and print what it waits for');

export const CONTINUE_WAIT_OPTIONS = waitOptions('wait until the budget no longer blocks the version');
