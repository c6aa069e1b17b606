/** What people read of each kind: kinds.yaml has the objects and the sentences. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import type { Explanation } from '../../../client/explain/explanation.ts';
import { explainFluxObject } from '../../../client/explain/kinds/explainFluxObject.ts';
import { explainGate } from '../../../client/explain/kinds/explainGates.ts';
import { explainBudget, explainByConditions, explainHealthCheck } from '../../../client/explain/kinds/explainOthers.ts';

const NOW = Date.parse('2026-03-01T12:00:00Z');

interface Case {
  title: string;
  kind: keyof typeof EXPLAIN;
  object: any;
  gates?: any[];
  rollouts?: any[];
  binding?: any;
  unread?: any[];
  expected: object;
}

const EXPLAIN = {
  Gate: ({ object }: Case) => explainGate(object, NOW),
  Flux: ({ object, binding, gates = [], unread = [] }: Case) =>
    explainFluxObject(object, { binding, gates, unread }, NOW),
  HealthCheck: ({ object, rollouts = [] }: Case) => explainHealthCheck(object, rollouts),
  Budget: ({ object }: Case) => explainBudget(object),
  Other: ({ object }: Case) => explainByConditions(object, 'rolloutschedules'),
};

const CASES = ['kinds.yaml', 'flux.yaml'].flatMap(
  (file) => parse(readFileSync(join(import.meta.dirname, file), 'utf8')) as Case[],
);

it.each(CASES.map((each) => [each.title, each] as const))('%s', (_, each) => {
  expect(shown(EXPLAIN[each.kind](each))).toEqual(each.expected);
});

/** As the file has it: texts alone. */
function shown({ headline, state, causes, next, remedies, unread }: Explanation) {
  return {
    headline,
    state,
    causes: causes.map(({ text }) => text),
    ...(next && { next: next.at ? `${next.text} ${next.at}` : next.text }),
    remedies: remedies.map(({ command }) => command),
    ...(unread.length > 0 && { unread }),
  };
}
