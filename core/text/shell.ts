/**
 * Command lines for a POSIX shell. Every command shown to a user is built here: each value stays one word, or
 * part of one, even if a tenant wrote it.
 */

/** What every shell takes as it is; a word that begins with `=` or `~` means something else to some. */
const PLAIN = /^[\w@+:,./-][\w@+:=,./-]*$/;
/** The name of an object, or of its namespace. */
const NAME = /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/;

/** Text of our own that a shell has to expand. */
export interface Expanded {
  readonly expanded: string;
}

/** The time at which the command is run. */
export const NOW: Expanded = { expanded: '"$(date -u +%Y-%m-%dT%H:%M:%SZ)"' };
/** A placeholder that the user has to fill in. */
export const WHY: Expanded = { expanded: '"<why>"' };

/** A word, quoted if a shell would read it otherwise. */
export function quoted(word: string): string {
  return PLAIN.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/**
 * `shell`kubectl -n ${namespace} annotate gate/${name} ${key}=${value}``: the values are quoted.
 * No quotes belong around them.
 */
export function shell(texts: TemplateStringsArray, ...values: (string | Expanded)[]): string {
  return texts.reduce((line, text, index) => {
    const value = values[index - 1]!;
    return `${line}${typeof value === 'string' ? quoted(value) : value.expanded}${text}`;
  });
}

/** A name for a command, or a placeholder: references may hold anything, `--all` too. */
export function nameWord(name: string | undefined): string {
  return name !== undefined && NAME.test(name) ? name : '<name>';
}
