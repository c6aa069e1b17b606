/** An explanation in sentences: the cause first, what happens by itself, then what lets it go, and whether you may. */

import type { Remedy } from '../../client/explain/application.ts';
import type { Explanation } from '../../client/explain/explanation.ts';
import { PROGRAM } from '../../client/requests/request.ts';
import { refKey } from '../../core/kube/names.ts';
import { wrapped } from '../terminal/layout.ts';
import { EXPLAINED_TONES, type Look } from './look.ts';

/** `program`: as it was called. */
export function explanationLines(explanation: Explanation, look: Look, program: string): string[] {
  const { object, headline, state, causes, next, remedies, unread } = explanation;
  const title = `${object.kind} ${refKey(object)}`;
  const head = `${look.symbol(EXPLAINED_TONES[state])} ${look.strong(title)}: ${look.text(headline)}`;
  const then = next ? `Next: ${look.text(next.text)}${next.at ? `, ${look.when(next.at)}` : ''}` : undefined;
  const said = causes.length > 0 || then ? causes.map(({ text }) => look.text(text)) : ['Nothing is in its way'];
  const sentences = [...said, ...(then ? [then] : [])];
  return [
    ...wrapped(head, look.columns),
    ...sentences.flatMap((text) => wrapped(ended(text), look.columns)),
    ...unread.flatMap((text) => wrapped(look.faint(`Not taken into account: ${ended(text)}`), look.columns)),
    ...(remedies.length > 0 ? ['', ...remedies.flatMap((remedy) => remedyLines(remedy, look, program))] : []),
  ];
}

/** Commands are not wrapped: a line feed in the middle would be pasted too. */
function remedyLines(
  { text, command, kubectl, allowed, verb, resource }: Remedy,
  look: Look,
  program: string,
): string[] {
  const right =
    allowed === undefined
      ? look.faint('(permission unknown)')
      : allowed
        ? look.tone('good', '(allowed)')
        : look.tone('bad', `(not allowed: it takes ${verb} on ${resource})`);
  const ours = command.startsWith(PROGRAM) ? `${program}${command.slice(PROGRAM.length)}` : command;
  return [
    ...wrapped(`To ${text} ${right}`, look.columns),
    // A manifest begins at the margin, and ends there.
    ...[...new Set([ours, kubectl])].flatMap((text) =>
      `  ${text}`.split('\n').map((line) => (allowed === false ? look.faint(line) : line)),
    ),
  ];
}

function ended(text: string): string {
  return /[.!?:]$/.test(text) ? text : `${text}.`;
}
