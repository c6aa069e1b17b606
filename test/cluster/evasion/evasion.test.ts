/**
 * Attempts to bypass a closed Gate, all without success: attempts.yaml, by its users and controllers. That each would
 * succeed with open Gates: test/long/evasion.test.ts.
 */
import { describe, expect, it } from 'vitest';
import { sharedCluster, staysTrue, waitFor } from '../support/cluster.ts';
import { type Attempt, carryOut, partsOf, readAttempts } from './attempt.ts';
import { type GatedNamespace, newGatedNamespace } from './gatedNamespace.ts';

const view = sharedCluster();
const attempts = readAttempts();
/** The time in which controllers react to a write. */
const SETTLED_MS = 600;

async function make(attempt: Attempt, gated: GatedNamespace): Promise<string[]> {
  const answers: string[] = [];
  for (const step of attempt.steps) answers.push(await carryOut(step, gated, view));
  return answers;
}

interface FrozenNamespace {
  gated: GatedNamespace;
  before: Awaited<ReturnType<GatedNamespace['state']>>;
}
/**
 * Namespaces that can be used again because everything was refused so far, by their parts. Each is compared with its
 * first state after an attempt.
 */
const frozenNamespaces = new Map<string, FrozenNamespace[]>();
const isRefused = (answer: string) => !answer.startsWith('taken');
const leavesNothing = (answer: string) => isRefused(answer) || answer.includes('not applied: ');

async function newFrozenNamespace(parts: ReturnType<typeof partsOf>): Promise<FrozenNamespace> {
  const gated = await newGatedNamespace(view, { closed: true, parts });
  const before = await gated.state();
  expect(before.running).toEqual([]);
  return { gated, before };
}

describe.concurrent('behind a closed gate nothing changes by', () => {
  it.each(attempts)('$name', async (attempt) => {
    const parts = partsOf(attempt);
    const frozen = frozenNamespaces.get(parts.join())?.pop() ?? (await newFrozenNamespace(parts));
    const { gated, before } = frozen;
    const answers = await make(attempt, gated);
    // Refused writes cause no sync; their namespaces are compared again at the end.
    const settledMs = answers.every(isRefused) ? 0 : SETTLED_MS;
    // A selecting Gate marks a new object just after it was created.
    if (settledMs)
      await waitFor(async () => (await gated.state()).running.length === 0, 'every held object to be suspended');
    const isUnchanged = async () => {
      expect(await gated.state(), answers.join('; ')).toEqual(before);
      return true;
    };
    await staysTrue(isUnchanged, 'all that the gate protects', settledMs);
    if (!answers.every(leavesNothing)) return;
    frozenNamespaces.set(parts.join(), [...(frozenNamespaces.get(parts.join()) ?? []), frozen]);
  });
});

it('behind a closed gate nothing has changed by all of that', async () => {
  for (const { gated, before } of [...frozenNamespaces.values()].flat()) expect(await gated.state()).toEqual(before);
});
