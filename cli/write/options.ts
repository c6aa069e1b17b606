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

export const WAITING: readonly OptionDefinition[] = [
  { flags: '--wait', help: 'wait until what was asked for has been deployed and has baked' },
  { flags: '--timeout <time>', help: 'with --wait: how long; 0 for no limit', default: '10m' },
];
