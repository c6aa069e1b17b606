/**
 * Checks every stored version, in order, against the rules of docs/. Shares no code with the product.
 *
 * A write that was in flight when a Gate closed may be stored after the closure. A write was not in flight if the
 * version that it replaced was stored after the closure (admission reads that version), or if the API server received
 * it after it had answered any request with a resourceVersion as new as the closure.
 */
import { isDeepStrictEqual } from 'node:util';
import type { AnyObject } from '../client/send.ts';
import { type FluxObject, managedFieldsOf, managedValue } from '../reference/flux.ts';
import { deploymentsOn } from './appliedDeployments.ts';
import { ApprovalChecker } from './approvals.ts';
import { BakeChecker } from './bakes.ts';
import { BudgetChecker } from './budgets.ts';
import { bypassesForOtherVersions, DeploymentChecker } from './deployments.ts';
import { type Closure, GateHistory } from './gateHistory.ts';
import { rolloutChecker } from './histories.ts';
import { METACONTROLLER, OpeningChecker } from './openings.ts';
import { type GateLimits, RequiredGates, TOO_MANY } from './requiredGates.ts';
import type { SeenVersion, Write, Writes } from './writes.ts';

const BYPASSED_BY = 'gate.fluxcd.io/bypassed-by';
/** The users with the verb `bypass`: dev/local/install/users/rbac.yaml. */
const BYPASSERS: (string | undefined)[] = ['admin', 'sre'];
/** Records, which only the webhook writes, with more characters than the limits of their parts allow. */
const RECORDS: Record<string, number> = {
  'gate.fluxcd.io/accepted-request': 4096,
  'gate.fluxcd.io/approvals': 49_152,
  'gate.fluxcd.io/bypassed-by': 4096,
  'rollout.kuberik.com/approvals': 49_152,
  'rollout.kuberik.com/pin': 4096,
  'rollout.kuberik.com/request': 4096,
};
const BYPASSED_GATES = 'gate.fluxcd.io/bypassed-gates';
const GATE_PREFIX = '/registry/gating.toolkit.fluxcd.io/gates/';
const ROLLOUTGATE_PREFIX = '/registry/kuberik.com/rolloutgates/';
const ROLLOUT_PREFIX = '/registry/kuberik.com/rollouts/';
const FLUX_PREFIX = /^\/registry\/(kustomize|source|helm|image)\.toolkit\.fluxcd\.io\//;

export interface Findings {
  violations: string[];
  versions: number;
  /** Versions stored by a write without an answer, since the API server died. */
  unanswered: number;
  /** Changes of Flux objects that were in flight while their Gate closed. */
  inFlight: number;
  closures: number;
  deployments: number;
  /** Outcomes of deployments whose Rollout selects HealthChecks. */
  outcomes: Record<'Succeeded' | 'Failed', number>;
}

interface Seen {
  object: AnyObject;
  revision: number;
}

/** A stored version, the one before it, and its writer. */
interface Change extends SeenVersion {
  before: Seen | undefined;
  writer: Write | undefined;
}

interface RolloutSeen {
  check: (version: AnyObject) => string[];
  /** The revision that stored the newest change of its status. */
  statusChanged: number;
  tags: Map<number, string>;
  /** Deployment ids by the message that a user gave with the request. */
  asked: Map<string, number>;
}

export class Oracle {
  readonly findings: Findings;
  private readonly audit: Writes;
  private readonly seen = new Map<string, Seen>();
  private readonly gates = new Map<string, GateHistory>();
  private readonly required: RequiredGates;
  private readonly limits: GateLimits;
  /** RolloutGates that aren't passing, with the revision since which they aren't. */
  private readonly notPassing = new Map<string, { rollout: string; since: number }>();
  /** By the Rollout's uid. */
  private readonly rollouts = new Map<string, RolloutSeen>();
  private readonly budgets = new BudgetChecker();
  private readonly approvals = new ApprovalChecker();
  private readonly openings = new OpeningChecker();
  private readonly bakes: BakeChecker;
  private readonly deployments: DeploymentChecker | undefined;
  /** Whether the API server has stored a write of a Rollout without calling the webhooks. */
  private lostWebhook = false;
  private readonly clocksAreRight: boolean;
  /** Every `gate.fluxcd.io/bypassed-gates` of a Rollout so far, by namespace: only the webhook writes it. */
  private readonly grants = new Map<string, Set<string>>();

