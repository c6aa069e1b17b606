/** `-o json` and `-o yaml`: what a command shows, as data for programs. */
export async function structured(value: unknown, format: 'json' | 'yaml'): Promise<string> {
  if (format === 'json') return JSON.stringify(value, undefined, 2);
  const { stringify } = await import('yaml');
  // Two equal parts of a value are not worth an anchor that a reader has to follow.
  return stringify(value, { aliasDuplicateObjects: false, lineWidth: 0 }).trimEnd();
}
