/** Since when a Gate is closed, worked out from its stored versions with the naive reference. It knows no schedule. */
import type { AnyObject } from '../client/send.ts';
import { NaiveGate, type Request } from '../reference/gate.ts';

/** What closed it: the write that stored this revision, or by itself at that time. */
export type Closing = { revision: number } | { ms: number };

type Action = Request['action'];

const requestedAt = (gate: AnyObject | undefined, action: Action): string | undefined =>
  gate?.metadata.annotations?.[`${action}.gate.fluxcd.io/requestedAt`];

export class GateHistory {
  private gate: AnyObject | undefined;
  private readonly naive = new NaiveGate({ default: 'closed' });
  private revision = 0;
  /** The write since which it was always closed, whenever one looks; of one that has never been open the first. */
  private closedBy: number | undefined = 0;

  /** The next stored version; undefined where it was deleted. It was stored at this time or earlier. */
  take(gate: AnyObject | undefined, revision: number, ms: number): void {
    const arrived = (['open', 'close'] as const)
      .filter((action) => gate && requestedAt(gate, action) !== requestedAt(this.gate, action))
      .map((action) => ({ action, at: Date.parse(requestedAt(gate, action) ?? '') }))
      .filter(({ at }) => !Number.isNaN(at));
    if (!gate) this.naive.forget();
    else this.naive.spec = gate.spec as NaiveGate['spec'];
    this.naive.arrive(arrived, ms);
    this.gate = gate;
    this.revision = revision;
    if (!this.isClosedFrom(ms)) this.closedBy = undefined;
    else this.closedBy ??= revision;
  }

  /** What closed it, where it is closed at that time. A Gate that does not exist is closed. */
  closedAt(ms: number): Closing | undefined {
    if (this.closedBy !== undefined) return { revision: this.closedBy };
    if (this.naive.isOpen(ms)) return undefined;
    // Not always: a window has ended, or is not over yet.
    const edge = this.naive.changes().findLast((change) => change <= ms);
    return edge === undefined ? { revision: this.revision } : { ms: edge };
  }

  /** By the newest write, until the next one. */
  isClosedByWrite(): boolean {
    return this.closedBy !== undefined;
  }

  private isClosedFrom(ms: number): boolean {
    return !this.gate || [ms, ...this.naive.changes().filter((at) => at > ms)].every((at) => !this.naive.isOpen(at));
  }
}
