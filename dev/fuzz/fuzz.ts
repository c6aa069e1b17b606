/** The families of inputs, their checks, and the run that generates them. */
import fc from 'fast-check';
import { checkMangled, mangled } from './families/mangled.ts';
import { rolloutCase } from './families/rolloutCases.ts';
import { checkRollout } from './families/rollouts.ts';

interface Kind {
  weight: number;
  inputs: fc.Arbitrary<any>;
  /** @throws Finding when a property does not hold. */
  check(input: any): Promise<void>;
}

const KINDS = {
  mangled: { weight: 20, inputs: mangled, check: checkMangled },
  rollout: { weight: 20, inputs: rolloutCase, check: checkRollout },
} satisfies Record<string, Kind>;

export type Family = keyof typeof KINDS;
export const FAMILIES = Object.keys(KINDS) as Family[];

interface Case {
  family: Family;
  input: unknown;
}

interface Run {
  runs: number;
  seed: number;
  /** Restricts the run to one family. */
  only?: Family | undefined;
  /** The path of a failure: repeats its input only. */
  path?: string | undefined;
  onInput?(family: Family): void;
}

/** Resolves to what fast-check has found: the first finding, with the smallest input that shows it, if any. */
export async function fuzz({ runs, seed, only, path, onInput }: Run): Promise<fc.RunDetails<[Case]>> {
  const kinds = FAMILIES.filter((family) => !only || family === only).map((family) => {
    const { weight, inputs }: Kind = KINDS[family];
    return { weight, arbitrary: inputs.map((input): Case => ({ family, input })) };
  });
  const property = fc.asyncProperty(fc.oneof(...kinds), async ({ family, input }) => {
    onInput?.(family);
    await (KINDS[family] as Kind).check(input);
  });
  const replay = path !== undefined && { path, numRuns: 1, endOnFailure: true };
  return fc.check(property, { seed, numRuns: runs, ...replay });
}

/** The finding, and the input that shows it. An error that isn't a finding has its stack. */
export function reportOf(found: fc.RunDetails<[Case]>): string {
  const error = found.errorInstance as Error | undefined;
  const what = error?.name === 'Error' ? error.message : (error?.stack ?? String(error));
  return `${what}\n\n${fc.defaultReportMessage(found)}`;
}
