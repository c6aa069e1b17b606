/** Lists in messages: any user could make them long. */

/** How many items of a list a message has. */
export const MAX_LISTED = 20;

export function firstFew(texts: readonly string[], count?: number): string {
  return few(texts, MAX_LISTED, count);
}

/**
 * The first items: `a, b and 3 more`.
 * @param count the length of the list, if `texts` has only its beginning
 */
export function few(texts: readonly string[], most: number, count = texts.length): string {
  const shown = texts.slice(0, most);
  const more = count - shown.length;
  return shown.join(', ') + (more > 0 ? `${shown.length > 0 ? ' and ' : ''}${more} more` : '');
}
