/**
 * Command lines for a POSIX shell. Every command that a user sees is built here: each value stays one word, or part of
 * one, even if a tenant wrote it.
 */

/** A word that needs no quotes in any shell. Some shells expand a word that begins with `=` or `~`. */
const PLAIN = /^[\w@+:,./-][\w@+:=,./-]*$/;
/** A name of an object or a namespace. */
const NAME = /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/;

/** A text of ours that the shell expands. */
export interface Expanded {
  readonly expanded: string;
}

/** The time at which the command runs. */
export const NOW: Expanded = { expanded: '"$(date -u +%Y-%m-%dT%H:%M:%SZ)"' };
/** A placeholder that the user has to fill in. */
export const WHY: Expanded = { expanded: '"<why>"' };

/** A word, quoted if a shell would read it otherwise. */
export function quote(word: string): string {
  return PLAIN.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** A command line: `shell`kubectl -n ${namespace} annotate gate/${name} ${key}=${value}`` quotes each value. */
export function shell(texts: TemplateStringsArray, ...values: (string | Expanded)[]): string {
  return texts.reduce((line, text, index) => {
    const value = values[index - 1]!;
    return `${line}${typeof value === 'string' ? quote(value) : value.expanded}${text}`;
  });
}

/** The name for a command, or a placeholder: a reference may hold any text, `--all` too. */
export function nameWord(name: string | undefined): string {
  return name !== undefined && NAME.test(name) ? name : '<name>';
}
