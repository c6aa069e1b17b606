/** Finds a shorter plan that fails in the same way. */

import type { Outcome } from './findings.ts';
import type { Plan } from './plan.ts';
import { play } from './play.ts';

export interface Shrunk {
  plan: Plan;
  outcome: Outcome;
}

/** Leaves out steps until every one is needed, or `goesOn` returns false. */
export async function shrink(plan: Plan, outcome: Outcome, goesOn: () => boolean): Promise<Shrunk> {
  const kind = kindOf(outcome);
  let best: Shrunk = { plan, outcome };
  const attempt = async (candidate: Plan): Promise<boolean> => {
    const result = await play(candidate).catch(() => undefined);
    if (!result || kindOf(result) !== kind) return false;
    best = { plan: candidate, outcome: result };
    return true;
  };
  if (plan.slowOfThousand > 0) await attempt({ ...best.plan, slowOfThousand: 0 });
  for (const team of plan.teams) {
    if (best.plan.teams.length === 1) break;
    const steps = best.plan.steps.filter((step) => step.team !== team);
    await attempt({ ...best.plan, steps, teams: best.plan.teams.filter((one) => one !== team) });
  }
  for (let size = Math.ceil(best.plan.steps.length / 2); goesOn(); ) {
    let hasShrunk = false;
    for (let from = best.plan.steps.length - size; from > -size && goesOn(); from -= size) {
      const { steps } = best.plan;
      const left = [...steps.slice(0, Math.max(0, from)), ...steps.slice(from + size)];
      if (left.length < steps.length && (await attempt({ ...best.plan, steps: left }))) hasShrunk = true;
    }
    if (size === 1 && !hasShrunk) break;
    if (!hasShrunk || size > best.plan.steps.length) size = Math.max(1, size >> 1);
  }
  return best;
}

/** The first violation, without the names, numbers and times of the run. */
function kindOf({ violations }: Outcome): string | undefined {
  return violations[0] && withoutNumbers(violations[0]);
}

export function withoutNumbers(violation: string): string {
  return violation.replace(/at \d+, by .*?: /, '').replace(/[\d.:TZ-]+|team-\d+/g, '#');
}
