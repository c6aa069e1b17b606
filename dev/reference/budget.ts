/** docs/promotion.md "A few at a time", read aloud: who has a slot of one RolloutBudget, who gets one, and for which version. */

export type Amount = number | string;

export interface BudgetSpec {
  maxConcurrent: Amount;
  maxFailures?: Amount;
  /** Of the label of each Rollout's wave, the first wave first. */
  order?: readonly string[];
  cooldownS: number;
  slotTimeoutS?: number;
}

export interface Fleeting {
  name: string;
  wave: string;
  /** undefined: it has not said which image it follows. */
  image: string | undefined;
  selected: boolean;
  /** Newest first. */
  history: { tag: string; bake: string; at: number }[];
  asks?: { id: number; since: number; versions: string[] };
}

export interface NaiveSlot {
  name: string;
  request?: number;
  image: string;
  version: string;
  granted: number;
  state: 'Granted' | 'Revoking' | 'Deploying' | 'Baking' | 'Overdue';
  revoked?: number;
}

const UNUSED_MS = 10 * 60_000;
const TOLD_MS = 60_000;

function amountOf(amount: Amount, of: number): number {
  return typeof amount === 'number' ? amount : Math.ceil((of * Number.parseInt(amount, 10)) / 100);
}

export class NaiveBudget {
  slots: NaiveSlot[] = [];
  /** When the slots were freed that cool down. */
  private cooling: number[] = [];
  /** By image and version, the Rollouts in which it has failed: each counts once. */
  private readonly failures = new Map<string, Set<string>>();
  private readonly excused = new Map<string, Set<string>>();

  /** Somebody lets a version go on: the failures so far are not counted any more. */
  continue(version: string): void {
    for (const [key, names] of this.failures) if (key.endsWith(`:${version}`)) this.excused.set(key, new Set(names));
  }

  /** One look at the fleet; `said`: the version that somebody has asked to continue since the last one. */
  look(spec: BudgetSpec, fleet: readonly Fleeting[], now: number, said?: string): void {
    const selected = fleet.filter((each) => each.selected);
    this.slots = this.slots.flatMap((slot) => this.after(slot, fleet, spec, now) ?? []);
    for (const each of selected) {
      const [head] = each.history;
      const has = this.slots.some(({ name }) => name === each.name);
      if (head && isOnItsWay(each) && !has) {
        this.slots.push({ name: each.name, ...used(each, each.image ?? ''), granted: now });
      }
    }
    this.cooling = this.cooling.filter((freed) => freed + spec.cooldownS * 1000 > now);
    this.remember(selected);
    if (said !== undefined) this.continue(said);

    const max = spec.maxFailures === undefined ? Number.POSITIVE_INFINITY : amountOf(spec.maxFailures, selected.length);
    const isHeld = (image: string, version: string) => this.failed(image, version) >= Math.max(1, max);
    for (const slot of this.slots) {
      if (slot.state === 'Granted' && isHeld(slot.image, slot.version)) revoke(slot, now);
    }
    let room = amountOf(spec.maxConcurrent, selected.length) - this.taken();
    for (const each of this.queue(spec, selected)) {
      if (room <= 0) break;
      const { id, versions } = each.asks!;
      const version = versions.find(
        (one) => !isHeld(each.image!, one) && this.mayBegin(each, one, spec.order ?? [], selected),
      );
      if (version === undefined) continue;
      this.slots.push({ name: each.name, request: id, image: each.image!, version, granted: now, state: 'Granted' });
      room--;
    }
  }

  /** "Those that cool down included"; who is on the way for too long is not counted. */
  taken(): number {
    return this.slots.filter(({ state }) => state !== 'Overdue').length + this.cooling.length;
  }

  failed(image: string, version: string): number {
    const key = `${image}:${version}`;
    const excused = this.excused.get(key);
    return [...(this.failures.get(key) ?? [])].filter((name) => !excused?.has(name)).length;
  }

  waiting(spec: BudgetSpec, fleet: readonly Fleeting[]): number {
    return this.queue(
      spec,
      fleet.filter(({ selected }) => selected),
    ).length;
  }

