/** The webhook's copy of the requests it accepted, as the JSON text of the annotation ACCEPTED_REQUEST. */
import { formatTime } from '../kube/time.ts';
import type { GateRequest, Requests, Times } from './requests.ts';
import { parseRequestTime } from './timestamp.ts';

/** Longer than ours is with the longest reasons and users. */
const MAX_COPY = 65_536;

/** The same requests give the same text. */
export function formatRequests({ current, planned, handled, seen = {} }: Requests): string {
  return JSON.stringify({
    current: current && wire(current),
    planned: planned && wire(planned),
    handled: wireTimes(handled),
    seen: wireTimes(seen),
  });
}

/** undefined when there is no text or it is not ours. */
export function parseRequests(text: string | undefined): Requests | undefined {
  if (!text || text.length > MAX_COPY) return undefined;
  try {
    const { current, planned, handled, seen } = JSON.parse(text);
    return {
      current: unwire(current),
      planned: unwire(planned),
      handled: unwireTimes(handled),
      seen: unwireTimes(seen),
    };
  } catch {
    return undefined;
  }
}

function wire({ action, at, by, reason, for: version }: GateRequest) {
  return { action, at: formatTime(at), by, reason, for: version };
}

function wireTimes({ open, close }: Times) {
  return {
    open: open === undefined ? undefined : formatTime(open),
    close: close === undefined ? undefined : formatTime(close),
  };
}

function unwireTimes(value: Record<string, unknown> | undefined): Times {
  return { open: parseRequestTime(text(value?.open)), close: parseRequestTime(text(value?.close)) };
}

function unwire(value: Record<string, unknown> | undefined): GateRequest | undefined {
  const at = parseRequestTime(text(value?.at));
  if (!value || at === undefined || (value.action !== 'open' && value.action !== 'close')) return undefined;
  const request: GateRequest = { action: value.action, at };
  if (text(value.by)) request.by = text(value.by);
  if (text(value.reason)) request.reason = text(value.reason);
  if (text(value.for)) request.for = text(value.for);
  return request;
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
