/** Whether approvals were kept: each was written by whose it is, and nothing is deployed behind a Gate that asks for more than it has. */
import type { AnyObject } from '../client/send.ts';
import type { Write } from './writes.ts';

const RECORD = 'gate.fluxcd.io/approvals';

interface Approval {
  version: string;
  rollout?: string;
  by: string;
  at: string;
}

export class ApprovalJudge {
  /** By Gate, how many people a version needs. */
  private readonly required = new Map<string, number>();
  private readonly known = new Map<string, Set<string>>();
  /** By Gate, Rollout and version: who has ever approved it. */
  private readonly people = new Map<string, Set<string>>();

  /** Whether requests open it, or approvals let versions past it. */
  asks(gate: string): boolean {
    return this.required.has(gate);
  }

  /** Sentences about the next stored version of a Gate, `namespace/name`. A writer whom nobody answered may have been anybody. */
  takeGate(name: string, gate: AnyObject | undefined, writer: Write | undefined): string[] {
    const needs = gate?.spec.approvals?.required;
    if (needs === undefined) this.required.delete(name);
    else this.required.set(name, needs);
    const known = this.known.get(name) ?? new Set();
    const given = recordOf(gate);
    const fresh = given.filter((each) => !known.has(JSON.stringify(each)));
    this.known.set(name, new Set(given.map((each) => JSON.stringify(each))));
    for (const { version, rollout, by } of fresh) {
      const key = `${name} ${rollout}:${version}`;
      this.people.set(key, (this.people.get(key) ?? new Set()).add(by));
    }
    return fresh
      .filter(({ by }) => writer && writer.user !== by)
      .map(({ version, by }) => `records an approval of ${version} by ${by}, who did not write it`);
  }

  /** What a deployment lacks of the Gates that it requires: sentences. */
  missing(gates: readonly string[], rollout: string, version: string): string[] {
    return gates.flatMap((gate) => {
      const required = this.required.get(gate) ?? 0;
      const count = this.people.get(`${gate} ${rollout}:${version}`)?.size ?? 0;
      return count < required ? [`${count} of ${required} approvals of gate ${gate}`] : [];
    });
  }
}

function recordOf(gate: AnyObject | undefined): Approval[] {
  return JSON.parse(gate?.metadata.annotations?.[RECORD] ?? '{"given":[]}').given;
}
