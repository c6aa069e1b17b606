import { shortened } from './oneLine.ts';

/** The text of what was thrown: the message of an Error, or the value itself. */
export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Characters of an error in a status or in another message. */
const MAX_CHARACTERS = 300;

/** The first line of what was thrown, cut: for a status, or for a part of another message. */
export function shortErrorText(error: unknown): string {
  const [first = ''] = errorText(error).split('\n');
  return shortened(first, MAX_CHARACTERS);
}
