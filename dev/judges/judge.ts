/**
 * Judges all that was stored, in the order in which it was stored, by rules of its own: it shares no code with the product.
 *
 * A write that was under way when a gate closed may still be stored after the closing. Two things show that a write was not:
 * the version it replaced was stored after the closing, for admission looks at the version that is replaced; or the API server
 * received it after it had answered somebody a resourceVersion as new as the closing.
 */
import { isDeepStrictEqual } from 'node:util';
import type { AnyObject } from '../client/send.ts';
import { managedFieldsOf, managedValue, names, type Thing } from '../reference/flux.ts';
import { ApprovalJudge } from './approvals.ts';
import { deploymentsOn } from './arrivals.ts';
import { BakeJudge } from './bakes.ts';
import { BudgetJudge } from './budgets.ts';
import { bypassesOfOthers, DeploymentJudge } from './deployments.ts';
import { type Closing, GateHistory } from './gateHistory.ts';
import { rolloutChecker } from './histories.ts';
import { OpeningJudge } from './openings.ts';
import type { SeenVersion, Write, Writes } from './writes.ts';

const GATES = 'gate.fluxcd.io/gates';
const SELECTED_BY = 'gate.fluxcd.io/selected-by';
const BYPASSED_BY = 'gate.fluxcd.io/bypassed-by';
const BYPASSED_GATES = 'gate.fluxcd.io/bypassed-gates';
const GATE_PREFIX = '/registry/gating.toolkit.fluxcd.io/gates/';
const ROLLOUTGATE_PREFIX = '/registry/kuberik.com/rolloutgates/';
const ROLLOUT_PREFIX = '/registry/kuberik.com/rollouts/';
const FLUX_PREFIX = /^\/registry\/(kustomize|source|helm|image)\.toolkit\.fluxcd\.io\//;

export interface Findings {
  violations: string[];
  /** Stored versions looked at. */
  versions: number;
  /** Of them, those that no answered write has stored: the API server died before it answered. */
  unanswered: number;
  /** Changes of Flux objects behind a gate that had closed while they were under way. */
  underWay: number;
  closings: number;
  deployments: number;
  /** Of deployments that select HealthChecks. */
  outcomes: Record<'Succeeded' | 'Failed', number>;
}

interface Seen {
  object: AnyObject;
  revision: number;
}

interface RolloutSeen {
  check: (version: AnyObject) => string[];
  /** The revision that stored the newest change of its status. */
  statusChanged: number;
  tags: Map<number, string>;
  /** Ids by the message that a person gave with a deployment. */
  asked: Map<string, number>;
}

export class Judge {
  readonly findings: Findings;
  private readonly audit: Writes;
  private readonly seen = new Map<string, Seen>();
  private readonly gates = new Map<string, GateHistory>();
  /** RolloutGates that are not passing, and the revision since which. */
  private readonly notPassing = new Map<string, { rollout: string; since: number }>();
  /** By uid. */
  private readonly rollouts = new Map<string, RolloutSeen>();
  private readonly budgets = new BudgetJudge();
  private readonly approvals = new ApprovalJudge();
  private readonly openings = new OpeningJudge();
  private readonly bakes: BakeJudge;
  private readonly deployments: DeploymentJudge | undefined;
  private readonly clocksAreRight: boolean;

  /**
   * @param freshSince for the time of a decision: whatever was stored before the answer was in the caches by then
   * @param rules.decidedMs how long before it is stored a deployment may have been decided; without it none is compared with the reference
   * @param rules.clocksAreRight else what compares times is left out: closings, openings, bakes, slots and the reference
   */
  constructor(
    audit: Writes,
    freshSince: (ms: number) => number,
    { decidedMs, clocksAreRight = true }: { decidedMs?: number; clocksAreRight?: boolean } = {},
  ) {
    this.audit = audit;
    this.clocksAreRight = clocksAreRight;
    this.deployments = decidedMs === undefined ? undefined : new DeploymentJudge(decidedMs);
    this.bakes = new BakeJudge(freshSince);
    this.findings = {
      violations: [],
      versions: 0,
      unanswered: 0,
      underWay: 0,
      closings: 0,
      deployments: 0,
      outcomes: this.bakes.outcomes,
    };
  }

