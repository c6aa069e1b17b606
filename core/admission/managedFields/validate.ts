/** The validating half: nobody changed a pinned field after our mutating webhook had set it (docs/reference/writes.md, W8). */
import { ARTIFACT, DEPLOYED } from '../../../api/annotations.ts';
import type { FluxObject } from '../../../api/flux.ts';
import type { EpochMs } from '../../../api/kubernetes.ts';
import type { DeploymentRef, Rollout } from '../../../api/types.ts';
import { parseTime } from '../../kube/time.ts';
import { writeBackName } from '../../policy/derivedPolicy.ts';
import { pinAnnotationsOf, pinPath } from './annotations.ts';
import { deploymentOf, parseDeployments } from './deployment.ts';
import { readPin } from './field.ts';

/** Both webhooks of one request answer within this time. A head younger than it may have come between them: then the value is that of the head before or of the stored object. */
const BETWEEN_CALLS_MS = 10_000;

/** A sentence for each pinned field that is not what its Rollout says; empty when all is well. */
export function verifyPins(
  object: FluxObject,
  oldObject: FluxObject | undefined,
  rollouts: ReadonlyMap<string, Rollout>,
  now: EpochMs,
): string[] {
  const deployments = parseDeployments(object.metadata.annotations?.[DEPLOYED]);
  // Its variables are those of what the source has, which may be any deployment before, or none yet.
  const isWhole = object.metadata.annotations?.[ARTIFACT] !== undefined;
  return pinAnnotationsOf(object).pins.flatMap((pin) => {
    const rollout = rollouts.get(pin.rollout);
    const head = deploymentOf(rollout);
    const value = readPin(object, pin);
    if (!head || value === head.version || writeBackName(rollout)) return [];
    const carried = deployments.find((deployment) => deployment.rollout === pin.rollout);
    const before = deploymentOf(rollout, 1);
    const isKept = oldObject !== undefined && value === readPin(oldObject, pin);
    if (isWhole && (isKept || (value === carried?.version && isEarlier(carried, rollout)))) return [];
    const isBefore = carried?.id === before?.id && carried?.uid === before?.uid && value === before?.version;
    const committed = parseTime(rollout?.status?.history?.[0]?.timestamp) ?? 0;
    if (before && isBefore) return [];
    if (now - committed < BETWEEN_CALLS_MS && (before === undefined || isKept)) return [];
    return [
      `${pinPath(pin).join('.')} must be '${head.version}', which Rollout '${pin.rollout}' has deployed, but is ` +
        `'${value ?? ''}': another webhook changed it after rollout-hooks had set it`,
    ];
  });
}

/** The history may have forgotten it: a source may fail to fetch what came after for a long time. */
function isEarlier(carried: DeploymentRef | undefined, rollout: Rollout | undefined): boolean {
  if (!carried) return false;
  const { id, uid, version } = carried;
  const entry = rollout?.status?.history?.find((each) => each.id === id);
  return rollout?.metadata.uid === uid && (!entry || entry.version?.tag === version);
}
