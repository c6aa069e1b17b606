/** The commands, in the order of the help. Each is loaded only when it is called: starting takes no longer for there being many. */
import type { CommandDefinition } from '../command/command.ts';

export interface CommandEntry {
  name: string;
  /** Under which heading the help lists it. */
  group: 'See' | 'Steer' | 'Plan' | 'Set up';
  /** One line, for lists of commands. */
  summary: string;
  /** Not for people. */
  isHidden?: true;
  load(): Promise<CommandDefinition>;
}

// biome-ignore format: a table
export const COMMANDS: readonly CommandEntry[] = [
  { name: 'get', group: 'See', summary: 'what runs, what waits, what is in its way, and what happens next', load: async () => (await import('./get.ts')).get },
  { name: 'why', group: 'See', summary: 'why an object waits or is held, and what would let it go', load: async () => (await import('./why.ts')).why },
  { name: 'history', group: 'See', summary: 'deployments with outcome, who, why, and how long each phase took', load: async () => (await import('./history.ts')).history },
  { name: 'status', group: 'See', summary: 'how far it has come, in one line and an exit code: for pipelines', load: async () => (await import('./status.ts')).status },
];

export function commandEntry(name: string): CommandEntry | undefined {
  return COMMANDS.find((each) => each.name === name);
}