  /** The next stored version. */
  take({ key, revision, object, seenMs }: SeenVersion): void {
    const before = this.seen.get(key);
    this.findings.versions++;
    const writer = object ? this.audit.writerOf(key, revision) : this.remover(key, revision);
    if (!writer) this.findings.unanswered++;
    if (key.startsWith(GATE_PREFIX)) this.takeGate(key, object, revision, writer, seenMs);
    else if (this.budgets.isBudget(key)) this.accuseAll(key, revision, writer, this.budgets.takeBudget(key, object));
    else if (this.bakes.isHealthCheck(key)) this.bakes.takeHealth(key, object, seenMs);
    else if (FLUX_PREFIX.test(key)) this.takeFlux({ key, before, object, revision, writer }, seenMs);
    else if (key.startsWith(ROLLOUTGATE_PREFIX)) this.takeRolloutGate(key, object, revision, writer);
    else if (key.startsWith(ROLLOUT_PREFIX) && object) this.takeRollout(key, before, object, revision);
    const unlike = this.deployments?.take(key, object, seenMs) ?? [];
    if (this.clocksAreRight) this.accuseAll(key, revision, writer, unlike);
    if (object) this.seen.set(key, { object, revision });
    else this.seen.delete(key);
  }

  private takeGate(
    key: string,
    gate: AnyObject | undefined,
    revision: number,
    writer: Write | undefined,
    seenMs: number,
  ): void {
    const name = key.slice(GATE_PREFIX.length);
    this.accuseAll(key, revision, writer, this.approvals.take(name, gate, writer));
    const history = this.gateHistory(name);
    const wasClosed = history.isClosedByWrite();
    history.take(gate, revision, Math.min(seenMs, writer?.answeredMs ?? seenMs));
    if (!wasClosed && history.isClosedByWrite()) this.findings.closings++;
  }

  private takeRolloutGate(key: string, gate: AnyObject | undefined, revision: number, writer: Write | undefined): void {
    this.accuseAll(key, revision, writer, this.approvals.take(key, gate, writer));
    if (gate?.spec.passing !== false) this.notPassing.delete(key);
    else if (!this.notPassing.has(key)) {
      const rollout = `${gate.metadata.namespace}/${gate.spec.rolloutRef.name}`;
      this.notPassing.set(key, { rollout, since: revision });
    }
  }

  private takeFlux(change: FluxChange, seenMs: number): void {
    const { key, before, object, revision, writer } = change;
    this.bakes.takeFlux(key, object, seenMs);
    if (object) {
      const change = { before: before?.object, object, writer };
      const early = this.openings.take(key, change, seenMs, this.audit.of(key));
      if (this.clocksAreRight) this.accuseAll(key, revision, writer, early);
    }
    const wrong = whatIsWrong(change);
    const required = before ? requiredGates(before.object) : namedGates(object);
    const lost = before && object ? required.filter((gate) => !requiredGates(object).includes(gate)) : [];
    for (const gate of required) {
      const what = wrong ?? (lost.includes(gate) ? 'takes the gate off' : undefined);
      if (what === undefined || isBypass(change) || !this.clocksAreRight) continue;
      const closing = this.closingOf(gate, writer);
      if (!closing) continue;
      if (this.wasUnderWay(key, writer, before?.revision ?? 0, closing)) this.findings.underWay++;
      else this.accuse(key, revision, writer, `${what} behind gate ${gate}, closed ${closingText(closing)}`);
    }
    if (object) this.checkManagedFields(key, object, revision, writer);
  }

  private closingOf(gate: string, writer: Write | undefined): Closing | undefined {
    const history = this.gateHistory(gate);
    const closing = history.closedAt(writer?.receivedMs ?? 0);
    return closing && history.closedAt(writer?.answeredMs ?? 0) && closing;
  }

  private wasUnderWay(key: string, writer: Write | undefined, replaced: number, closing: Closing): boolean {
    if ('ms' in closing) return writer === undefined;
    if (replaced > closing.revision) return false;
    const shown = this.audit.shownAt(closing.revision);
    if (writer) return writer.receivedAt < shown;
    return this.audit.unanswered(key).some((at) => at < shown);
  }

