/** Every hostile input by name. */
import { APPROVALS } from './approvals.ts';
import { BUDGETS } from './budgets.ts';
import { FLUX } from './flux.ts';
import { GATES } from './gates.ts';
import type { Input } from './input.ts';
import { ROLLOUTS } from './rollouts.ts';

export const INPUTS: Readonly<Record<string, () => Input>> = {
  ...FLUX,
  ...GATES,
  ...ROLLOUTS,
  ...BUDGETS,
  ...APPROVALS,
};
