/**
 * The rules of a Rollout with one HealthCheck and one RolloutGate, written a second time and as plainly as possible
 * from docs/rollouts.md. It shares no code with the Rollout it is compared with. Releases are numbers.
 */
const BAKE_S = 300;

export interface ModelEntry {
  release: number;
  state: 'Deploying' | 'InProgress' | 'Succeeded' | 'Failed' | 'Cancelled';
}

interface Health {
  status: string;
  /** Seconds. */
  changed: number;
  error: number;
}

interface Entry extends ModelEntry {
  /** What the check had reported when it was deployed, or retried. */
  known: Health;
  baking?: number;
  recovery: boolean;
  /** It was deployed in the place of a failed one. */
  back: boolean;
}

export class Model {
  history: Entry[] = [];
  newest = 0;
  pin: number | undefined;
  force: number | undefined;
  retry = false;
  unblock = false;
  gateOpen = true;
  health: Health = { status: '', changed: -1, error: -1 };
  private readonly rolledBack = new Set<number>();

  private readonly onFailure: 'Hold' | 'Continue' | 'Rollback';

  constructor(onFailure: 'Hold' | 'Continue' | 'Rollback') {
    this.onFailure = onFailure;
  }

  /** Whatever can happen at this second happens. */
  settle(now: number): void {
    if (this.retry) this.begin();
    this.retry = false;
    for (let again = true; again; ) {
      this.bake(now);
      again = this.deploy(now);
    }
  }

  private begin(): void {
    const [head] = this.history;
    if (head?.state === 'Failed')
      this.history[0] = { ...head, state: 'Deploying', known: this.health, baking: undefined } as Entry;
  }

  private bake(now: number): void {
    const [head] = this.history;
    if (head?.state !== 'Deploying' && head?.state !== 'InProgress') return;
    const unhealthyInBake = head.state === 'InProgress' && this.health.status === 'Unhealthy';
    const isNews = JSON.stringify(this.health) !== JSON.stringify(head.known);
    const isHealthy = this.health.status === 'Healthy' && isNews;
    if ((this.health.error !== head.known.error || unhealthyInBake) && !head.recovery) head.state = 'Failed';
    else if (head.state === 'Deploying' && isHealthy) {
      head.state = 'InProgress';
      head.baking = now;
    }
    if (head.state === 'InProgress' && isHealthy && now >= head.baking! + BAKE_S) head.state = 'Succeeded';
  }

  private deploy(now: number): boolean {
    const [head] = this.history;
    if (this.force === head?.release) this.force = undefined;
    if (head?.state !== 'Failed') this.unblock = false;
    const asked = this.pin ?? this.force;
    const back = asked === undefined ? this.rollbackTag() : undefined;
    const next = asked ?? back ?? this.candidate();
    if (next === undefined || next === head?.release) return false;
    const mayGo = head ? this.mayFollow(head, now, back !== undefined) : this.gateOpen;
    if (asked === undefined && !mayGo) return false;
    this.history.unshift({
      release: next,
      state: 'Deploying',
      known: this.health,
      recovery: this.recovers(head, asked !== undefined, back !== undefined),
      back: back !== undefined,
    });
    if (head?.state === 'Deploying' || head?.state === 'InProgress') head.state = 'Cancelled';
    this.unblock = false;
    this.rolledBack.delete(next);
    if (head && back !== undefined) this.rolledBack.add(head.release);
    if (this.force === next) this.force = undefined;
    return true;
  }

  private rollbackTag(): number | undefined {
    const [head, ...older] = this.history;
    if (this.onFailure !== 'Rollback' || head?.state !== 'Failed' || head.back) return undefined;
    return older.find(({ state, release }) => state === 'Succeeded' && release !== head.release)?.release;
  }

  private candidate(): number | undefined {
    for (let release = this.newest; release > (this.history[0]?.release ?? 0); release--) {
      if (!this.rolledBack.has(release)) return release;
    }
    return undefined;
  }

  private holds(head: Entry): boolean {
    return head.state === 'Failed' && (this.onFailure === 'Hold' || (this.onFailure === 'Rollback' && head.back));
  }

  private mayFollow(head: Entry, now: number, back: boolean): boolean {
    // Health of this very second would count as the next version's.
    if (this.health.status === 'Healthy' && this.health.changed === now) return false;
    if (this.health.error === now) return false;
    if (head.state === 'Deploying' || head.state === 'InProgress') return false;
    if (back) return true;
    if (this.holds(head) && !this.unblock) return false;
    // What the failed version has broken only its successor can mend.
    const goesForward = head.state === 'Failed' && !this.holds(head);
    return this.gateOpen && (goesForward || this.health.status !== 'Unhealthy');
  }

  private recovers(head: Entry | undefined, byHand: boolean, back: boolean): boolean {
    if (back) return false;
    if (head?.state === 'Failed' && this.onFailure !== 'Hold' && !byHand && !this.unblock) return false;
    if (head && head.state !== 'Succeeded') return true;
    return byHand && this.health.status === 'Unhealthy';
  }
}