  private takeRollout(key: string, before: Seen | undefined, object: AnyObject, revision: number): void {
    const rollout = this.rolloutSeen(object);
    const writer = this.audit.writerOf(key, revision);
    this.accuseAll(key, revision, writer, rollout.check(object));
    this.accuseAll(key, revision, writer, bypassesOfOthers(before?.object, object, this.audit.of(key)));
    const timed = [
      ...this.budgets.takeRollout(before?.object, object),
      ...this.bakes.takeRollout(before?.object, object),
    ];
    if (this.clocksAreRight) this.accuseAll(key, revision, writer, timed);
    const head = object.status?.history?.[0];
    const isNew = head && !rollout.tags.has(head.id);
    if (isNew && before) this.checkHead(key, before.object, object, rollout.statusChanged, revision);
    for (const { id, version, message } of object.status?.history ?? []) {
      const tag = rollout.tags.get(id);
      if (tag === undefined) this.findings.deployments++;
      else if (tag !== version.tag)
        this.accuse(key, revision, writer, `deployment ${id} was ${tag}, is ${version.tag}`);
      rollout.tags.set(id, version.tag);
      if (!/^request \d+$/.test(message ?? '')) continue;
      const other = rollout.asked.get(message) ?? id;
      if (other !== id) this.accuse(key, revision, writer, `'${message}' made the deployments ${other} and ${id}`);
      rollout.asked.set(message, id);
    }
    if (before?.object.status?.revision !== object.status?.revision) rollout.statusChanged = revision;
  }

  /** A deployment is decided by a hook and stored later. What its decision knew: the status before it, and its own time. */
  private checkHead(key: string, before: AnyObject, after: AnyObject, statusChanged: number, revision: number): void {
    const [head] = after.status.history;
    const decided = Date.parse(head.timestamp);
    const rollout = `${after.metadata.namespace}/${after.metadata.name}`;
    // A rollback needs no approval of a RolloutGate.
    const asking = head.rolledBackFrom === undefined ? this.approvals.rolloutGatesOf(rollout) : [];
    const required = [...requiredBy(before, head), ...asking];
    for (const what of this.approvals.missing(required, rollout, head.version.tag)) {
      const writer = this.audit.writerOf(key, revision);
      this.accuse(key, revision, writer, `deploys ${head.version.tag} (${head.id}) with ${what}`);
    }
    for (const [gateKey, closing] of this.clocksAreRight ? this.inTheWay(before, head) : []) {
      const closedMs = 'ms' in closing ? closing.ms : this.audit.writerOf(gateKey, closing.revision)?.answeredMs;
      const isLate = 'revision' in closing && statusChanged > closing.revision;
      // Stored times have whole seconds.
      const isLater = closedMs !== undefined && decided > closedMs;
      if (!isLate && !isLater) continue;
      const gate = gateKey.slice('/registry/'.length);
      const what = `deploys ${head.version.tag} (${head.id}) behind ${gate}, closed ${closingText(closing)}`;
      this.accuse(key, revision, this.audit.writerOf(key, revision), what);
    }
  }

  /** Keys of what holds the deployment at that time: Gates hold all, RolloutGates automatic ones. */
  private inTheWay(
    { metadata, spec }: Pick<AnyObject, 'metadata' | 'spec'>,
    head: AnyObject,
  ): [key: string, Closing][] {
    const gates = requiredBy({ metadata, spec }, head)
      .filter((name) => !this.approvals.asks(name))
      .flatMap((name): [string, Closing][] => {
        const closing = this.gateHistory(name).closedAt(Date.parse(head.timestamp));
        return closing ? [[`${GATE_PREFIX}${name}`, closing]] : [];
      });
    const isHeldByRolloutGates = head.message === 'Automatic deployment';
    const rolloutGates = [...this.notPassing]
      .filter(([, { rollout }]) => isHeldByRolloutGates && rollout === `${metadata.namespace}/${metadata.name}`)
      .map(([key, { since }]): [string, Closing] => [key, { revision: since }]);
    return [...gates, ...rolloutGates];
  }

  /** What the object says it carries is what was deployed, and what it carries. */
  private checkManagedFields(key: string, object: AnyObject, revision: number, writer: Write | undefined): void {
    for (const { text, rollout, uid, id, version } of deploymentsOn(object)) {
      const tag = this.rollouts.get(uid)?.tags.get(id);
      if (tag !== version) this.accuse(key, revision, writer, `says ${text}, and that deployment is ${tag}`);
      for (const [field, owner] of managedFieldsOf(object as Thing)) {
        const value = managedValue(object as Thing, field);
        if (owner === rollout && value !== version)
          this.accuse(key, revision, writer, `says ${text}, and carries ${value}`);
      }
    }
  }

