/** docs/receiver.md "A signed call", read aloud: whether one is taken, or with which status it is refused. */
import { createHmac } from 'node:crypto';

export interface Call {
  method: string;
  timestamp: string;
  nonce: string;
  signature: string;
  body: string;
}

const FIVE_MINUTES_MS = 300_000;
const TEN_MINUTES_MS = 600_000;

export function signatureOf(token: string, timestamp: string, path: string, body: string): string {
  return `sha256=${createHmac('sha256', token).update(`${timestamp}.${path}.${body}`).digest('hex')}`;
}

/** What one Gate has taken. */
export class NaiveReceiver {
  private readonly taken: { at: number; nonce: string; signature: string }[] = [];

  /** The status of the answer; 200 is remembered. */
  judge(call: Call, path: string, token: string, now: number): number {
    if (call.method !== 'POST') return 405;
    const status = this.statusOf(call, path, token, now);
    if (status === 200) this.taken.push({ at: now, nonce: call.nonce, signature: call.signature });
    return status;
  }

  private statusOf({ timestamp, nonce, signature, body }: Call, path: string, token: string, now: number): number {
    if (signature !== signatureOf(token, timestamp, path, body)) return 400;
    if (!/^\d{1,12}$/.test(timestamp) || Math.abs(now - Number(timestamp) * 1000) > FIVE_MINUTES_MS) return 400;
    if (!/^[\x21-\x7e]{1,128}$/.test(nonce)) return 400;
    const remembered = this.taken.filter(({ at }) => now - at <= TEN_MINUTES_MS);
    if (remembered.some((before) => before.nonce === nonce || before.signature === signature)) return 400;
    if (
      this.taken.filter(({ at }) => Math.floor(now / 1000) * 1000 - Math.floor(at / 1000) * 1000 < 60_000).length >= 10
    )
      return 429;
    return isInOrder(body) ? 200 : 400;
  }
}

/** "`action` is `open` or `close`; `reason` and `for` (with `open` only) may be left out, other fields are refused." */
function isInOrder(text: string): boolean {
  let body: Record<string, unknown>;
  try {
    body = JSON.parse(text);
  } catch {
    return false;
  }
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return false;
  if (Object.keys(body).some((key) => !['action', 'reason', 'for'].includes(key))) return false;
  if (body.action !== 'open' && body.action !== 'close') return false;
  if (body.reason !== undefined && (typeof body.reason !== 'string' || body.reason.length > 1024)) return false;
  if (body.for === undefined) return true;
  return (
    body.action === 'open' &&
    typeof body.for === 'string' &&
    /^([a-z0-9-]{1,63}\/[a-z0-9.-]{1,253}:)?[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/.test(body.for)
  );
}
