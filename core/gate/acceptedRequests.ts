/** The requests of a Gate, and the webhook's record of those it accepted: the JSON text of the annotation ACCEPTED_REQUEST. */
import type { EpochMs } from '../../api/kubernetes.ts';
import { formatTime } from '../kube/time.ts';
import { parseRequestTime } from './timestamp.ts';

export type Action = 'open' | 'close';

export interface GateRequest {
  action: Action;
  /** When it takes effect, as it was written: up to a minute after it arrived, and then it is in force already. Whole seconds. */
  at: EpochMs;
  by?: string;
  reason?: string;
  /** The one version that the opening is for. */
  for?: string;
}

export interface GateRequests {
  /** In force now. */
  current?: GateRequest;
  /** Takes the place of `current` at its time. */
  planned?: GateRequest;
  /** The timestamp of each action's last request that took effect: what a Git sync puts back is not a new request. */
  handled: RequestTimes;
  /** What the annotations said at the last write that passed the webhook; a planned request called off may stand there still. */
  seen?: RequestTimes;
  /** Who wrote the reason in each annotation: it does not count for anybody else. */
  reasonBy?: Partial<Record<Action, string>>;
}

export type RequestTimes = Partial<Record<Action, EpochMs>>;

/** Longer than any text of ours, with the longest reasons and user names. */
const MAX_LENGTH = 65_536;

/** The same requests give the same text. */
export function formatAcceptedRequests({ current, planned, handled, seen = {}, reasonBy }: GateRequests): string {
  return JSON.stringify({
    current: current && wire(current),
    planned: planned && wire(planned),
    handled: wireTimes(handled),
    seen: wireTimes(seen),
    reasonBy: reasonBy && { open: reasonBy.open, close: reasonBy.close },
  });
}

/** undefined when there is no text or it is not ours. */
export function parseAcceptedRequests(text: string | undefined): GateRequests | undefined {
  if (!text || text.length > MAX_LENGTH) return undefined;
  try {
    const { current, planned, handled, seen, reasonBy } = JSON.parse(text);
    return {
      current: unwire(current),
      planned: unwire(planned),
      handled: unwireTimes(handled),
      seen: unwireTimes(seen),
      ...(reasonBy && { reasonBy: unwireNames(reasonBy) }),
    };
  } catch {
    return undefined;
  }
}

function wire({ action, at, by, reason, for: version }: GateRequest) {
  return { action, at: formatTime(at), by, reason, for: version };
}

function wireTimes({ open, close }: RequestTimes) {
  return {
    open: open === undefined ? undefined : formatTime(open),
    close: close === undefined ? undefined : formatTime(close),
  };
}

function unwireTimes(value: Record<string, unknown> | undefined): RequestTimes {
  return { open: parseRequestTime(text(value?.open)), close: parseRequestTime(text(value?.close)) };
}

function unwireNames(value: Record<string, unknown>): Partial<Record<Action, string>> {
  const [open, close] = [text(value.open), text(value.close)];
  return { ...(open !== undefined && { open }), ...(close !== undefined && { close }) };
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
