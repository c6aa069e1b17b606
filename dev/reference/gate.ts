/** docs/gates.md "Rules", as plainly as possible: the requests on a Gate without a schedule, and whether it is open. */
import { durationMs } from './values.ts';

interface GateSpec {
  default: 'opened' | 'closed';
  window?: string;
}

export interface Request {
  action: 'open' | 'close';
  at: number;
  hasEnded?: boolean;
}

/** "Clocks differ." */
const TOLERANCE_MS = 60_000;

/** A Gate that gets every stored request in order. */
export class ReferenceGate {
  private spec: GateSpec;
  private current: Request | undefined;
  private planned: Request | undefined;

  constructor(spec: GateSpec) {
    this.spec = spec;
  }

  /** "The request that arrived last; both in one write: the later timestamp; equal: close." */
  addRequests(requests: readonly Request[], now: number): void {
    this.settle(now);
    const inOrder = [...requests].sort((a, b) => a.at - b.at || (a.action === 'close' ? 1 : -1));
    for (const request of inOrder) {
      if (request.at > now + TOLERANCE_MS) {
        this.planned = request;
      } else {
        const isSuperfluous = request.action === 'close' && this.spec.default === 'closed';
        this.current = { ...request, hasEnded: isSuperfluous };
        // "A newer request calls it off."
        this.planned = undefined;
      }
    }
  }

  /** "A request whose effect has ended doesn't count again." */
  change(spec: GateSpec, now: number): void {
    this.settle(now);
    const isOther = JSON.stringify(spec) !== JSON.stringify(this.spec);
    // "A closure lasts until a user opens the Gate", also if the default is closed too for a while.
    const end =
      this.current && (this.current.action === 'open' ? this.endOf(this.current) : this.windowEnd(this.current));
    if (isOther && end !== undefined && end <= now) this.current = undefined;
    this.spec = spec;
  }

  isOpen(now: number): boolean {
    const request = this.planned && this.planned.at <= now ? this.planned : this.current;
    return request && now < this.endOf(request) ? request.action === 'open' : this.spec.default === 'opened';
  }

  /** Deletes the Gate's requests, with the Gate. */
  clear(): void {
    this.current = undefined;
    this.planned = undefined;
  }

  /** Times at which the requests begin or end, in order. */
  changes(): number[] {
    const ends = [this.current, this.planned].flatMap((request) => (request ? [this.endOf(request)] : []));
    const times = [...ends, ...(this.planned ? [this.planned.at] : [])];
    return times.filter(Number.isFinite).sort((a, b) => a - b);
  }

  private settle(now: number): void {
    if (!this.planned || this.planned.at > now) return;
    this.current = this.planned;
    this.planned = undefined;
  }

  private windowEnd({ at, hasEnded }: Request): number {
    if (hasEnded) return at;
    const { window } = this.spec;
    return window === undefined ? Number.POSITIVE_INFINITY : at + Math.ceil(durationMs(window)! / 1000) * 1000;
  }

  private endOf(request: Request): number {
    // "Closed at once", "open at once": nothing is left of either request.
    if ((request.action === 'open') === (this.spec.default === 'opened')) return request.at;
    return this.windowEnd(request);
  }
}
