/** What the writer of a Gate should know although it is allowed. */
import type { EpochMs } from '../../api/kubernetes.ts';
import type { Gate } from '../../api/types.ts';
import { scheduleWarnings } from '../calendar/warnings.ts';
import { formatDuration } from '../kube/duration.ts';
import { formatTime } from '../kube/time.ts';
import { acceptRequests } from './accept.ts';
import { REQUESTED_AT } from './requests.ts';
import { CLOCK_TOLERANCE_MS, parseWindow } from './timestamp.ts';

/** Sentences of at most 120 characters. `old` is undefined for a new Gate. */
export function gateWarnings(gate: Gate, old: Gate | undefined, now: EpochMs): string[] {
  const { accepted, ignored } = acceptRequests(gate, old, '', now);
  const warnings = accepted
    .filter(({ at }) => at > now + CLOCK_TOLERANCE_MS)
    .map(
      ({ action, at }) =>
        `${formatDuration(at - now)} ahead: the ${action} request takes effect at ${formatTime(at)}, not now`,
    );
  for (const { action, at } of ignored) {
    warnings.push(`${REQUESTED_AT[action]} ${formatTime(at)} was handled before and asks for nothing new`);
  }
  if (gate.spec.window !== old?.spec.window && gate.spec.window !== undefined && parseWindow(gate.spec.window) === 0) {
    warnings.push(`spec.window is ${gate.spec.window}: requests end as they begin and change nothing`);
  }
  return [...warnings, ...scheduleWarnings(gate.spec.schedule?.rules ?? [])];
}
