/**
 * Since when a Gate is closed, worked out from its stored versions by the table of docs/gates.md, a second time and as plainly
 * as possible. It knows the default, the window and requests without a version; no schedule, and nothing that is planned.
 */
import type { AnyObject } from '../client/send.ts';

/** What closed it: the write that stored this revision, or by itself at that time. */
export type Closing = { revision: number } | { ms: number };

type Action = 'open' | 'close';

const requestedAt = (gate: AnyObject | undefined, action: Action): string | undefined =>
  gate?.metadata.annotations?.[`${action}.gate.fluxcd.io/requestedAt`];

export class GateHistory {
  private gate: AnyObject | undefined;
  private request: { action: Action; ms: number } | undefined;
  private revision = 0;
  /** The write since which it was always closed, whenever one looks; of one that has never been open the first. */
  private closedBy: number | undefined = 0;

  /** The next stored version; undefined where it was deleted. */
  take(gate: AnyObject | undefined, revision: number): void {
    const arrived = (['open', 'close'] as const)
      .filter((action) => gate && requestedAt(gate, action) !== requestedAt(this.gate, action))
      .map((action) => ({ action, ms: Date.parse(requestedAt(gate, action) ?? '') }))
      .filter(({ ms }) => !Number.isNaN(ms))
      .sort((a, b) => a.ms - b.ms || Number(a.action === 'close') - Number(b.action === 'close'));
    this.request = gate && (arrived.at(-1) ?? this.request);
    this.gate = gate;
    this.revision = revision;
    if (!this.alwaysClosed()) this.closedBy = undefined;
    else this.closedBy ??= this.revision;
  }

  /** What closed it, where it is closed at that time. A Gate that does not exist is closed. */
  closedAt(ms: number): Closing | undefined {
    if (this.closedBy !== undefined) return { revision: this.closedBy };
    if (this.isOpen(ms)) return undefined;
    // Not always: a window has ended, or is not over yet.
    const edge = this.edge();
    return edge !== undefined && edge <= ms ? { ms: edge } : { revision: this.revision };
  }

  /** By the newest write, until the next one. */
  isClosedByWrite(): boolean {
    return this.closedBy !== undefined;
  }

  private get default(): Action {
    return this.gate?.spec.default === 'opened' ? 'open' : 'close';
  }

  /** When the request ends by itself. */
  private edge(): number | undefined {
    const seconds = /^(\d+)s$/.exec(this.gate?.spec.window ?? '')?.[1];
    return this.request && seconds !== undefined ? this.request.ms + Number(seconds) * 1000 : undefined;
  }

  private isOpen(ms: number): boolean {
    if (!this.gate) return false;
    const edge = this.edge() ?? Number.POSITIVE_INFINITY;
    const holds = this.request && this.request.action !== this.default && ms < edge;
    return (holds ? this.request?.action : this.default) === 'open';
  }

  private alwaysClosed(): boolean {
    if (!this.gate) return true;
    if (this.default === 'open') return this.request?.action === 'close' && this.edge() === undefined;
    return this.request?.action !== 'open';
  }
}
