/** A take-over, in the order in which nothing runs without a version. */
import { setTimeout as wait } from 'node:timers/promises';
import { ROLLOUTS } from '../../api/kinds.ts';
import type { Rollout } from '../../api/types.ts';
import { type Adoption, notBegunText, rolloutRef, takeOverWrites } from '../../client/actions/writes/adoption.ts';
import type { WriteRequest } from '../../client/actions/writes/plannedWrite.ts';
import type { KubeClient } from '../kube/client.ts';
import { findRolloutGate } from '../read/gate.ts';
import { Problem } from '../terminal/exit.ts';

const PATIENCE_MS = 30_000;
const LOOK_MS = 300;

/** `make` sends a write. @throws Problem where the Rollout does not begin with the version that runs: nothing is bound then. */
export async function takeOver(
  client: KubeClient,
  found: Adoption,
  make: (write: WriteRequest) => Promise<unknown>,
  { isDryRun = false, signal }: { isDryRun?: boolean; signal?: AbortSignal } = {},
): Promise<void> {
  const { hold, begin, bind } = takeOverWrites(found);
  // It may be there from a first attempt that was interrupted.
  if (hold && !(await findRolloutGate(client, hold.object))) await make(hold);
  if (begin) await make(begin);
  if (!isDryRun) await begun(client, found, signal);
  await make(bind);
}

async function begun(client: KubeClient, found: Adoption, signal: AbortSignal | undefined): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    const rollout = await client.get<Rollout>({ ...ROLLOUTS, ...rolloutRef(found) });
    if (rollout?.status?.history?.[0]?.version.tag === found.version) return;
    if (performance.now() > deadline) throw new Problem(notBegunText(found, PATIENCE_MS / 1000));
    await wait(LOOK_MS, undefined, signal && { signal });
  }
}
