/** A Gate as stored, and beside it what the naive rules make of every write of it. */

import type { Selects } from '../../reference/flux.ts';
import { type GateSpec, NaiveGate, type Request } from '../../reference/gate.ts';
import { type AnyObject, admit, ROUTES } from '../world/apiServer.ts';
import { ask } from '../world/call.ts';
import { expectThat } from '../world/finding.ts';
import type { Ask } from './gateParts.ts';

const OPEN_AT = 'open.gate.fluxcd.io/requestedAt';
const CLOSE_AT = 'close.gate.fluxcd.io/requestedAt';
const FOR = 'open.gate.fluxcd.io/for';

export const rfc3339 = (at: number) => `${new Date(at).toISOString().slice(0, 19)}Z`;

export class ModelledGate {
  stored: AnyObject;
  readonly naive: NaiveGate;
  /** By action: the timestamp that took effect last. */
  private handled: Record<string, number> = {};
  private planned: Request | undefined;

  private constructor(stored: AnyObject, spec: GateSpec) {
    this.stored = stored;
    this.naive = new NaiveGate(spec);
  }

  static async create(
    namespace: string,
    name: string,
    spec: GateSpec,
    selects: Selects | undefined,
  ): Promise<ModelledGate> {
    const object: AnyObject = {
      apiVersion: 'gating.toolkit.fluxcd.io/v1alpha1',
      kind: 'Gate',
      metadata: { namespace, name, uid: `uid-${name}`, generation: 1 },
      spec: { ...spec, ...(selects && { selects }) },
    };
    const outcome = await admit({ user: 'admin', object });
    expectThat(outcome.allowed, 'a Gate cannot be created', { outcome, object });
    return new ModelledGate(outcome.object!, spec);
  }

  get path(): string {
    return `${this.stored.metadata.namespace}/${this.stored.metadata.name}`;
  }

  get selects(): Selects | undefined {
    return this.stored.spec.selects;
  }

  isOpen(now: number, version?: string): boolean {
    return this.naive.isOpen(now, version);
  }

  /** Somebody with the right to patch Gates asks; `strip` is a Git sync that takes the annotations away beforehand. */
  async ask(asks: Ask[], user: string, now: number, strip: boolean): Promise<void> {
    const annotations: Record<string, string> = { ...this.stored.metadata.annotations };
    if (strip) for (const key of [OPEN_AT, CLOSE_AT, FOR]) delete annotations[key];
    const second = Math.floor(now / 1000) * 1000;
    const changed: Request[] = [];
    for (const { action, offset, for: version } of asks) {
      const at = second + offset * 1000;
      const key = action === 'open' ? OPEN_AT : CLOSE_AT;
      if (annotations[key] === rfc3339(at)) continue;
      annotations[key] = rfc3339(at);
      if (action === 'open') {
        if (version === undefined) delete annotations[FOR];
        else annotations[FOR] = version;
      }
      changed.push({ action, at, for: version });
    }
    await this.write({ ...this.stored, metadata: { ...this.stored.metadata, annotations } }, user, now, changed);
  }

  /** As Metacontroller does: the status says what the rules say, and is stored. */
  async sync(now: number): Promise<void> {
    const controller = { apiVersion: '', kind: '', metadata: {} };
    const body = { controller, parent: this.stored, children: {}, related: {}, finalizing: false };
    const answer = await ask(ROUTES.get('/hooks/gate/sync')!, body);
    if (!('body' in answer)) return expectThat(false, 'a sync of a Gate is refused', { answer });
    const { status, resyncAfterSeconds } = answer.body;
    const opened = status.conditions.find(({ type }: { type: string }) => type === 'Opened')?.status === 'True';
    const details = { now: rfc3339(now), gate: this.stored, status };
    expectThat(opened === this.isOpen(now), `the status says that the Gate is ${opened ? 'open' : 'closed'}`, details);
    expectThat(resyncAfterSeconds > 0 && resyncAfterSeconds <= 3600, 'nobody looks again', details);
    this.stored = { ...this.stored, status };
  }

  async respecify(spec: GateSpec, now: number): Promise<void> {
    const selects = this.selects;
    await this.write({ ...this.stored, spec: { ...spec, ...(selects && { selects }) } }, 'admin', now, []);
    this.naive.spec = spec;
  }

  private async write(object: AnyObject, user: string, now: number, asked: Request[]): Promise<void> {
    const old = this.stored;
    const outcome = await admit({ user, object, oldObject: old });
    expectThat(outcome.allowed, 'a Gate cannot be written', { outcome, object });
    this.stored = outcome.object!;
    if (this.planned && this.planned.at <= now) this.took(this.planned);
    const stored = (key: string) => old.metadata.annotations?.[key];
    const fresh = asked.filter(
      ({ action, at }) =>
        stored(action === 'open' ? OPEN_AT : CLOSE_AT) !== rfc3339(at) && !this.wasHandled(action, at),
    );
    this.naive.arrive(fresh, now);
    const { [OPEN_AT]: openAt, [FOR]: version } = object.metadata.annotations ?? {};
    if (fresh.length === 0 && openAt && version && version !== stored(FOR)) {
      this.naive.narrow(version, Date.parse(openAt), this.handled.open, now);
    }
    for (const request of [...fresh].sort((a, b) => a.at - b.at || (a.action === 'close' ? 1 : -1))) {
      if (request.at > now + 60_000) this.planned = request;
      else this.took(request);
    }
  }

  private took({ action, at }: Request): void {
    this.handled[action] = at;
    this.planned = undefined;
  }

  /** "An old timestamp is put back: no new request." Clocks differ by a minute; what is older than that is old. */
  private wasHandled(action: string, at: number): boolean {
    if (this.planned?.action === action && this.planned.at === at) return true;
    const last = this.handled[action];
    return last !== undefined && (at === last || at <= last - 60_000);
  }
}