  /**
   * @param freshSince for the time of a decision, the time before which everything stored was in the caches
   * @param rules.decidedMs the longest time between the decision and the storing of a deployment; without it the
   * reference isn't used
   * @param rules.clocksAreRight false leaves out rules that compare times: closures, openings, bakes, slots and the
   * reference
   * @param rules.limits those that the product has
   */
  constructor(
    audit: Writes,
    freshSince: (ms: number) => number,
    {
      decidedMs,
      clocksAreRight = true,
      limits = { requiredGates: 200, selectingGates: 1000 },
    }: { decidedMs?: number; clocksAreRight?: boolean; limits?: GateLimits } = {},
  ) {
    this.audit = audit;
    this.limits = limits;
    this.required = new RequiredGates(limits);
    this.clocksAreRight = clocksAreRight;
    this.deployments = decidedMs === undefined ? undefined : new DeploymentChecker(decidedMs);
    this.bakes = new BakeChecker(freshSince);
    this.findings = {
      violations: [],
      versions: 0,
      unanswered: 0,
      inFlight: 0,
      closures: 0,
      deployments: 0,
      outcomes: this.bakes.outcomes,
    };
  }

  take({ key, revision, object, seenMs }: SeenVersion): void {
    const writer = object ? this.audit.writerOf(key, revision) : this.remover(key, revision);
    const change = { key, before: this.seen.get(key), object, revision, seenMs, writer };
    this.findings.versions++;
    if (!writer) this.findings.unanswered++;
    if (writer?.isUngoverned && key.startsWith(ROLLOUT_PREFIX)) this.lostWebhook = true;
    const who = writer ? `${writer.user} (${writer.verb})` : 'a writer that the API server never answered';
    const where = `${key.slice('/registry/'.length)} at ${revision}, by ${who}`;
    const problems = [
      ...this.check(change),
      ...oversizedRecords(object),
      ...this.timed(this.deployments?.take(key, object, seenMs) ?? []),
    ];
    this.findings.violations.push(...problems.map((what) => `${where}: ${what}`));
    if (object) this.seen.set(key, { object, revision });
    else this.seen.delete(key);
  }

  private check(change: Change): string[] {
    const { key, object, seenMs } = change;
    if (key.startsWith(GATE_PREFIX)) return this.takeGate(change);
    if (this.budgets.isBudget(key)) return this.budgets.takeBudget(key, object);
    if (FLUX_PREFIX.test(key)) return this.takeFlux(change);
    if (key.startsWith(ROLLOUTGATE_PREFIX)) return this.takeRolloutGate(change);
    if (key.startsWith(ROLLOUT_PREFIX) && object) return this.takeRollout({ ...change, object });
    if (this.bakes.isHealthCheck(key)) this.bakes.takeHealth(key, object, seenMs);
    return [];
  }

  /** The violations of rules that compare times, if these can be compared. */
  private timed(problems: string[]): string[] {
    return this.clocksAreRight ? problems : [];
  }

  private takeGate({ key, object: gate, revision, writer, seenMs }: Change): string[] {
    const name = key.slice(GATE_PREFIX.length);
    const history = this.gateHistory(name);
    const wasClosed = history.isClosedByWrite();
    history.take(gate, revision, Math.min(seenMs, writer?.answeredMs ?? seenMs), writer?.isUngoverned);
    if (!wasClosed && history.isClosedByWrite()) this.findings.closures++;
    this.required.takeGate(name, gate, revision, writer?.answeredMs ?? seenMs);
    return this.approvals.take(name, gate, writer);
  }

