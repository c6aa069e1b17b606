/** A pin, or its removal, in a sentence. */
import type { PinView } from './application.ts';

/** `Pinned to 1.0.0 by sre at 2026-03-01T12:00:00Z: leaks memory`. */
export function pinText({ version, from, by, at, reason }: PinView): string {
  const what = version === undefined ? `Unpinned from ${from}` : `Pinned to ${version}`;
  return `${what} by ${by} at ${at}${reason ? `: ${reason}` : ''}`;
}
