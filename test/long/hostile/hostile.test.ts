/**
 * Inputs that are made to be expensive: the processor time of the decision, in parses of the same input as JSON, and
 * the peak of memory, in its bytes. Each is measured in a process of its own; one that is above is measured again, for
 * a machine may be busy.
 */
import { describe, expect, it } from 'vitest';
import { INPUTS } from './inputs.ts';
import { BUDGET, type Cost, costOf } from './measure.ts';

const TRIES = 3;

/** The effect of an input before it was bounded. */
const SEEN: Record<string, string> = {
  'a pattern with 40 alternations': 'C1',
  'a pattern with 18 optional alternations': 'C1',
  '500 changed variables beside 200 kB of last-applied': 'C2',
  '2,000 changed variables beside 200 kB of last-applied': 'C2',
  '60 managed fields, gates open, beside 200 kB of last-applied': 'C2',
  'values 1,000 deep with 50,000 keys at the bottom': 'C2',
  'values 2,000 deep': 'C2',
  '200 selecting Gates and one more that is closed': 'H1',
  'a sync of a Gate with a selector of 9,000 values, among 5,000 objects': 'H1',
  '64 windows that change nothing: sync of the Gate': 'H2',
  '64 windows that change nothing: write of the Gate': 'H2',
  '64 windows that change nothing: write of an object that requires it': 'H2',
  'closed until the end of time': 'H3',
  'times too long for 64 bits of nanoseconds': 'H4',
  '200 gates before, 200 others after, and 60 Rollouts': 'M2',
  'an inventory of 5,000 objects': 'M2',
  'a revision of 1.4 MB': 'M6',
  '10,000 respelt durations': 'K1',
  '1,000 Rollouts that offer 20 digests of one tag each, and every one has failed somewhere': 'B1',
  '1,000 Rollouts that offer 20 digests of one tag each, and have deployed it without one': 'B1',
  '200 RolloutGates with 64 approvals each, 1,000 candidates': 'A1',
  '10,000 RolloutGates with an approval each, 1,000 candidates': 'A1',
  '40 RolloutGates with 64 approvals of one version, asked for in 250 kB of words': 'A2',
  'a RolloutGate with 64 of the longest approvals: sync': 'A2',
};

async function costAtBest(name: string): Promise<Cost> {
  for (let attempt = 1; ; attempt++) {
    const cost = await costOf(name, INPUTS[name]!());
    if (cost.problems.length === 0 || attempt === TRIES) return cost;
  }
}

it('every input that was once harmful is included', () => {
  expect(Object.keys(SEEN).filter((name) => !INPUTS[name])).toEqual([]);
});

describe(`takes at most ${BUDGET.time} times the processor time of parsing it, and ${BUDGET.memory} times its size`, () => {
  const names = Object.keys(INPUTS).map((name) => [SEEN[name] ? `[${SEEN[name]}] ${name}` : name, name] as const);
  it.each(names)('%s', async (_, name) => {
    expect((await costAtBest(name)).problems).toEqual([]);
  });
});