  private takeRolloutGate({ key, object: gate, revision, writer }: Change): string[] {
    if (gate?.spec.passing !== false) this.notPassing.delete(key);
    else if (!this.notPassing.has(key)) {
      const rollout = `${gate.metadata.namespace}/${gate.spec.rolloutRef.name}`;
      this.notPassing.set(key, { rollout, since: revision });
    }
    return this.approvals.take(key, gate, writer);
  }

  private takeFlux(change: Change): string[] {
    const { key, before, object, writer, seenMs } = change;
    this.bakes.takeFlux(key, object, seenMs);
    this.required.takeFlux(key, object, writer?.answeredMs ?? seenMs);
    const opening = object && { before: before?.object, object, writer };
    const early = opening ? this.openings.take(key, opening, seenMs, this.audit.of(key)) : [];
    // If the Gate opens between two webhook calls of a write, a deployment's bypass has resumed the object in the
    // first.
    const bypassedFirst = before !== undefined && this.isGranted(before.object);
    const isBypassing = object !== undefined && isInState(object, 'bypassing') && this.isGranted(object);
    return [
      ...this.timed(bypassedFirst ? [] : early),
      ...this.timed(isBypass(change) || isBypassing || writer?.isUngoverned ? [] : this.changesWhileClosed(change)),
      ...(this.isLeftRunning(change) ? ['runs though it names too many Gates'] : []),
      ...(object && !writer?.isUngoverned ? this.newlyWrongFields(before?.object, object) : []),
    ];
  }

  /** Whether a write leaves an object running that names too many Gates: a bypass covers one write. */
  private isLeftRunning(change: Change): boolean {
    const { before, object, writer } = change;
    const isRunning = [before?.object, object].every(
      (each) => each?.spec?.suspend !== true && this.required.namesTooMany(each),
    );
    const isWritten = !isDeepStrictEqual(before?.object.metadata.labels, object?.metadata.labels);
    return isRunning && isWritten && !writer?.isUngoverned && !isBypass(change);
  }

  /** Violations: changes of a Flux object that a closed Gate forbids. */
  private changesWhileClosed(change: Change): string[] {
    const { key, before, object, writer } = change;
    const forbidden = forbiddenChange(change);
    const required = this.required.of((before?.object ?? object)!);
    const lost = before && object ? required.filter((gate) => !this.required.of(object).includes(gate)) : [];
    return required.flatMap((gate) => {
      // A write that names fewer Gates ends that limit, and may then change everything.
      if (gate === TOO_MANY && lost.includes(gate)) return [];
      const what = forbidden ?? (lost.includes(gate) ? 'no longer requires the Gate' : undefined);
      const closure = what && this.closureOf(gate, writer);
      if (!closure) return [];
      const selectedAt = this.required.selectedAt((before?.object ?? object)!, gate);
      const causes = [closure, ...(selectedAt === undefined ? [] : [{ revision: selectedAt }])];
      if (!causes.some((cause) => this.wasInFlight(key, writer, before?.revision ?? 0, cause)))
        return [`${what} while Gate ${gate} is closed since ${closureText(closure)}`];
      this.findings.inFlight++;
      return [];
    });
  }

  private closureOf(gate: string, writer: Write | undefined): Closure | undefined {
    const history = this.gateHistory(gate);
    const closure = history.closedAt(writer?.receivedMs ?? 0);
    return closure && history.closedAt(writer?.answeredMs ?? 0) && closure;
  }

  private wasInFlight(key: string, writer: Write | undefined, replaced: number, closure: Closure): boolean {
    if ('ms' in closure) return writer === undefined;
    if (replaced > closure.revision) return false;
    const shown = this.audit.shownAt(closure.revision);
    if (writer) return writer.receivedAt < shown;
    return this.audit.unanswered(key).some((at) => at < shown);
  }

