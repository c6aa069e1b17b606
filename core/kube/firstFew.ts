/** Lists in messages, which any user could make long. */
export const MAX_LISTED = 20;

export function firstFew(texts: readonly string[], count?: number): string {
  return few(texts, MAX_LISTED, count);
}

/** `a, b and 3 more`. `count`: if `texts` is only the beginning of the list. */
export function few(texts: readonly string[], most: number, count = texts.length): string {
  const shown = texts.slice(0, most);
  const more = count - shown.length;
  return shown.join(', ') + (more > 0 ? `${shown.length > 0 ? ' and ' : ''}${more} more` : '');
}
