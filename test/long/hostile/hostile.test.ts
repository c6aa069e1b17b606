/**
 * Inputs that are made to be expensive: the processor time of the decision, in parses of the same input as JSON, and
 * the peak of memory, in its bytes. Each is measured in a process of its own; one that is above is measured again, for
 * a machine may be busy.
 */
import { describe, expect, it } from 'vitest';
import { INPUTS } from './inputs.ts';
import { BUDGET, type Cost, costOf } from './measure.ts';

const TRIES = 3;

async function costAtBest(name: string): Promise<Cost> {
  for (let attempt = 1; ; attempt++) {
    const cost = await costOf(name, INPUTS[name]!());
    if (cost.problems.length === 0 || attempt === TRIES) return cost;
  }
}

describe(`takes at most ${BUDGET.time} times the processor time of parsing it, and ${BUDGET.memory} times its size`, () => {
  it.each(Object.keys(INPUTS))('%s', async (name) => {
    expect((await costAtBest(name)).problems).toEqual([]);
  });
});
