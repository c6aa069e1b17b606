/** The broken glass on a Rollout: its next deployment gets past the Gates that are closed now (DESIGN sections 6 and 7). */
import type { AdmissionRequest } from '../../api/admission.ts';
import type { WebhookCall } from '../../api/ports.ts';
import type { Rollout } from '../../api/types.ts';
import { freshReason, recordReason } from '../../core/gate/bypass.ts';
import { refKey } from '../../core/kube/names.ts';
import { gatesToPass } from '../../core/rollout/requiredGates.ts';
import { askForGlass, recordGlass } from '../bypass.ts';
import { readClosed } from './closedGates.ts';

export type RolloutGlass =
  /** `gates`: the closed ones, as the annotation keeps them. */
  { gates: string; audit: Record<string, string>; refused?: undefined } | { refused: string };

/** undefined: no reason is given in this write, or no Gate of the Rollout's own is closed. */
export async function breakGlass(
  rollout: Rollout,
  before: Rollout,
  request: AdmissionRequest,
  call: WebhookCall,
): Promise<RolloutGlass | undefined> {
  const reason = freshReason(rollout, before);
  if (reason === undefined) return undefined;
  // The objects bound to it have a glass of their own: a deployment that they cannot take helps nobody.
  const closed = (await readClosed(gatesToPass(rollout, []), call)).map(({ ref }) => ref);
  if (closed.length === 0) return undefined;
  const glass = await askForGlass(closed, request, call);
  if (!glass.broken) return { refused: glass.refused };
  const stored = recordReason(rollout, before, request.userInfo.username, call.now);
  return { gates: closed.map(refKey).join(','), audit: await recordGlass(stored, closed, reason, request, call) };
}
