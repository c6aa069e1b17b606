/** A command inside a sentence, which nobody can copy: kubectl or flux with something to do, and other text before it on its line. */
const INSIDE =
  /^(?!\s*(?:kubectl|flux) )(?!\s*(?:- )?"?(?:command|kubectl)"?: ).*\b((?:kubectl|flux) (?:-n |--|rollouts? [a-z]|(?:annotate|apply|create|delete|describe|get|logs|patch|resume|suspend) ).*)$/m;

/** undefined: each command stands on a line of its own. */
export function commandInside(text: string): string | undefined {
  return INSIDE.exec(text)?.[1];
}
