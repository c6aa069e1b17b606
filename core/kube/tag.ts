/** What the OCI distribution specification accepts as a tag. Anything else is never written into a Flux object. */
import type { FieldProblem } from './fieldProblem.ts';

const TAG = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/;
/** The length of a refused value in a message. */
const MAX_SHOWN = 128;

const WHAT_A_TAG_IS = "expected a tag: letters, digits, '_', '.' and '-', at most 128 characters";

export function isLegalTag(tag: string): boolean {
  return TAG.test(tag);
}

/**
 * A version for a command, or a placeholder: a text that is not a tag deploys nothing, and may inject
 * words into the command.
 */
export function tagWord(version: string | undefined): string {
  return version !== undefined && isLegalTag(version) ? version : '<version>';
}

/** Annotations that should name a version and have another text. An empty one requests nothing. */
export function tagProblems(
  annotations: Readonly<Record<string, string>> | undefined,
  keys: readonly string[],
): FieldProblem[] {
  return keys.flatMap((key) => {
    const value = annotations?.[key];
    if (!value || isLegalTag(value)) return [];
    return [{ field: `metadata.annotations[${key}]`, value: value.slice(0, MAX_SHOWN), reason: WHAT_A_TAG_IS }];
  });
}
