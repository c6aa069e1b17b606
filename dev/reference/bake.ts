/**
 * docs/rollouts.md "Bake" and docs/healthchecks.md, read aloud: what becomes of the newest deployment. It knows what reporters have
 * reported, and in which order, but none of the times that they write: those are of no account.
 */

/** As it is now. A HealthCheck of class job that reports of another deployment's Job says nothing. */
export interface NaiveCheck {
  name: string;
  class: 'kustomization' | 'job' | 'prometheus' | undefined;
  status: 'Healthy' | 'Unhealthy' | 'Pending' | undefined;
  /** How often anything has been reported, by whatever object of this name. */
  reports: number;
  /** How many errors; and which of them its `lastErrorTime` is of. */
  errors: number;
  error: number | undefined;
}

export interface BakeSettings {
  /** It has bakeTime, deployTimeout or healthCheckSelector. */
  bakes: boolean;
  bakeSeconds: number;
  timeoutSeconds: number | undefined;
}

export type BakeStatus = 'Deploying' | 'InProgress' | 'Succeeded' | 'Failed';

type Known = Pick<NaiveCheck, 'reports' | 'errors'>;

export class NaiveBake {
  status: BakeStatus | undefined;
  private readonly settings: BakeSettings;
  private begun = 0;
  private started: number | undefined;
  private arrived = false;
  /** By name: what had been reported when the deployment was made, retried or applied. */
  private known = new Map<string, Known>();

  constructor(settings: BakeSettings) {
    this.settings = settings;
  }

  /** A deployment is made. */
  begin(now: number, checks: readonly NaiveCheck[]): void {
    this.arrived = false;
    this.startOver(now, checks);
  }

  /** The same one begins again: it has been applied already, or has not. */
  retry(now: number, checks: readonly NaiveCheck[]): void {
    this.startOver(now, checks);
  }

  private startOver(now: number, checks: readonly NaiveCheck[]): void {
    this.status = 'Deploying';
    this.begun = now;
    this.started = undefined;
    this.known = new Map(checks.map(({ name, reports, errors }) => [name, { reports, errors }]));
  }

  /** Somebody looks. `applied`: of each bound object, whether Flux has applied it; `now` in seconds. */
  look(now: number, checks: readonly NaiveCheck[], applied: readonly boolean[]): void {
    const { bakes, bakeSeconds, timeoutSeconds = Number.POSITIVE_INFINITY } = this.settings;
    if (this.status !== 'Deploying' && this.status !== 'InProgress') return;
    const isApplied = this.arrived || applied.every(Boolean);
    if (isApplied && !this.arrived && applied.length > 0) this.arrive(checks);
    // "Without bake settings … Deploying until every bound object has applied it, and then Succeeded."
    if (!bakes) {
      if (isApplied) this.status = 'Succeeded';
      return;
    }
    if (this.hasFailed(now, checks, isApplied)) {
      this.status = 'Failed';
      return;
    }
    const isHealthy = this.areHealthySince(checks);
    // "A bake starts when every selected HealthCheck is Healthy and has said so since the deployment, its retry and its arrival."
    if (this.started === undefined && isApplied && isHealthy) {
      this.status = 'InProgress';
      this.started = now;
    }
    // "A bake ends as Succeeded only while every selected check is Healthy."
    if (this.started === undefined || now < this.started + bakeSeconds) return;
    if (isHealthy) this.status = 'Succeeded';
    else if (now > this.started + bakeSeconds + timeoutSeconds) this.status = 'Failed';
  }

  private hasFailed(now: number, checks: readonly NaiveCheck[], isApplied: boolean): boolean {
    const { timeoutSeconds = Number.POSITIVE_INFINITY } = this.settings;
    // "The longest time from a deployment, or its retry, to the start of its bake."
    if (this.started === undefined && now > this.begun + timeoutSeconds) return true;
    // "Before the arrival only checks of class kustomization can fail it."
    const heard = isApplied ? checks : checks.filter((check) => check.class === 'kustomization');
    if (heard.some((check) => this.isNewError(check))) return true;
    // "During the bake an Unhealthy check does, even if its reporter sets no lastErrorTime."
    return this.started !== undefined && checks.some(({ status }) => status === 'Unhealthy');
  }

  /** It was selected when the deployment was made, retried or applied. */
  watches({ name }: Pick<NaiveCheck, 'name'>): boolean {
    return this.known.has(name);
  }

  /** docs/healthchecks.md "Reset": one that has not changed since becomes Pending, and loses its lastErrorTime. */
  isReset({ name, reports }: Pick<NaiveCheck, 'name' | 'reports'>): boolean {
    return this.known.get(name)?.reports === reports;
  }

  /** "An error that was known at the commit never counts, a new one always does, however wrong its reporter's clock is." */
  private isNewError({ name, error }: NaiveCheck): boolean {
    return error !== undefined && error > (this.known.get(name)?.errors ?? 0);
  }

  /** One that is "Pending, deleted or no longer selected" is not. */
  private areHealthySince(checks: readonly NaiveCheck[]): boolean {
    const isThere = (name: string) => checks.some((check) => check.name === name);
    return (
      checks.every(({ name, status, reports }) => status === 'Healthy' && reports !== this.known.get(name)?.reports) &&
      [...this.known.keys()].every(isThere)
    );
  }

  /** Until then the version before ran: only class kustomization tells the two apart. */
  private arrive(checks: readonly NaiveCheck[]): void {
    this.arrived = true;
    for (const { name, class: judge, reports, errors } of checks) {
      const before = this.known.get(name)?.errors ?? 0;
      this.known.set(name, { reports, errors: judge === 'kustomization' ? before : errors });
    }
  }
}
