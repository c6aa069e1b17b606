/** A person asks a Gate to open or to close. */
import { ref } from './objects.ts';
import type { User } from './user.ts';

/** As `date -u +%Y-%m-%dT%H:%M:%SZ` prints it. */
export const timestamp = (at = Date.now()) => `${new Date(at).toISOString().slice(0, 19)}Z`;

/**
 * `kubectl annotate --overwrite gate/NAME ACTION.gate.fluxcd.io/requestedAt=…`; `more` are annotations beside it.
 * Without `at` it is now, or a second later where this second was asked in before: an annotation that does not change requests nothing.
 */
export async function ask(
  user: User,
  namespace: string,
  name: string,
  action: 'open' | 'close',
  { at, more = {} }: { at?: string; more?: Record<string, string | null> } = {},
) {
  const key = `${action}.gate.fluxcd.io/requestedAt`;
  const before = Date.parse((await user.get(ref('gate', namespace, name))).metadata.annotations?.[key] ?? '') || 0;
  const annotations = { [key]: at ?? timestamp(Math.max(user.now(), before + 1000)), ...more };
  return user.mergePatch(
    ref('gate', namespace, name),
    { metadata: { annotations } },
    { fieldManager: 'kubectl-annotate' },
  );
}