  /** Violations: closed Gates that the Rollout drops, or from which its labels may have taken it. */
  private droppedGates({ key, before, object, writer }: Change & { object: AnyObject }): string[] {
    if (!before || writer?.isUngoverned || writer?.bypass !== undefined) return [];
    const dropped = namedBy(before.object).filter((gate) => !namedBy(object).includes(gate));
    const closed = dropped.filter((gate) => {
      const closure = this.closureOf(gate, writer);
      return closure && !this.wasInFlight(key, writer, before.revision, closure);
    });
    const isRelabelled = !isDeepStrictEqual(before.object.metadata.labels ?? {}, object.metadata.labels ?? {});
    const since = isRelabelled ? this.required.selectTooManySince(object.metadata.namespace) : undefined;
    const mayEscape = since !== undefined && !this.wasInFlight(key, writer, before.revision, { revision: since });
    return [
      ...closed.map((gate) => `drops the closed Gate ${gate}`),
      ...(dropped.length > this.limits.requiredGates ? [`drops ${dropped.length} Gates, more than are read`] : []),
      ...(mayEscape ? ['changes its labels while too many Gates select'] : []),
    ];
  }

  /** Whether a deployment of one of the Flux object's Rollouts may bypass the closed Gates in its state. */
  private isGranted({ metadata }: AnyObject): boolean {
    const [, list] = /^(?:closed|bypassing): (.*)$/.exec(metadata.annotations?.['gate.fluxcd.io/state'] ?? '') ?? [];
    const grants = [...(this.grants.get(metadata.namespace ?? '') ?? [])];
    return list !== undefined && grants.some((grant) => list.split(',').every((gate) => grant.includes(gate)));
  }

  private takeRollout(change: Change & { object: AnyObject }): string[] {
    const { key, before, object, revision } = change;
    const { namespace = '', annotations } = object.metadata;
    const grant = annotations?.[BYPASSED_GATES];
    if (grant !== undefined) this.grants.set(namespace, (this.grants.get(namespace) ?? new Set()).add(grant));
    const rollout = this.rolloutSeen(object);
    const problems = [
      ...this.timed(this.droppedGates(change)),
      ...rollout.check(object),
      ...bypassesForOtherVersions(before?.object, object, this.audit.of(key)),
      ...this.timed([
        ...this.budgets.takeRollout(before?.object, object),
        ...this.bakes.takeRollout(before?.object, object),
      ]),
    ];
    const head = object.status?.history?.[0];
    const isNew = head && !rollout.tags.has(head.id);
    if (isNew && before) problems.push(...this.wrongHead(before.object, object, rollout.statusChanged));
    for (const { id, version, message } of object.status?.history ?? []) {
      const tag = rollout.tags.get(id);
      if (tag === undefined) this.findings.deployments++;
      else if (tag !== version.tag) problems.push(`deployment ${id} was ${tag}, is ${version.tag}`);
      rollout.tags.set(id, version.tag);
      if (!/^request \d+$/.test(message ?? '')) continue;
      const other = rollout.asked.get(message) ?? id;
      if (other !== id) problems.push(`'${message}' created deployments ${other} and ${id}`);
      rollout.asked.set(message, id);
    }
    if (before?.object.status?.revision !== object.status?.revision) rollout.statusChanged = revision;
    return problems;
  }

  /**
   * Checks a new head. A hook decides before the status is stored, and has seen the status before, and Gates at the
   * deployment's own time.
   */
  private wrongHead(before: AnyObject, after: AnyObject, statusChanged: number): string[] {
    const [head] = after.status.history;
    const decided = Date.parse(head.timestamp);
    const rollout = `${after.metadata.namespace}/${after.metadata.name}`;
    const deploys = `deploys ${head.version.tag} (${head.id})`;
    // A rollback needs no approval of a RolloutGate.
    const rolloutGates = head.rolledBackFrom === undefined ? this.approvals.rolloutGatesOf(rollout) : [];
    const required = [...requiredBy(before, head), ...rolloutGates];
    const missing = this.approvals.missing(required, rollout, head.version.tag);
    const closed = this.closedFor(before, head).filter(([key, closure]) => {
      const closedMs = 'ms' in closure ? closure.ms : this.audit.writerOf(key, closure.revision)?.answeredMs;
      const isLate = 'revision' in closure && statusChanged > closure.revision;
      // Stored times have whole seconds.
      return isLate || (closedMs !== undefined && decided > closedMs);
    });
    return [
      ...missing.map((what) => `${deploys} with ${what}`),
      ...this.timed(
        closed.map(([key, closure]) => {
          return `${deploys} while ${key.slice('/registry/'.length)} is closed since ${closureText(closure)}`;
        }),
      ),
    ];
  }

