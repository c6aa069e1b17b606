/**
 * Whether approvals were kept: each was written by whose it is, and nothing is deployed past a Gate or RolloutGate that asks for more than it
 * has. An approval that somebody else recorded counts as none.
 */
import type { AnyObject } from '../client/send.ts';
import type { Write } from './writes.ts';

const RECORDS = { Gate: 'gate.fluxcd.io/approvals', RolloutGate: 'rollout.kuberik.com/approvals' };

interface Approval {
  version: string;
  /** Of a Gate; a RolloutGate has only one. */
  rollout?: string;
  by: string;
  at: string;
}

interface Rule {
  /** How many people a version needs. */
  required: number;
  /** Of a RolloutGate. */
  rollout: string | undefined;
}

export class ApprovalJudge {
  /** By Gate or RolloutGate: see `take`. */
  private readonly rules = new Map<string, Rule>();
  private readonly known = new Map<string, Set<string>>();
  /** By Gate, Rollout and version: who has ever approved it. */
  private readonly people = new Map<string, Set<string>>();

  /** Whether requests open it, or approvals let versions past it. */
  asks(gate: string): boolean {
    return this.rules.has(gate);
  }

  /**
   * Sentences about the next stored version of a Gate, `namespace/name`, or of a RolloutGate, by a name that no Gate has. A writer whom nobody
   * answered may have been anybody.
   */
  take(name: string, gate: AnyObject | undefined, writer: Write | undefined): string[] {
    const needs = gate?.spec.approvals?.required;
    const of = rolloutOf(gate);
    if (needs === undefined) this.rules.delete(name);
    else this.rules.set(name, { required: needs, rollout: of });
    const known = this.known.get(name) ?? new Set();
    const given = recordOf(gate);
    const fresh = given.filter((each) => !known.has(JSON.stringify(each)));
    this.known.set(name, new Set(given.map((each) => JSON.stringify(each))));
    const isForged = ({ by }: Approval) => writer !== undefined && writer.user !== by;
    for (const approval of fresh.filter((each) => !isForged(each))) {
      const key = `${name} ${approval.rollout ?? of}:${approval.version}`;
      this.people.set(key, (this.people.get(key) ?? new Set()).add(approval.by));
    }
    return fresh
      .filter(isForged)
      .map(({ version, by }) => `records an approval of ${version} by ${by}, who did not write it`);
  }

  /** The RolloutGates of a Rollout that ask for approvals. */
  rolloutGatesOf(rollout: string): string[] {
    return [...this.rules].filter(([, rule]) => rule.rollout === rollout).map(([name]) => name);
  }

  /** What a deployment lacks of the Gates and RolloutGates that it requires: sentences. */
  missing(gates: readonly string[], rollout: string, version: string): string[] {
    return gates.flatMap((gate) => {
      const required = this.rules.get(gate)?.required ?? 0;
      const count = this.people.get(`${gate} ${rollout}:${version}`)?.size ?? 0;
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
