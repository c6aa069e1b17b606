/**
 * Since when a Gate has been closed, by its stored versions and the reference. Gates with a schedule aren't covered.
 */
import type { AnyObject } from '../client/send.ts';
import { ReferenceGate, type Request } from '../reference/gate.ts';

/** The cause of a closed Gate: the write that stored a revision, or a time at which a request began or ended. */
export type Closure = { revision: number } | { ms: number };

type Action = Request['action'];

const requestedAt = (gate: AnyObject | undefined, action: Action): string | undefined =>
  gate?.metadata.annotations?.[`${action}.gate.fluxcd.io/requestedAt`];

/** Whether the other request on the Gate has a later time. */
function isLater(gate: AnyObject | undefined, action: Action, at: number): boolean {
  const other = Date.parse(requestedAt(gate, action === 'open' ? 'close' : 'open') ?? '');
  return action === 'open' ? other >= at : other > at;
}

export class GateHistory {
  private gate: AnyObject | undefined;
  private readonly reference = new ReferenceGate({ default: 'closed' });
  private revision = 0;
  /** The revision since which the Gate has been closed without a break; 0 if it has never been open. */
  private closedBy: number | undefined = 0;

  /** Takes the next stored version, undefined after a deletion. The version was stored at `ms` or earlier. */
  take(gate: AnyObject | undefined, revision: number, ms: number, isUngoverned = false): void {
    const requests = (['open', 'close'] as const)
      .filter((action) => gate && requestedAt(gate, action) !== requestedAt(this.gate, action))
      .map((action) => ({ action, at: Date.parse(requestedAt(gate, action) ?? '') }))
      .filter(({ at }) => !Number.isNaN(at))
      // An opening for one version changes no state.
      .filter(({ action }) => action === 'close' || !gate?.metadata.annotations?.['open.gate.fluxcd.io/for'])
      // Without the webhook nothing records which request arrived last: the later time counts.
      .filter(({ action, at }) => !isUngoverned || !isLater(gate, action, at));
    if (!gate) this.reference.clear();
    else this.reference.change(gate.spec, ms);
    this.reference.addRequests(requests, ms);
    this.gate = gate;
    this.revision = revision;
    if (!this.isClosedFrom(ms)) this.closedBy = undefined;
    else this.closedBy ??= revision;
  }

  /** Why the Gate is closed at `ms`; undefined if it is open. A missing Gate is closed. */
  closedAt(ms: number): Closure | undefined {
    if (this.closedBy !== undefined) return { revision: this.closedBy };
    if (this.reference.isOpen(ms)) return undefined;
    // The Gate opens and closes by itself: a window has ended, or hasn't yet.
    const edge = this.reference.changes().findLast((change) => change <= ms);
    return edge === undefined ? { revision: this.revision } : { ms: edge };
  }

  /** Whether the newest write closed the Gate until the next write. */
  isClosedByWrite(): boolean {
    return this.closedBy !== undefined;
  }

  private isClosedFrom(ms: number): boolean {
    return (
      !this.gate || [ms, ...this.reference.changes().filter((at) => at > ms)].every((at) => !this.reference.isOpen(at))
    );
  }
}
