/** What an examination of the installation has found. */
export interface Finding {
  /** `problem`: something does not work, or will not. `unseen`: it could not be looked at. */
  level: 'fine' | 'problem' | 'unseen';
  /** What was looked at, in a word or two: `Webhooks`. */
  about: string;
  text: string;
  /** What to do about it, or where to look. */
  remedy?: string;
  /** Complete, and safe to copy. */
  command?: string;
}

export const fine = (about: string, text: string): Finding => ({ level: 'fine', about, text });
export const problem = (about: string, text: string, remedy: string, command?: string): Finding => ({
  level: 'problem',
  about,
  text,
  remedy,
  ...(command !== undefined && { command }),
});
export const unseen = (about: string, text: string): Finding => ({ level: 'unseen', about, text });

/** The findings, or that there is nothing to find fault with. */
export function orFine(about: string, findings: readonly Finding[], text: string): Finding[] {
  return findings.length > 0 ? [...findings] : [fine(about, text)];
}
