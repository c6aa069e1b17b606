/**
 * kustomize-controller and helm-controller, as far as health depends on them: attempts, retries, waits for health, and
 * remediation by rollback. They write in the order of kustomize-controller 1.9 and helm-controller 1.6.
 */
import { fakeFlux } from '../../actors/fakeFlux.ts';
import { conditionAt, echo } from '../../actors/fluxStatus.ts';
import { ref } from '../../actors/objects.ts';
import { timestamp } from '../../actors/timestamp.ts';
import type { User } from '../../actors/user.ts';
import type { AnyObject } from '../../client/send.ts';
import type { SimulatedCluster } from '../cluster/simulatedCluster.ts';
import type { Workloads } from './pods.ts';

const SECOND = 1000;
const ROUND_MS = SECOND / 2;
const INTERVAL_MS = 600 * SECOND;
/** More than two Pods need that start slowly, one after the other, and the first of them waits for a node. */
const HELM_TIMEOUT_MS = 420 * SECOND;
const CHART = '1.0.0';
/** More than Helm's, which may be busy with the version before, and than Pods that wait for a node. */
const WAIT_TIMEOUT_MS = 900 * SECOND;

/** The applied objects, by kind. */
const NAMES = { Deployment: 'web', StatefulSet: 'db', DaemonSet: 'agent', HelmRelease: 'chart' };
export type Applied = keyof typeof NAMES;

export interface Installation {
  kinds: readonly Applied[];
  /** Whether the Kustomization has `wait: true`. */
  waits: boolean;
  retryMs: number;
  /** The time between two commits, if the source is a repository of many applications. */
  commitMs: number | undefined;
  /** Whether a new commit ends the wait for health (CancelHealthCheckOnNewRevision). */
  cancels: boolean;
  /** Whether Helm rolls a failed upgrade back. */
  remediates: boolean;
  /** Whether Helm tries again at once, so that Ready is Unknown nearly always. */
  hasRetries: boolean;
}

/** The next attempt: at once if something has changed. */
interface Attempt {
  of: string;
  next: number;
}

type Condition = { type: string; status: string; reason: string; message?: string };
const condition = (type: string, status: string, reason: string, message?: string): Condition => ({
  type,
  status,
  reason,
  ...(message && { message }),
});
const RETRIES = condition('Reconciling', 'True', 'ProgressingWithRetry');

export class FluxControllers {
  readonly #cluster: SimulatedCluster;
  readonly #flux: User;
  readonly #workloads: Workloads;
  readonly #namespace: string;
  readonly #installation: Installation;
  #outageUntil = 0;
  #nextOutageMs = 0;

  constructor(cluster: SimulatedCluster, workloads: Workloads, namespace: string, installation: Installation) {
    this.#cluster = cluster;
    this.#flux = cluster.user('flux');
    this.#workloads = workloads;
    this.#namespace = namespace;
    this.#installation = installation;
  }

  start(): void {
    const attempts = [0, 0].map((next): Attempt => ({ of: '', next }));
    void this.#repeat(() => this.#fetch());
    void this.#repeat(() => this.#reconcile(attempts[0]!));
    void this.#repeat(() => this.#upgrade(attempts[1]!));
  }

  /** Lets applies fail for less than the grace period, from the next attempt on. Failures further apart count. */
  outage(ms: number): void {
    if (this.#now > this.#outageUntil + INTERVAL_MS) this.#nextOutageMs = ms;
  }

  async #repeat(what: () => Promise<unknown>): Promise<never> {
    for (;;) {
      await this.#cluster.time.pause(ROUND_MS);
      // The API server is down or refuses: the next round is the retry.
      await what().catch(() => {});
    }
  }

