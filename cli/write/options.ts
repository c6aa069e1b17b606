/** What every command has that writes. */
import type { OptionDefinition } from '../command/command.ts';
import { DRY_RUN, output, REASON } from '../command/options.ts';

export const YES: OptionDefinition = { flags: '-y, --yes', help: 'do not ask' };

export const SHOW_KUBECTL: OptionDefinition = {
  flags: '-v, --show-kubectl',
  help: 'also print the same with kubectl',
};

export const WRITING: readonly OptionDefinition[] = [
  REASON,
  YES,
  DRY_RUN,
  SHOW_KUBECTL,
  output('json', 'yaml', 'name'),
];

const TIMEOUT: OptionDefinition = {
  flags: '--timeout <time>',
  help: 'with --wait: how long; 0 for no limit',
  default: '10m',
};

const waiting = (help: string): readonly OptionDefinition[] => [{ flags: '--wait', help }, TIMEOUT];

export const WAITING = waiting('wait until what was asked for has been deployed and has baked');

/** Of one object behind a Gate too. */
export const WAITING_FOR_OBJECT = waiting(
  'wait until what was asked for has been deployed and has baked; of an object, until Flux has reconciled it',
);

/** Of what holds or lets go. */
export const WAITING_FOR_GATE = waiting('wait until everything is held, or goes on, and say what is');

export const WAITING_FOR_LIST = waiting('wait until its Rollout goes by it, and say what that waits for');

export const WAITING_FOR_BUDGET = waiting('wait until the budget holds the version no longer');
