/** The body of a signed call: `{"action": "open", "reason": "CHG-1", "for": "1.2.0"}`. */
import type { Action } from '../gate/acceptedRequests.ts';
import { isOpenFor } from '../gate/requests.ts';

export interface CallBody {
  action: Action;
  reason?: string;
  /** With `open` only: the one tag that may be deployed, or `namespace/rollout:tag`. */
  for?: string;
}

const MAX_REASON = 1024;

/** Strict: a misspelt `for` would open the gate to everything. */
export function parseCallBody(bytes: Uint8Array): CallBody | { problem: string } {
  let body: unknown;
  try {
    body = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    return { problem: 'the body is not JSON' };
  }
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    return { problem: 'the body is not a JSON object' };
  const { action, reason, for: version, ...others } = body as Record<string, unknown>;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) return { problem: `the body has an unknown field '${unknown}'` };
  if (action !== 'open' && action !== 'close') return { problem: "action is neither 'open' nor 'close'" };
  if (reason !== undefined && (typeof reason !== 'string' || reason.length > MAX_REASON)) {
    return { problem: `reason is not a string of at most ${MAX_REASON} characters` };
  }
  if (version !== undefined && (action !== 'open' || typeof version !== 'string' || !isOpenFor(version))) {
    return { problem: "for is neither a legal tag nor <namespace>/<rollout>:<tag>, or the action is not 'open'" };
  }
  return { action, ...(reason && { reason }), ...(version !== undefined && { for: version as string }) };
}
