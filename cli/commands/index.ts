/** The commands, in the order of the help. Only the called one is loaded, so that the program starts fast. */
import type { CommandDefinition } from '../command/command.ts';

export interface CommandEntry {
  name: string;
  /** The heading under which the help lists the command. */
  group: 'See' | 'Deploy' | 'Approve and freeze' | 'Set up';
  /** One line, for lists of commands. */
  summary: string;
  load(): Promise<CommandDefinition>;
}

// biome-ignore format: a table
export const COMMANDS: readonly CommandEntry[] = [
  { name: 'get', group: 'See', summary: 'show what runs, what waits, what blocks it, and what happens next', load: async () => (await import('./getCommand.ts')).get },
  { name: 'why', group: 'See', summary: 'explain why an object is waiting or blocked, and how to release it', load: async () => (await import('./whyCommand.ts')).why },
  { name: 'status', group: 'See', summary: 'show the progress in one line and an exit code, for pipelines', load: async () => (await import('./statusCommand.ts')).status },
  { name: 'history', group: 'See', summary: 'list deployments with outcome, user, reason, and how long each phase took', load: async () => (await import('./historyCommand.ts')).history },
  { name: 'calendar', group: 'See', summary: 'draw the next weeks of Gates and schedules', load: async () => (await import('./calendarCommand.ts')).calendarCommand },
  { name: 'ui', group: 'See', summary: 'show Rollouts, Gates and schedules on a live page in the browser', load: async () => (await import('./uiCommand.ts')).ui },
  { name: 'audit', group: 'See', summary: 'report who deployed, approved, bypassed and changed what, when and why', load: async () => (await import('./auditCommand.ts')).audit },
  { name: 'deploy', group: 'Deploy', summary: 'deploy a version now, manually', load: async () => (await import('./rolloutCommands.ts')).deployCommand },
  { name: 'pin', group: 'Deploy', summary: 'deploy a version and stay on it', load: async () => (await import('./rolloutCommands.ts')).pinCommand },
  { name: 'unpin', group: 'Deploy', summary: 'resume automation after a pin', load: async () => (await import('./rolloutCommands.ts')).unpinCommand },
  { name: 'rollback', group: 'Deploy', summary: 'go back to the last version that succeeded, and stay on it', load: async () => (await import('./rolloutCommands.ts')).rollbackCommand },
  { name: 'retry', group: 'Deploy', summary: 'retry a failed deployment', load: async () => (await import('./rolloutCommands.ts')).retryCommand },
  { name: 'unblock', group: 'Deploy', summary: 'let automation continue after a failed version', load: async () => (await import('./rolloutCommands.ts')).unblockCommand },
  { name: 'continue', group: 'Deploy', summary: 'resume a version that a budget stopped', load: async () => (await import('./continueCommand.ts')).continueCommand },
  { name: 'withdraw', group: 'Deploy', summary: 'withdraw a requested version, or your approval', load: async () => (await import('./rolloutCommands.ts')).withdrawCommand },
  { name: 'approve', group: 'Approve and freeze', summary: 'allow one version at the Gate or RolloutGate that blocks it', load: async () => (await import('./approveCommand.ts')).approveCommand },
  { name: 'reject', group: 'Approve and freeze', summary: 'reject a version: it is not deployed, not even manually', load: async () => (await import('./approveCommand.ts')).rejectCommand },
  { name: 'bypass', group: 'Approve and freeze', summary: 'bypass closed Gates for one version or one Flux object', load: async () => (await import('./bypassCommand.ts')).bypassCommand },
  { name: 'freeze', group: 'Approve and freeze', summary: 'hold syncs and deployments with a Gate: now, later, or every week', load: async () => (await import('./freezeCommand.ts')).freezeCommand },
  { name: 'close', group: 'Approve and freeze', summary: 'close a Gate or RolloutGate', load: async () => (await import('./gateCommands.ts')).closeCommand },
  { name: 'open', group: 'Approve and freeze', summary: 'open a Gate or RolloutGate', load: async () => (await import('./gateCommands.ts')).openCommand },
  { name: 'doctor', group: 'Set up', summary: 'check the installation, and show how to fix it', load: async () => (await import('./doctorCommand.ts')).doctorCommand },
  { name: 'adopt', group: 'Set up', summary: 'adopt running workloads under a Rollout, without changing them', load: async () => (await import('./adoptCommand.ts')).adoptCommand },
  { name: 'completion', group: 'Set up', summary: 'print a script that completes commands and names in bash, zsh or fish', load: async () => (await import('./completionCommand.ts')).completion },
  { name: 'mcp', group: 'Set up', summary: 'serve agents over standard input and output: read, and propose versions', load: async () => (await import('./mcpCommand.ts')).mcp },
];

export function commandEntry(name: string): CommandEntry | undefined {
  return COMMANDS.find((each) => each.name === name);
}
