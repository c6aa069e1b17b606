/** Lists in messages: any user could make them long. */

/** The most items of a list in a message. */
export const MAX_LISTED = 20;

/**
 * The first items: `a, b and 3 more`.
 * @param count the length of the list, if `texts` has only its beginning
 */
export function firstFew(texts: readonly string[], most = MAX_LISTED, count = texts.length): string {
  const shown = texts.slice(0, most);
  const more = count - shown.length;
  return shown.join(', ') + (more > 0 ? `${shown.length > 0 ? ' and ' : ''}${more} more` : '');
}
