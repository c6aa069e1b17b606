/**
 * The rules of a Rollout with a bake, one HealthCheck, one RolloutGate and one Gate, written a second time and as plainly
 * as possible from docs/rollouts.md and docs/gates.md. It shares no code with what it judges and knows no
 * time: the day reports health only where a deployment waits for it, and chooses whether a bake is short or endless.
 */
export type State = 'Deploying' | 'InProgress' | 'Succeeded' | 'Failed' | 'Cancelled';

export interface Deployment {
  id: number;
  /** `7` for version 1.7.0. */
  release: number;
  state: State;
  message: string;
  /** It took the place of this one, which had failed. */
  backFrom?: number;
}

export type OnFailure = 'Hold' | 'Continue' | 'Rollback';

export class Model {
  /** Newest first. */
  readonly history: Deployment[] = [];
  /** Releases 1 to this one are published. */
  newest = 0;
  retries = 0;
  /** Since the deployment, or the retry, that stands now. */
  health: 'Pending' | 'Healthy' | 'Unhealthy' = 'Pending';
  gateOpen = true;
  freezeOpen = true;
  pin: number | undefined;
  shortBake = true;
  private recovery = false;
  private force: number | undefined;
  private bypass: number | undefined;
  private unblock = false;
  private message: string | undefined;
  private readonly rolledBack = new Set<number>();
  private readonly onFailure: OnFailure;

  constructor(onFailure: OnFailure) {
    this.onFailure = onFailure;
  }

  get head(): Deployment | undefined {
    return this.history[0];
  }

  get baking(): boolean {
    return this.head?.state === 'Deploying' || this.head?.state === 'InProgress';
  }

  get rollbacks(): number {
    return this.history.filter(({ backFrom }) => backFrom !== undefined).length;
  }

  /** Failed versions whose successor came by itself. */
  get forwards(): number {
    const isPassed = ({ message }: Deployment, i: number) =>
      message.startsWith('Automatic deployment') &&
      !message.includes('unblock') &&
      this.history[i + 1]?.state === 'Failed';
    return this.history.filter(isPassed).length;
  }

  /** Names of the one-shot annotations that are still there. */
  get open(): string[] {
    return [
      ...(this.bypass === undefined ? [] : ['bypass-gates']),
      ...(this.force === undefined ? [] : ['force-deploy']),
      ...(this.message === undefined ? [] : ['deploy-message']),
      ...(this.unblock ? ['unblock-failed'] : []),
    ];
  }

  publish(): void {
    this.newest++;
    this.settle();
  }

  report(health: 'Healthy' | 'Unhealthy'): void {
    this.health = health;
    if (health === 'Unhealthy' && this.baking && !this.recovery) this.head!.state = 'Failed';
    this.settle();
  }

  change(what: Partial<Pick<Model, 'gateOpen' | 'freezeOpen' | 'shortBake'>>): void {
    Object.assign(this, what);
    this.settle();
  }

  /** A newer word replaces an older one. */
  wish(pin: number | undefined, message: string): void {
    if (pin !== undefined && pin !== this.pin) this.force = undefined;
    this.pin = pin;
    this.message = message;
    this.settle();
  }

  ask(what: { force?: number; message?: string; bypass?: number; unblock?: true }): void {
    this.force = what.force ?? this.force;
    this.message = what.message ?? this.message;
    this.bypass = what.bypass ?? this.bypass;
    this.unblock = what.unblock ?? this.unblock;
    this.settle();
  }

  retry(): void {
    if (this.head?.state === 'Failed') {
      this.head.state = 'Deploying';
      this.health = 'Pending';
      this.retries++;
    }
    this.settle();
  }

  private settle(): void {
    do {
      this.bake();
      this.forget();
    } while (this.deploy());
  }

  private bake(): void {
    if (this.head?.state === 'Deploying' && this.health === 'Healthy') this.head.state = 'InProgress';
    if (this.head?.state === 'InProgress' && this.shortBake && this.health === 'Healthy') this.head.state = 'Succeeded';
  }

  /** What asks for what is so already is done. */
  private forget(): void {
    if (!this.head) return;
    if (this.force === this.head.release) this.force = undefined;
    if (this.bypass === this.head.release) this.bypass = undefined;
    if (this.head.state !== 'Failed') this.unblock = false;
  }

