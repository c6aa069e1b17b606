/** Commands inside a sentence, which can't be copied: kubectl or flux with arguments, after other text on the line. */
const INSIDE =
  /^(?!\s*(?:kubectl|flux) )(?!\s*(?:- )?"?(?:command|kubectl)"?: ).*\b((?:kubectl|flux) (?:-n |--|rollouts? [a-z]|(?:annotate|apply|create|delete|describe|get|logs|patch|resume|suspend) ).*)$/m;

/** undefined if each command has a line of its own. */
export function commandInside(text: string): string | undefined {
  return INSIDE.exec(text)?.[1];
}
