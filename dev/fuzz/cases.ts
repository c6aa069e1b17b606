/** Every kind of input, and how each is judged. */
import fc from 'fast-check';
import { checkScheduled, scheduled } from './families/calendars.ts';
import { checkMangled, mangled } from './families/mangled.ts';
import { checkRollout, rolloutCase } from './families/rollouts.ts';

interface Kind<Input> {
  weight: number;
  inputs: fc.Arbitrary<Input>;
  /** @throws Finding when a property does not hold. */
  check(input: Input): Promise<void>;
}

const KINDS = {
  mangled: { weight: 20, inputs: mangled, check: checkMangled },
  calendar: { weight: 3, inputs: scheduled, check: checkScheduled },
  rollout: { weight: 20, inputs: rolloutCase, check: checkRollout },
} satisfies Record<string, Kind<any>>;

export type Family = keyof typeof KINDS;
export const FAMILIES = Object.keys(KINDS) as Family[];

export interface Case {
  family: Family;
  input: unknown;
}

export function anyCase(only?: Family): fc.Arbitrary<Case> {
  const chosen = FAMILIES.filter((family) => !only || family === only);
  const kinds = chosen.map((family) => ({
    weight: KINDS[family].weight,
    arbitrary: (KINDS[family].inputs as fc.Arbitrary<unknown>).map((input): Case => ({ family, input })),
  }));
  return fc.oneof(...kinds);
}

export function check({ family, input }: Case): Promise<void> {
  return (KINDS[family] as Kind<any>).check(input);
}
