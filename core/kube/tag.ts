/** Tags of the OCI distribution specification. No other text is written into a Flux object. */
import type { FieldProblem } from './fieldProblem.ts';

const TAG = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/;
/** Characters of a tag. */
export const MAX_TAG_CHARACTERS = 128;

const NOT_A_TAG = "expected a tag: letters, digits, '_', '.' and '-', at most 128 characters";

export function isLegalTag(tag: string): boolean {
  return TAG.test(tag);
}

/** The version for a command, or a placeholder: another text than a tag could inject words into the command. */
export function tagWord(version: string | undefined): string {
  return version !== undefined && isLegalTag(version) ? version : '<version>';
}

/** The problems of annotations that must name a version. An empty annotation requests nothing. */
export function tagProblems(
  annotations: Readonly<Record<string, string>> | undefined,
  keys: readonly string[],
): FieldProblem[] {
  return keys.flatMap((key) => {
    const value = annotations?.[key];
    if (!value || isLegalTag(value)) return [];
    return [{ field: `metadata.annotations[${key}]`, value: value.slice(0, MAX_TAG_CHARACTERS), reason: NOT_A_TAG }];
  });
}
