/** Waits for a Rollout to take the version that runs as its first deployment. */
import { setTimeout as wait } from 'node:timers/promises';
import { ROLLOUTS } from '../../api/kinds.ts';
import type { Rollout } from '../../api/types.ts';
import type { Adoption } from '../../client/requests/adopt.ts';
import { notBegunText, rolloutRef } from '../../client/requests/takeOver.ts';
import type { KubeClient } from '../kube/client.ts';
import { Problem } from '../terminal/exit.ts';

const PATIENCE_MS = 30_000;
const LOOK_MS = 300;

/** @throws Problem where it does not. */
export async function begun(client: KubeClient, found: Adoption, signal?: AbortSignal): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    const rollout = await client.get<Rollout>({ ...ROLLOUTS, ...rolloutRef(found) });
    if (rollout?.status?.history?.[0]?.version.tag === found.version) return;
    if (performance.now() > deadline) throw new Problem(notBegunText(found, PATIENCE_MS / 1000));
    await wait(LOOK_MS, undefined, { signal });
  }
}