  get #now(): number {
    return this.#cluster.time.now;
  }

  #stored(resource: string, name = 'app'): AnyObject | undefined {
    return this.#cluster.server.storage.get(resource, `${this.#namespace}/${name}`);
  }

  #source = () =>
    this.#stored(`source.toolkit.fluxcd.io/${this.#installation.commitMs ? 'gitrepositories' : 'ocirepositories'}`);

  async #fetch(): Promise<void> {
    const source = this.#source();
    const { metadata, spec, status } = source ?? ({} as AnyObject);
    const { commitMs } = this.#installation;
    if (source && commitMs !== undefined) {
      const revision = `main@sha1:${Math.floor(this.#now / commitMs)}`;
      if (status?.artifact?.revision === revision) return;
      const artifact = { revision, lastUpdateTime: timestamp(this.#now) };
      await this.#report(source, [condition('Ready', 'True', 'Succeeded')], {
        artifact,
        observedGeneration: metadata.generation,
      });
      return;
    }
    const has = status?.artifact?.revision.startsWith(`${spec.ref?.tag}@`);
    if (spec.ref && (!has || status.observedGeneration !== metadata.generation))
      await fakeFlux({ flux: this.#flux }).fetch(this.#namespace, 'app');
  }

  #isDue(attempt: Attempt, of: string): boolean {
    if (attempt.of === of && this.#now < attempt.next) return false;
    Object.assign(attempt, { of, next: this.#now });
    return true;
  }

  async #reconcile(attempt: Attempt): Promise<void> {
    const seen = this.#stored('kustomize.toolkit.fluxcd.io/kustomizations');
    const revision = this.#source()?.status?.artifact?.revision;
    if (!seen) return;
    const isHandled = seen.status?.lastHandledReconcileAt === echo(seen).lastHandledReconcileAt;
    if (seen.spec.suspend) return isHandled ? undefined : void (await this.#flux.patchStatus(refTo(seen), echo(seen)));
    if (!revision || !this.#isDue(attempt, `${seen.metadata.generation} ${revision}`)) return;
    const began = this.#now;
    attempt.next = Number.POSITIVE_INFINITY;
    try {
      const { reason, ...status } = await this.#apply(seen, revision);
      const isGood = reason === 'ReconciliationSucceeded';
      const isCanceled = reason === 'HealthCheckCanceled';
      const { history: before } = seen.status ?? {};
      const history = isCanceled ? before : upserted(before, revision, reason, began, this.#now);
      const ready = condition('Ready', isGood ? 'True' : 'False', reason);
      await this.#report(seen, [ready, ...(isGood ? [] : [RETRIES])], { ...echo(seen), ...status, history });
      attempt.next = this.#now + (isGood ? INTERVAL_MS : isCanceled ? 0 : this.#installation.retryMs);
    } catch {
      // A refused write of the status ends the attempt, which has handled the request. The next one follows at once.
      attempt.next = this.#now + SECOND;
      await this.#flux.patchStatus(refTo(seen), echo(seen));
    }
  }

  /** The end of an attempt, and the fields of the status that it sets. */
  async #apply(seen: AnyObject, revision: string): Promise<{ reason: string }> {
    const running = (what: string, status: object = {}) => {
      const message = `${what} for revision ${revision} with a timeout of 5m`;
      const reconciling = condition('Reconciling', 'True', 'Progressing', message);
      return this.#report(seen, [condition('Ready', 'Unknown', 'Progressing'), reconciling], status);
    };
    await running('Fetching manifests');
    await this.#cluster.time.pause(SECOND);
    await running('Building manifests', { lastAttemptedRevision: revision });
    if (this.#nextOutageMs > 0) this.#outageUntil = this.#now + this.#nextOutageMs;
    this.#nextOutageMs = 0;
    if (this.#now < this.#outageUntil) return { reason: 'ReconciliationFailed' };
    const version = seen.spec.postBuild?.substitute?.APP_VERSION;
    const wanted = this.#installation.kinds.map((kind) => this.#manifest(kind, version));
    for (const manifest of wanted) await this.#flux.apply(manifest, { manager: 'kustomize-controller', force: true });
    const entries = wanted.map(({ apiVersion, kind, metadata: { name } }) => {
      const [group, v] = apiVersion.split('/');
      return { id: `${this.#namespace}_${name}_${group}_${kind}`, v };
    });
    const inventory = { inventory: { entries } };
    if (this.#installation.waits) await running('Running health checks', inventory);
    const isCanceled = () => this.#installation.cancels && this.#source()?.status?.artifact?.revision !== revision;
    if (this.#installation.waits && !(await this.#isHealthyIn(WAIT_TIMEOUT_MS, wanted, isCanceled)))
      return { reason: isCanceled() ? 'HealthCheckCanceled' : 'HealthCheckFailed', ...inventory };
    const applied = { lastAppliedRevision: revision, observedGeneration: seen.metadata.generation };
    return { reason: 'ReconciliationSucceeded', ...inventory, ...applied };
  }

  async #upgrade(attempt: Attempt): Promise<void> {
    const seen = this.#stored('helm.toolkit.fluxcd.io/helmreleases', NAMES.HelmRelease);
    if (!seen || !this.#isDue(attempt, String(seen.metadata.generation))) return;
    const { generation } = seen.metadata;
    const { version } = seen.spec.values;
    const before: AnyObject[] = seen.status?.history ?? [];
    const last = before.find(({ status }) => String(status) === 'deployed')?.configDigest;
    const action = last ? 'Upgrade' : 'Install';
    const workload = this.#manifest('Deployment', version, NAMES.HelmRelease);
    const helm = { manager: 'helm-controller', force: true };
    const progressing = [condition('Ready', 'Unknown', 'Progressing'), condition('Reconciling', 'True', 'Progressing')];
    const attempted = { lastAttemptedRevision: CHART, lastAttemptedConfigDigest: version };
    await this.#report(seen, progressing, { lastAttemptedGeneration: generation, ...attempted });
    const released = condition('Released', 'False', `${action}Failed`);
    const failure = [{ ...released, type: 'Ready' }, RETRIES, released];
    if (this.#now < this.#outageUntil) {
      attempt.next = this.#now + 5 * SECOND;
      await this.#report(seen, failure, {});
      return;
    }
    const lastDeployed = timestamp(this.#now);
    const release = (status: string, configDigest: string) => ({
      status,
      chartVersion: CHART,
      configDigest,
      lastDeployed,
    });
    await this.#flux.apply(workload, helm);
    if (await this.#isHealthyIn(HELM_TIMEOUT_MS, [workload])) {
      const history = [release('deployed', version)];
      const inventory = { entries: [{ id: `${this.#namespace}_${NAMES.HelmRelease}_apps_Deployment`, v: 'v1' }] };
      const good = ['Ready', 'Released'].map((type) => condition(type, 'True', `${action}Succeeded`));
      await this.#report(seen, good, { history, inventory, observedGeneration: generation }, ['Remediated']);
      attempt.next = this.#now + INTERVAL_MS;
      return;
    }
    attempt.next = this.#now + (this.#installation.hasRetries ? 0 : this.#installation.retryMs);
    const history = [release('failed', version), ...before].slice(0, 5);
    await this.#report(seen, failure, { history });
    if (!this.#installation.remediates || !last) return;
    await this.#flux.apply(this.#manifest('Deployment', last, NAMES.HelmRelease), helm);
    await this.#cluster.time.pause(5 * SECOND);
    const ready = condition('Ready', 'False', 'RollbackSucceeded');
    await this.#report(seen, [ready, { ...ready, type: 'Remediated', status: 'True' }, RETRIES], {
      history: [release('deployed', last), ...history].slice(0, 5),
    });
  }

  /** Writes fields of the status, and conditions with the stored generation. Reconciling ends by itself. */
  async #report(seen: AnyObject, own: Condition[], status: object, ended: string[] = []): Promise<void> {
    const live = await this.#flux.get(refTo(seen));
    const before: AnyObject[] = live.status?.conditions ?? [];
    const stamped = own.map(({ type, status, reason, message = reason }) => {
      const fresh = conditionAt(this.#flux, type, live.metadata.generation, status, reason, message);
      const same = before.find((each) => each.type === type && each.status === status && each.reason === reason);
      return same ? { ...fresh, lastTransitionTime: same.lastTransitionTime } : fresh;
    });
    const gone = new Set([...own.map(({ type }) => type), ...ended, 'Reconciling']);
    const conditions = [...stamped, ...before.filter(({ type }) => !gone.has(type))];
    await this.#flux.patchStatus(refTo(seen), { ...status, conditions });
  }

  async #isHealthyIn(ms: number, wanted: readonly AnyObject[], isCanceled = () => false): Promise<boolean> {
    for (const until = this.#now + ms; this.#now < until; await this.#cluster.time.pause(5 * SECOND)) {
      if (isCanceled()) return false;
      const live = await Promise.all(wanted.map((each) => this.#flux.get(refTo(each))));
      if (live.every((each) => (each.kind === 'HelmRelease' ? isReady(each) : this.#workloads.isComplete(each))))
        return true;
    }
    return false;
  }

  #manifest(kind: Applied, version: string, name = NAMES[kind]): AnyObject {
    if (kind === 'HelmRelease') {
      const spec = { interval: '10m', chart: { spec: { chart: 'app', version: CHART } }, values: { version } };
      return { ...ref('helmRelease', this.#namespace, name), spec } as AnyObject;
    }
    const labels = { app: name, kind };
    const template = { metadata: { labels }, spec: { containers: [{ name: 'app', image: `app:${version}` }] } };
    const spec = { ...(kind !== 'DaemonSet' && { replicas: 2 }), selector: { matchLabels: labels }, template };
    return { apiVersion: 'apps/v1', kind, metadata: { namespace: this.#namespace, name }, spec };
  }
}

const refTo = ({ apiVersion, kind, metadata: { namespace, name } }: AnyObject) =>
  ({ apiVersion, kind, metadata: { namespace, name } }) as ReturnType<typeof ref>;

const isReady = ({ metadata, status }: AnyObject) =>
  status?.observedGeneration === metadata.generation &&
  status.conditions.some(({ type, status }: AnyObject) => type === 'Ready' && String(status) === 'True');

/** `status.history` of Flux 2.7 after an attempt. */
function upserted(history: AnyObject[] = [], revision: string, status: string, began: number, now: number): object[] {
  const isSame = (each: any) => each.digest === revision && each.lastReconciledStatus === status;
  const { firstReconciled = timestamp(now), totalReconciliations = 0 } = (history.find(isSame) ?? {}) as any;
  const entry = {
    digest: revision,
    firstReconciled,
    lastReconciled: timestamp(now),
    lastReconciledDuration: `${(now - began) / 1000}s`,
    lastReconciledStatus: status,
    totalReconciliations: totalReconciliations + 1,
    metadata: { revision },
  };
  return [entry, ...history.filter((each) => !isSame(each))].slice(0, 5);
}
