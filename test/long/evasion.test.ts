/**
 * test/cluster/evasion/attempts.yaml where the gates are open: each attempt is a way to change something, so that its
 * refusal means something.
 */
import { describe, expect, it } from 'vitest';
import { carryOut, partsOf, readAttempts } from '../cluster/evasion/attempt.ts';
import { newGatedNamespace } from '../cluster/evasion/gatedNamespace.ts';
import { waitFor } from '../cluster/support/cluster.ts';
import { ownCluster } from '../cluster/support/ownCluster.ts';

const { view } = await ownCluster();

describe.concurrent('with open Gates the attempt succeeds:', () => {
  it.each(readAttempts().filter(({ never }) => !never))('$name', async (attempt) => {
    const gated = await newGatedNamespace(view, { closed: false, parts: partsOf(attempt) });
    const before = await gated.state();
    const answers: string[] = [];
    for (const step of attempt.steps) answers.push(await carryOut(step, gated, view));
    await waitFor(
      async () => {
        expect(await gated.state(), answers.join('; ')).not.toEqual(before);
        return true;
      },
      'a change',
      10_000,
    );
  });
});