  /** undefined: it is free. */
  private after(
    slot: NaiveSlot,
    fleet: readonly Fleeting[],
    { cooldownS, slotTimeoutS }: BudgetSpec,
    now: number,
  ): NaiveSlot | undefined {
    const holder = fleet.find(({ name }) => name === slot.name);
    if (!holder) return undefined;
    const isUnused = slot.state === 'Granted' || slot.state === 'Revoking';
    if (isUnused && holder.asks?.id === slot.request) {
      if (slot.state === 'Granted' && now >= slot.granted + UNUSED_MS) revoke(slot, now);
      return slot.state === 'Revoking' && now >= slot.revoked! + TOLD_MS ? undefined : slot;
    }
    if (isOnItsWay(holder)) {
      const isOverdue =
        slot.state === 'Overdue' || now >= slot.granted + (slotTimeoutS ?? Number.POSITIVE_INFINITY) * 1000;
      const next = { ...slot, ...used(holder, slot.image) };
      return isOverdue ? { ...next, state: 'Overdue' } : next;
    }
    const [head] = holder.history;
    const wasUsed = !isUnused || (head?.tag === slot.version && head.at >= slot.granted);
    if (wasUsed && slot.state !== 'Overdue' && cooldownS > 0) this.cooling.push(now);
    return undefined;
  }

  /** What has failed once stays failed, also after a retry, and after the Rollout was deleted. */
  private remember(fleet: readonly Fleeting[]): void {
    for (const { name, image, history } of fleet) {
      for (const { tag, bake } of history) if (bake === 'Failed') this.note(image ?? '', tag, name);
    }
    for (const { name, image, version, state } of this.slots) if (state === 'Overdue') this.note(image, version, name);
  }

  private note(image: string, version: string, name: string): void {
    const key = `${image}:${version}`;
    this.failures.set(key, (this.failures.get(key) ?? new Set()).add(name));
  }

  /** "Waves first, then who asked first." */
  private queue({ order = [] }: BudgetSpec, fleet: readonly Fleeting[]): Fleeting[] {
    const text = (each: Fleeting) =>
      `${String(waveOf(each, order)).padStart(3, '0')} ${String(each.asks!.since).padStart(16, '0')} ${each.name}`;
    return fleet
      .filter((each) => each.asks && !this.slots.some(({ name }) => name === each.name))
      .sort((a, b) => (text(a) < text(b) ? -1 : 1));
  }

  /** "A version comes to a wave when every Rollout of the waves before it has it Succeeded, of those with the same image." */
  private mayBegin(each: Fleeting, version: string, order: readonly string[], fleet: readonly Fleeting[]): boolean {
    const before = fleet.filter((other) => waveOf(other, order) < waveOf(each, order));
    return before.every((other) => {
      if (other.image === undefined) return false;
      if (other.image !== each.image) return true;
      const newest = other.history.find(({ tag, bake }) => tag === version && bake !== 'Cancelled');
      if (newest?.bake === 'Succeeded') return true;
      const isOverdue = this.slots.some(({ name, state }) => name === other.name && state === 'Overdue');
      const hasFailed = newest?.bake === 'Failed' || (newest !== undefined && isOverdue);
      return hasFailed && this.excused.get(`${other.image}:${version}`)?.has(other.name) === true;
    });
  }
}

function waveOf({ wave }: Fleeting, order: readonly string[]): number {
  const index = order.indexOf(wave);
  return index < 0 ? order.length : index;
}

/** "A deployment without bake settings takes room until Flux has applied it, or its Rollout asks for the next version." */
function isOnItsWay({ history: [head], asks }: Fleeting): boolean {
  return head?.bake === 'InProgress' || (head?.bake === 'Deploying' && !asks);
}

function used({ history: [head] }: Fleeting, image: string): Pick<NaiveSlot, 'image' | 'version' | 'state'> {
  return { image, version: head!.tag, state: head!.bake === 'InProgress' ? 'Baking' : 'Deploying' };
}

function revoke(slot: NaiveSlot, now: number): void {
  slot.state = 'Revoking';
  slot.revoked = now;
}
