/** The user's choice between several objects. */

import { Problem } from '../../client/problem.ts';
import { oneLine } from '../../core/text/oneLine.ts';
import type { Context } from '../command/command.ts';

export interface Alternative<T> {
  /** The text that is shown: `RolloutGate qa, which does not allow 1.2.0`. */
  text: string;
  /** The command line that chooses it: `approve rolloutgate/qa 1.2.0`. */
  command: string;
  value: T;
}

/** The only choice, or the user's. @throws Problem without a terminal, with the command of each choice */
export async function choose<T>(
  { terminal, program }: Context,
  question: string,
  choices: readonly Alternative<T>[],
): Promise<T> {
  const [first, ...others] = choices;
  if (first && others.length === 0) return first.value;
  if (!terminal.isInteractive) {
    const lines = choices.map(({ text, command }) => `  ${program} ${command}   # ${oneLine(text)}`);
    throw new Problem(`${question} Choose one of ${choices.length}:\n${lines.join('\n')}`);
  }
  terminal.note(question);
  choices.forEach(({ text }, index) => {
    terminal.note(`  ${index + 1}  ${text}`);
  });
  const answer = await terminal.ask(`Which? [1-${choices.length}] `);
  const chosen = choices[Number(answer.trim()) - 1];
  if (!chosen) throw new Problem('Nothing was changed.');
  return chosen.value;
}
