/**
 * Checks approvals: each is written by its own user, and no deployment lacks the approvals that its Gates and
 * RolloutGates require. An approval that another user recorded doesn't count.
 */
import type { AnyObject } from '../client/send.ts';
import type { Write } from './writes.ts';

const RECORDS = { Gate: 'gate.fluxcd.io/approvals', RolloutGate: 'rollout.kuberik.com/approvals' };

interface Approval {
  version: string;
  /** The Rollout that the approval is for; only approvals of a Gate name one. */
  rollout?: string;
  by: string;
  at: string;
}

interface Rule {
  /** The number of users who must approve a version. */
  required: number;
  rollout: string | undefined;
}

export class ApprovalChecker {
  /** By the `name` that `take` gets. */
  private readonly rules = new Map<string, Rule>();
  private readonly known = new Map<string, Set<string>>();
  /** Users that have ever approved a version, by `<gate> <rollout>:<version>`. */
  private readonly approvers = new Map<string, Set<string>>();

  requiresApprovals(gate: string): boolean {
    return this.rules.has(gate);
  }

  /**
   * Violations in the next stored version of a Gate, named `namespace/name`, or of a RolloutGate, named by its key.
   * Without a writer (the API server never answered) the user is unknown, and every approval counts. Without the
   * webhook, too.
   */
  take(name: string, gate: AnyObject | undefined, writer: Write | undefined): string[] {
    const needs = gate?.spec.approvals?.required;
    const rollout = rolloutOf(gate);
    if (needs === undefined) this.rules.delete(name);
    else this.rules.set(name, { required: needs, rollout });
    const known = this.known.get(name) ?? new Set();
    const given = recordOf(gate);
    const fresh = given.filter((each) => !known.has(JSON.stringify(each)));
    this.known.set(name, new Set(given.map((each) => JSON.stringify(each))));
    const isForged = ({ by }: Approval) => writer !== undefined && !writer.isUngoverned && writer.user !== by;
    for (const approval of fresh.filter((each) => !isForged(each))) {
      const key = `${name} ${approval.rollout ?? rollout}:${approval.version}`;
      this.approvers.set(key, (this.approvers.get(key) ?? new Set()).add(approval.by));
    }
    return fresh
      .filter(isForged)
      .map(({ version, by }) => `records an approval of ${version} by ${by}, who didn’t write it`);
  }

  /** The RolloutGates of a Rollout that require approvals. */
  rolloutGatesOf(rollout: string): string[] {
    return [...this.rules].filter(([, rule]) => rule.rollout === rollout).map(([name]) => name);
  }

  /** The approvals that a deployment lacks, one sentence for each Gate or RolloutGate. */
  missing(gates: readonly string[], rollout: string, version: string): string[] {
    return gates.flatMap((gate) => {
      const required = this.rules.get(gate)?.required ?? 0;
      const count = this.approvers.get(`${gate} ${rollout}:${version}`)?.size ?? 0;
      return count < required ? [`${count} of ${required} approvals of gate ${gate}`] : [];
    });
  }
}

const rolloutOf = (gate: AnyObject | undefined): string | undefined =>
  gate?.spec.rolloutRef && `${gate.metadata.namespace}/${gate.spec.rolloutRef.name}`;

function recordOf(gate: AnyObject | undefined): Approval[] {
  const record = rolloutOf(gate) === undefined ? RECORDS.Gate : RECORDS.RolloutGate;
  return JSON.parse(gate?.metadata.annotations?.[record] ?? '{"given":[]}').given;
}
