/** Which Rollouts a version waits for at a gate. */
import { KINDS } from '../../api/kinds.ts';
import type { NamespacedName } from '../../api/kubernetes.ts';
import type { Rollout } from '../../api/types.ts';
import { namedIn } from '../../core/approval/accept.ts';
import { identityOf, refKey } from '../../core/kube/names.ts';
import { isApiError } from '../kube/apiError.ts';
import type { KubeClient } from '../kube/client.ts';
import { findGate, findRollout, findRolloutGate } from './gate.ts';

/**
 * A RolloutGate is for one Rollout, whatever waits there. Of a Gate they are those that it holds, of which it says the first hundred, that the reader
 * may read, and whose pending version this is. `version` may name the Rollout, as `shop/web:1.2.0`.
 */
export async function waitingAt(
  client: KubeClient,
  gate: NamespacedName & { kind: 'Gate' | 'RolloutGate' },
  version: string,
): Promise<Rollout[]> {
  if (gate.kind === 'RolloutGate') {
    const name = (await findRolloutGate(client, gate))?.spec?.rolloutRef.name;
    return name ? readable(client, [{ namespace: gate.namespace, name }]) : [];
  }
  const { version: tag, rollout: said } = namedIn(version);
  const held = (await findGate(client, gate))?.status?.heldObjects ?? [];
  const rollouts = await readable(
    client,
    held.filter(({ kind }) => kind === KINDS.Rollout.kind),
  );
  return rollouts.filter(
    (rollout) => rollout.status?.pendingVersion === tag && (!said || refKey(identityOf(rollout)) === said),
  );
}

async function readable(client: KubeClient, refs: readonly NamespacedName[]): Promise<Rollout[]> {
  const found = await Promise.all(
    refs.map((ref) =>
      findRollout(client, ref).catch((error: unknown) => {
        if (isApiError(error, 403)) return undefined;
        throw error;
      }),
    ),
  );
  return found.filter((rollout) => rollout !== undefined);
}