  /** Closed Gates and RolloutGates that block the deployment, by key. RolloutGates block automatic deployments only. */
  private closedFor(
    { metadata, spec }: Pick<AnyObject, 'metadata' | 'spec'>,
    head: AnyObject,
  ): [key: string, Closure][] {
    const bypassed = bypassedGates(metadata.annotations?.[BYPASSED_GATES], head);
    const bound = this.required.ofBound(metadata, Date.parse(head.timestamp));
    const required = [...requiredBy({ metadata, spec }, head), ...bound.filter((name) => !bypassed.includes(name))];
    const gates = [...new Set(required)]
      .filter((name) => !this.approvals.requiresApprovals(name))
      .flatMap((name): [string, Closure][] => {
        const closure = this.gateHistory(name).closedAt(Date.parse(head.timestamp));
        return closure ? [[`${GATE_PREFIX}${name}`, closure]] : [];
      });
    const isBlockedByRolloutGates = head.message === 'Automatic deployment';
    const rolloutGates = [...this.notPassing]
      .filter(([, { rollout }]) => isBlockedByRolloutGates && rollout === `${metadata.namespace}/${metadata.name}`)
      .map(([key, { since }]): [string, Closure] => [key, { revision: since }]);
    return [...gates, ...rolloutGates];
  }

  /** The managed fields that the write made wrong. Without the webhook they may be wrong for a while. */
  private newlyWrongFields(before: AnyObject | undefined, object: AnyObject): string[] {
    const known = before ? this.wrongManagedFields(before) : [];
    return this.wrongManagedFields(object).filter((what) => !known.includes(what));
  }

  /**
   * The objects that run behind Gates closed for `patienceMs`, or don't have the version in their annotation, at a time
   * without faults since then.
   */
  unheldAt(ms: number, patienceMs: number): string[] {
    return [...this.seen]
      .filter(([key]) => FLUX_PREFIX.test(key))
      .flatMap(([key, { object }]) => {
        const closed = this.required.of(object).filter((gate) => {
          const history = this.gateHistory(gate);
          return history.closedAt(ms) !== undefined && history.closedAt(ms - patienceMs) !== undefined;
        });
        const runs = object.spec?.suspend !== true && !isInState(object, 'bypassed') && !isInState(object, 'bypassing');
        const isHeld = closed.length > 0 || object.metadata.annotations?.['gate.fluxcd.io/suspended'] !== undefined;
        const wrong = isHeld ? [] : this.wrongManagedFields(object);
        return [
          ...(closed.length > 0 && runs && !object.metadata.deletionTimestamp
            ? [`runs behind the closed Gate ${closed}`]
            : []),
          ...wrong,
        ].map((what) => `${key.slice('/registry/'.length)} at ${new Date(ms).toISOString()}: ${what}`);
      });
  }

  /** Annotations that name a deployment that doesn't exist, and managed fields without its version. */
  private wrongManagedFields(object: AnyObject): string[] {
    return deploymentsOn(object).flatMap(({ text, rollout, uid, id, version }) => {
      const tag = this.rollouts.get(uid)?.tags.get(id);
      const fields = [...managedFieldsOf(object as FluxObject)]
        .filter(([, owner]) => owner === rollout)
        .map(([field]) => [field, managedValue(object as FluxObject, field)])
        .filter(([, value]) => value !== version);
      return [
        ...(tag === version ? [] : [`has the annotation ${text}, but that deployment is ${tag}`]),
        ...fields.map(([field, value]) => `has the annotation ${text}, but field ${field} is ${value}`),
      ];
    });
  }

  private gateHistory(name: string): GateHistory {
    const history = this.gates.get(name) ?? new GateHistory();
    this.gates.set(name, history);
    return history;
  }