  private accuseAll(key: string, revision: number, writer: Write | undefined, problems: readonly string[]): void {
    for (const problem of problems) this.accuse(key, revision, writer, problem);
  }

  private accuse(key: string, revision: number, writer: Write | undefined, what: string): void {
    const who = writer ? `${writer.user} (${writer.verb})` : 'a writer whom the API server did not answer';
    this.findings.violations.push(`${key.slice('/registry/'.length)} at ${revision}, by ${who}: ${what}`);
  }

  private gateHistory(name: string): GateHistory {
    const history = this.gates.get(name) ?? new GateHistory();
    this.gates.set(name, history);
    return history;
  }

  private rolloutSeen({ metadata }: AnyObject): RolloutSeen {
    const uid = metadata.uid ?? '';
    const seen = this.rollouts.get(uid) ?? {
      check: rolloutChecker(),
      statusChanged: 0,
      tags: new Map(),
      asked: new Map(),
    };
    this.rollouts.set(uid, seen);
    return seen;
  }

  /** A deletion answers no revision: of the deletions of this object, the one nearest to where its revision shows. */
  private remover(key: string, revision: number): Write | undefined {
    const place = this.audit.shownAt(revision);
    const distance = ({ answeredAt }: Write) => Math.abs(answeredAt - place);
    const deletions = this.audit.of(key).filter(({ verb }) => verb === 'delete');
    return deletions.sort((a, b) => distance(a) - distance(b))[0];
  }
}

interface FluxChange {
  key: string;
  before: Seen | undefined;
  object: AnyObject | undefined;
  revision: number;
  writer: Write | undefined;
}

/** What no closed gate lets happen. */
function whatIsWrong({ before, object }: FluxChange): string | undefined {
  if (!object) return 'is deleted';
  if (!before) return object.spec?.suspend === true ? undefined : 'is created running';
  const { suspend: was, ...old } = before.object.spec ?? {};
  const { suspend: is, ...spec } = object.spec ?? {};
  if (!isDeepStrictEqual(old, spec)) return `changes from ${JSON.stringify(old)} to ${JSON.stringify(spec)}`;
  return was === true && is !== true ? 'is resumed' : undefined;
}

/** The audit log says so, or the object does, whose record only the webhook writes. */
function isBypass({ before, object, writer }: FluxChange): boolean {
  const record = before?.object.metadata.annotations?.[BYPASSED_BY];
  if (writer?.bypass !== undefined) return true;
  return object ? object.metadata.annotations?.[BYPASSED_BY] !== record : record !== undefined;
}

/** `<version> (<id>): ns/a@<closing>,…`: the Gates that this deployment was let past. */
function letPast(text: string | undefined, { id, version }: AnyObject): string[] {
  const [, tag, of, gates = ''] = /^(\S+) \((\d+)\): (.*)$/.exec(text ?? '') ?? [];
  return tag === version.tag && Number(of) === id ? gates.split(',').map((gate) => gate.split('@')[0]!) : [];
}

/** The Gates that a Rollout names and this deployment was not let past. */
function requiredBy({ metadata, spec }: Pick<AnyObject, 'metadata' | 'spec'>, head: AnyObject): string[] {
  const bypassed = letPast(metadata.annotations?.[BYPASSED_GATES], head);
  const named = (spec.gates ?? []).map((gate: any) => `${gate.namespace ?? metadata.namespace}/${gate.name}`);
  return named.filter((name: string) => !bypassed.includes(name));
}

function namedGates(object: AnyObject | undefined): string[] {
  return refs(object, GATES);
}

/** A Gate that selects holds what a decorator has annotated. */
function requiredGates(object: AnyObject): string[] {
  return [...new Set([...refs(object, GATES), ...refs(object, SELECTED_BY)])];
}

function refs(object: AnyObject | undefined, annotation: string): string[] {
  return names(object?.metadata.annotations?.[annotation], object?.metadata.namespace ?? '');
}

const closingText = (closing: Closing) =>
  'ms' in closing ? `at ${new Date(closing.ms).toISOString()}` : `at ${closing.revision}`;
