/** The commands, in the order of the help. Only the called one is loaded, so that the program starts fast. */
import type { CommandDefinition } from '../command/command.ts';

export interface CommandEntry {
  name: string;
  /** The heading under which the help lists the command. */
  group: 'See' | 'Steer' | 'Plan' | 'Set up';
  /** One line, for lists of commands. */
  summary: string;
  load(): Promise<CommandDefinition>;
}

// biome-ignore format: a table
export const COMMANDS: readonly CommandEntry[] = [
  { name: 'get', group: 'See', summary: 'what runs, what waits, what blocks it, and what happens next', load: async () => (await import('./getCommand.ts')).get },
  { name: 'why', group: 'See', summary: 'explain why an object is waiting or blocked, and how to release it', load: async () => (await import('./whyCommand.ts')).why },
  { name: 'history', group: 'See', summary: 'deployments with outcome, who, why, and how long each phase took', load: async () => (await import('./historyCommand.ts')).history },
  { name: 'audit', group: 'See', summary: 'who deployed, approved, bypassed and changed what, when and why', load: async () => (await import('./auditCommand.ts')).audit },
  { name: 'status', group: 'See', summary: 'show the progress in one line and an exit code, for pipelines', load: async () => (await import('./statusCommand.ts')).status },
  { name: 'mcp', group: 'See', summary: 'serve agents over standard input and output: read, and propose versions for approval', load: async () => (await import('./mcpCommand.ts')).mcp },
  { name: 'ui', group: 'See', summary: 'show Rollouts, Gates and schedules on a live page in the browser', load: async () => (await import('./uiCommand.ts')).ui },
  { name: 'deploy', group: 'Steer', summary: 'deploy a version now, manually', load: async () => (await import('./rolloutCommands.ts')).deployCommand },
  { name: 'pin', group: 'Steer', summary: 'deploy a version and stay on it', load: async () => (await import('./rolloutCommands.ts')).pinCommand },
  { name: 'unpin', group: 'Steer', summary: 'resume automation', load: async () => (await import('./rolloutCommands.ts')).unpinCommand },
  { name: 'withdraw', group: 'Steer', summary: 'withdraw a requested version, or your approval', load: async () => (await import('./rolloutCommands.ts')).withdrawCommand },
  { name: 'rollback', group: 'Steer', summary: 'go back to the last version that succeeded, and stay on it', load: async () => (await import('./rolloutCommands.ts')).rollbackCommand },
  { name: 'retry', group: 'Steer', summary: 'retry a failed deployment', load: async () => (await import('./rolloutCommands.ts')).retryCommand },
  { name: 'unblock', group: 'Steer', summary: 'let automation continue after a failed version', load: async () => (await import('./rolloutCommands.ts')).unblockCommand },
  { name: 'approve', group: 'Steer', summary: 'allow one version at the Gate or RolloutGate that blocks it', load: async () => (await import('./approveCommand.ts')).approveCommand },
  { name: 'reject', group: 'Steer', summary: 'never deploy a version', load: async () => (await import('./approveCommand.ts')).rejectCommand },
  { name: 'bypass', group: 'Steer', summary: 'bypass closed Gates for one version', load: async () => (await import('./bypassCommand.ts')).bypassCommand },
  { name: 'continue', group: 'Steer', summary: 'resume a version that a budget stopped', load: async () => (await import('./continueCommand.ts')).continueCommand },
  { name: 'freeze', group: 'Plan', summary: 'block all changes to objects with a new Gate: now, later, or every week', load: async () => (await import('./freezeCommand.ts')).freezeCommand },
  { name: 'close', group: 'Plan', summary: 'close a Gate or RolloutGate', load: async () => (await import('./gateCommands.ts')).closeCommand },
  { name: 'open', group: 'Plan', summary: 'open a Gate or RolloutGate', load: async () => (await import('./gateCommands.ts')).openCommand },
  { name: 'calendar', group: 'Plan', summary: 'the next weeks of Gates and schedules, as a picture', load: async () => (await import('./calendarCommand.ts')).calendarCommand },
  { name: 'doctor', group: 'Set up', summary: 'check the installation', load: async () => (await import('./doctorCommand.ts')).doctorCommand },
  { name: 'adopt', group: 'Set up', summary: 'adopt running workloads under a Rollout, without changing them', load: async () => (await import('./adoptCommand.ts')).adoptCommand },
  { name: 'completion', group: 'Set up', summary: 'a script that completes commands and names in bash, zsh or fish', load: async () => (await import('./completionCommand.ts')).completion },
];

export function commandEntry(name: string): CommandEntry | undefined {
  return COMMANDS.find((each) => each.name === name);
}
