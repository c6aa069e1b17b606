/** Lists in messages, which anybody could make long. */
export const MAX_LISTED = 20;

/** `a, b`, or the first few and how many more. `count` is given where `texts` is only the beginning of the list. */
export function firstFew(texts: readonly string[], count = texts.length): string {
  const shown = texts.slice(0, MAX_LISTED).join(', ');
  return count > MAX_LISTED ? `${shown} and ${count - MAX_LISTED} more` : shown;
}
