/** What spec.writeBack has come to: the derived ImagePolicy, and why it cannot be written. */
import type { ImagePolicy } from '../../api/flux.ts';
import { KINDS, resourceOf } from '../../api/kinds.ts';
import type { CompositeRequest } from '../../api/metacontroller.ts';
import type { ClusterReader } from '../../api/ports.ts';
import type { Rollout } from '../../api/types.ts';
import type { Observed } from '../../core/evaluation/observed.ts';
import { objectAt } from '../../core/kube/objectMap.ts';
import { writeBackName } from '../../core/policy/writeBack.ts';
import { type Child, foreignMessage, isForeign, notInstalledMessage } from '../../core/rollout/child.ts';

const COMPONENT = 'write-back';

export async function writeBackOf(
  request: CompositeRequest,
  cluster: ClusterReader,
): Promise<Pick<Observed, 'derivedPolicy' | 'writeBackProblem'>> {
  const rollout = request.parent as unknown as Rollout;
  const name = writeBackName(rollout);
  if (name === undefined || rollout.metadata.deletionTimestamp) return {};
  const { kind } = KINDS.ImagePolicy;
  const child: Child = { kind, name, field: 'spec.writeBack.imagePolicy', component: COMPONENT };
  const { apiVersion, resource } = resourceOf(KINDS.ImagePolicy);
  // Metacontroller sends a map, even if empty, for each kind of child that the controller has.
  if (request.children?.[`${kind}.${apiVersion}`] === undefined)
    return { writeBackProblem: notInstalledMessage(child) };
  const { namespace = '' } = rollout.metadata;
  const derivedPolicy = objectAt<ImagePolicy>(request.children, KINDS.ImagePolicy, namespace, name);
  if (derivedPolicy) return { derivedPolicy };
  // Not created yet, or the name is taken.
  const found = await cluster.get({ apiVersion, resource, namespace, name });
  return found && isForeign(found, rollout) ? { writeBackProblem: foreignMessage(child) } : {};
}
