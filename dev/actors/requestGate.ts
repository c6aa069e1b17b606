/** A user's requests to open or close a Gate. */
import { OPEN_FOR } from '../../api/annotations.ts';
import { ref } from './objects.ts';
import { timestamp } from './timestamp.ts';
import type { User } from './user.ts';

/**
 * Runs `kubectl annotate --overwrite gate/NAME ACTION.gate.fluxcd.io/requestedAt=…`, with `more` annotations. `at` is
 * now by default, or a second after the last request if that is later: an annotation that doesn't change requests
 * nothing. An opening is for all versions, unless `more` has OPEN_FOR.
 */
export async function requestGate(
  user: User,
  namespace: string,
  name: string,
  action: 'open' | 'close',
  { at, more = {} }: { at?: string; more?: Record<string, string | null> } = {},
) {
  const key = `${action}.gate.fluxcd.io/requestedAt`;
  const before = Date.parse((await user.get(ref('gate', namespace, name))).metadata.annotations?.[key] ?? '') || 0;
  const requested = { [key]: at ?? timestamp(Math.max(user.now(), before + 1000)) };
  const annotations = { ...requested, ...(action === 'open' && { [OPEN_FOR]: null }), ...more };
  return user.mergePatch(
    ref('gate', namespace, name),
    { metadata: { annotations } },
    { fieldManager: 'kubectl-annotate' },
  );
}