  private deploy(): boolean {
    const wanted = this.pin ?? this.force;
    const byHand = wanted !== undefined;
    const back = byHand ? undefined : this.wayBack();
    const bypassed = this.bypass !== undefined && this.isCandidate(this.bypass) ? this.bypass : undefined;
    const next = wanted ?? back ?? bypassed ?? this.candidate();
    const isDue = next !== undefined && next !== this.head?.release;
    if (!isDue || !this.freezeOpen || !(byHand || back !== undefined || this.mayFollow(bypassed !== undefined))) {
      if (this.force === undefined && !(byHand && isDue)) this.message = undefined;
      return false;
    }
    if (back !== undefined) this.goBack(back);
    else this.begin(next, byHand, bypassed === next);
    return true;
  }

  /** What succeeded last, once a version has failed that did not come back itself. */
  private wayBack(): number | undefined {
    const [failed, ...older] = this.history;
    if (this.onFailure !== 'Rollback' || failed?.state !== 'Failed' || failed.backFrom !== undefined) return undefined;
    return older.find(({ state, release }) => state === 'Succeeded' && release !== failed.release)?.release;
  }

  private isCandidate(release: number): boolean {
    return release <= this.newest && release > (this.head?.release ?? 0) && !this.rolledBack.has(release);
  }

  private candidate(): number | undefined {
    for (let release = this.newest; release > 0; release--) if (this.isCandidate(release)) return release;
    return undefined;
  }

  /** Whether the failure of the head stops automation. */
  private get holds(): boolean {
    if (this.head?.state !== 'Failed') return false;
    return this.onFailure === 'Hold' || (this.onFailure === 'Rollback' && this.head.backFrom !== undefined);
  }

  /** The first deployment waits for no health. */
  private mayFollow(bypassed: boolean): boolean {
    if (!this.head) return this.gateOpen || bypassed;
    if (this.baking || (this.holds && !this.unblock)) return false;
    // What the failed version has broken only its successor can mend.
    const goesForward = this.head.state === 'Failed' && !this.holds;
    return (this.gateOpen || bypassed) && (goesForward || this.health !== 'Unhealthy');
  }

  private goBack(release: number): void {
    const { id, release: from } = this.head!;
    this.recovery = false;
    const message = `Automatic rollback from 1.${from}.0`;
    this.history.unshift({ id: id + 1, release, state: 'Deploying', message, backFrom: from });
    this.health = 'Pending';
    this.rolledBack.delete(release);
    this.rolledBack.add(from);
    this.message = undefined;
    this.bypass = undefined;
    this.unblock = false;
  }

  private begin(release: number, byHand: boolean, bypassed: boolean): void {
    const before = this.head;
    const unblocked = this.unblock && before?.state === 'Failed';
    this.recovery = this.isRecovery(before, byHand, unblocked);
    const how = [
      byHand ? 'Manual deployment' : 'Automatic deployment',
      ...(byHand && this.force === release ? ['with force deploy'] : []),
      ...(bypassed ? ['with gate bypass'] : []),
      ...(unblocked ? ['with failed bake unblock'] : []),
    ].join(', ');
    if (before && this.baking) {
      before.state = 'Cancelled';
      before.message = `Deployment cancelled due to new deployment of version 1.${release}.0`;
    }
    // What was given with a force-deploy that goes on waiting stays with it.
    const isOfAnother = this.force !== undefined && this.force !== release;
    const message = (byHand && !isOfAnother && this.message) || how;
    this.history.unshift({ id: (before?.id ?? 0) + 1, release, state: 'Deploying', message });
    this.rolledBack.delete(release);
    this.health = 'Pending';
    if (!isOfAnother) this.message = undefined;
    this.bypass = undefined;
    this.unblock = false;
    if (this.force === release) this.force = undefined;
  }

  private isRecovery(before: Deployment | undefined, byHand: boolean, unblocked: boolean): boolean {
    if (before?.state === 'Failed' && this.onFailure !== 'Hold' && !byHand && !unblocked) return false;
    if (before && before.state !== 'Succeeded') return true;
    return byHand && this.health === 'Unhealthy';
  }
}
