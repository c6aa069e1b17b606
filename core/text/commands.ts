/** Sentences with their commands: each command is complete and on a line of its own, safe to copy. */
import { oneLine } from './oneLine.ts';

/** A label, `To approve it`, and the command line. */
export type CommandLine = readonly [what: string, line: string];

export interface TextWithCommands {
  /** Sentences without a command. */
  text: string;
  commands?: readonly CommandLine[];
}

/** The text with its commands, for a reader. Text of a user starts no line, and `shell` quotes it in a command. */
export function withCommands(text: string, ...commands: readonly CommandLine[]): string {
  return [oneLine(text), ...commands.map(([what, line]) => `${what}:\n  ${oneLine(line)}`)].join('\n');
}

/** The text with a full stop at its end, unless it ends with a command. */
export function withFullStop(text: string): string {
  return /[.!?:]$/.test(text) || text.includes('\n') ? text : `${text}.`;
}

export function fullText({ text, commands = [] }: TextWithCommands): string {
  return withCommands(text, ...commands);
}

/** The text with its commands, in at most `most` characters: the sentences are cut, and the commands stay whole. */
export function boundedText({ text, commands = [] }: TextWithCommands, most: number): string {
  const room = most - withCommands('', ...commands).length;
  if (room < most / 4) return boundedText({ text }, most);
  return withCommands(text.length <= room ? text : `${text.slice(0, room - 1)}…`, ...commands);
}

/** The sentences of a stored text, for readers who see the commands elsewhere. */
export function withoutCommands(stored: string): string {
  return stored.replace(/\n[^\n]*:\n {2}[^\n]*/g, '');
}
