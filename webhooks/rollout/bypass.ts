/** A bypass on a Rollout: its next deployment gets past those Gates of its own that are closed now. */
import type { AdmissionRequest } from '../../api/admission.ts';
import { BYPASS_REASON, BYPASSED_GATES, REQUEST } from '../../api/annotations.ts';
import type { WebhookCall } from '../../api/ports.ts';
import type { Rollout } from '../../api/types.ts';
import { GATE_BYPASS, parseRequestIds } from '../../core/evaluation/requests.ts';
import { gatesToPass } from '../../core/evaluation/requiredGates.ts';
import { freshReason, recordReason } from '../../core/gate/bypass.ts';
import { refKey } from '../../core/kube/names.ts';
import { getPast, recordBypass } from '../bypass.ts';
import { readClosed } from '../closedGates.ts';

export interface RolloutBypass {
  /** The admission request that gave the reason; undefined: no bypass is in force. */
  requestId?: string | undefined;
  /** The Gates that it is for, as the annotation keeps them. */
  gates?: string | undefined;
  audit?: Record<string, string>;
  /** Why this write gets none. */
  refused?: string;
}

export async function bypassOf(
  rollout: Rollout,
  before: Rollout | undefined,
  request: AdmissionRequest,
  call: WebhookCall,
): Promise<RolloutBypass> {
  const reason = before && freshReason(rollout, before);
  // The objects bound to it are bypassed on their own: a deployment that they cannot take would be useless.
  const closed = reason ? (await readClosed(gatesToPass(rollout, []), call)).map(({ ref }) => ref) : [];
  const bypass = await getPast(closed, reason, request, call);
  if (!bypass) return keptBypass(rollout, before);
  if (!bypass.granted) return { refused: bypass.refused };
  const stored = recordReason(rollout, before, request.userInfo.username, call.now);
  const audit = await recordBypass(bypass, stored, request, call);
  return { requestId: request.uid, gates: closed.map(refKey).join(','), audit };
}

/** It counts for as long as its reason is there; a text that somebody writes into our annotations makes none. */
function keptBypass(rollout: Rollout, before: Rollout | undefined): RolloutBypass {
  const old = before?.metadata.annotations;
  const requestId = parseRequestIds(old?.[REQUEST])[GATE_BYPASS];
  const reason = old?.[BYPASS_REASON];
  if (requestId === undefined || reason === undefined) return {};
  return rollout.metadata.annotations?.[BYPASS_REASON] === reason ? { requestId, gates: old?.[BYPASSED_GATES] } : {};
}
