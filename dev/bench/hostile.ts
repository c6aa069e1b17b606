/** The cost of deciding hostile inputs, against parsing the same input as JSON. */
import { logToStderr } from '../local/process/log.ts';
import { Problem } from '../local/process/problem.ts';
import { INPUTS } from './hostile/inputs.ts';
import { BUDGET, costOf } from './hostile/measure.ts';
import type { Figure, LocalScenario } from './scenario.ts';

export const hostile: LocalScenario = {
  about: `expensive inputs, each in a process of its own: time at most ${BUDGET.time} times that of parsing it, memory at most ${BUDGET.memory} times its size`,
  numbers: {},
  async measureAlone(only) {
    const chosen = Object.entries(INPUTS).filter(([name]) => name.includes(only));
    if (chosen.length === 0) throw new Problem(`--only ${only} is in the name of no input.`);
    const figures: Figure[] = [];
    for (const [group, make] of chosen) {
      const { bytes, time, first, memory, requests, problems } = await costOf(group, make());
      for (const problem of problems) logToStderr(`${group}: ${problem}`);
      figures.push(
        { group, name: 'size, with what is read', value: bytes / 1000, unit: 'kB' },
        { group, name: 'processor time of the decision', value: time, unit: '× parsing it', limit: BUDGET.time },
        { group, name: 'the first decision', value: first, unit: 'ms' },
        { group, name: 'peak of memory', value: memory, unit: '× its size', limit: BUDGET.memory },
        { group, name: 'reads', value: requests, unit: 'requests' },
        { group, name: 'problems', value: problems.length, unit: '', limit: 0 },
      );
    }
    return figures;
  },
};