  private rolloutSeen({ metadata }: AnyObject): RolloutSeen {
    const uid = metadata.uid ?? '';
    const seen = this.rollouts.get(uid) ?? {
      check: rolloutChecker(() => !this.lostWebhook),
      statusChanged: 0,
      tags: new Map(),
      asked: new Map(),
    };
    this.rollouts.set(uid, seen);
    return seen;
  }

  /** The deletion of the object nearest to the position of the revision: the answer to a deletion has no revision. */
  private remover(key: string, revision: number): Write | undefined {
    const position = this.audit.shownAt(revision);
    const distance = ({ answeredAt }: Write) => Math.abs(answeredAt - position);
    const deletions = this.audit.of(key).filter(({ verb }) => verb === 'delete');
    return deletions.sort((a, b) => distance(a) - distance(b))[0];
  }
}

/** The change, if a closed Gate forbids it. */
function forbiddenChange({ before, object, writer }: Change): string | undefined {
  if (!object) return 'is deleted';
  if (!before) return object.spec?.suspend === true ? undefined : 'is created without spec.suspend';
  const { suspend: was, ...old } = before.object.spec ?? {};
  const { suspend: is, ...spec } = object.spec ?? {};
  // In the decorator's write that suspends, the spec is stored as another team's webhook has changed it.
  if (writer?.user === METACONTROLLER && was !== true && is === true) return undefined;
  if (!isDeepStrictEqual(old, spec)) return `changes from ${JSON.stringify(old)} to ${JSON.stringify(spec)}`;
  return was === true && is !== true ? 'is resumed' : undefined;
}

function isInState({ metadata }: AnyObject, state: string): boolean {
  return metadata.annotations?.['gate.fluxcd.io/state']?.startsWith(`${state}: `) === true;
}

/**
 * Whether a user with the verb `bypass` bypassed the Gates, by the audit log or by the record that only the webhook
 * writes into the object. The audit log has no bypass of a deletion, nor of a write without an answer.
 */
function isBypass({ before, object, writer }: Change): boolean {
  const record = (object ?? before?.object)?.metadata.annotations?.[BYPASSED_BY];
  const isNew = !object || record !== before?.object.metadata.annotations?.[BYPASSED_BY];
  const recordedBy = isNew ? record?.split(' ')[1] : undefined;
  const by = writer?.bypass === undefined ? recordedBy : writer.user;
  return BYPASSERS.includes(by) && (!writer || by === writer.user);
}

function oversizedRecords(object: AnyObject | undefined): string[] {
  return Object.entries(object?.metadata.annotations ?? {})
    .filter(([key, { length }]) => length > (RECORDS[key] ?? length))
    .map(([key, { length }]) => `${key} has ${length} characters`);
}

/** The Gates that a deployment bypasses, by the annotation `<version> (<id>): ns/a@<closure>,…`. */
function bypassedGates(text: string | undefined, { id, version }: AnyObject): string[] {
  const [, tag, of, gates = ''] = /^(\S+) \((\d+)\) \S+: (.*)$/.exec(text ?? '') ?? [];
  return tag === version.tag && Number(of) === id ? gates.split(',').map((gate) => gate.split('@')[0]!) : [];
}

/** The Gates that a Rollout names and the deployment doesn't bypass. */
function requiredBy({ metadata, spec }: Pick<AnyObject, 'metadata' | 'spec'>, head: AnyObject): string[] {
  const bypassed = bypassedGates(metadata.annotations?.[BYPASSED_GATES], head);
  return namedBy({ metadata, spec }).filter((name) => !bypassed.includes(name));
}

function namedBy({ metadata, spec }: Pick<AnyObject, 'metadata' | 'spec'>): string[] {
  return (spec.gates ?? []).map((gate: any) => `${gate.namespace ?? metadata.namespace}/${gate.name}`);
}

const closureText = (closure: Closure) =>
  'ms' in closure ? new Date(closure.ms).toISOString() : `revision ${closure.revision}`;
