/** What a Rollout's plan is made from, as Metacontroller's caches have it. */
import type { ImagePolicy } from '../../api/flux.ts';
import { KINDS } from '../../api/kinds.ts';
import type { CompositeRequest } from '../../api/metacontroller.ts';
import type { HookCall, ReleaseMetadata, Settings } from '../../api/ports.ts';
import type { FluxBinding, Gate, HealthCheck, Rollout, RolloutGate } from '../../api/types.ts';
import { authorsWanted } from '../../core/evaluation/approvals.ts';
import { foreignRefs, withoutForeignRefs } from '../../core/evaluation/foreignReferences.ts';
import type { Observed } from '../../core/evaluation/observed.ts';
import { gatesToPass } from '../../core/evaluation/requiredGates.ts';
import { countedFor } from '../../core/health/job/counted.ts';
import { objectAt, objectsOf } from '../../core/kube/objectMap.ts';
import { untrustedMatches } from '../../core/order/refs.ts';
import { policyRef, repositoryRef } from '../../core/policy/imagePolicy.ts';
import { metadataWanted } from '../../core/release/metadata.ts';
import { homeLabels } from '../home.ts';
import { copyingOf } from './copying.ts';
import { configMapIsForeign, liveImagePolicy } from './liveReads.ts';
import { stagesOf } from './stages.ts';
import { watchedChecks } from './watchedChecks.ts';
import { writeBackOf } from './writeBack.ts';

/** The Rollout as far as this installation follows what it names. */
export function followed(rollout: Rollout, { noCrossNamespaceRefs }: Settings): Rollout {
  return noCrossNamespaceRefs ? withoutForeignRefs(rollout) : rollout;
}

export async function observe(request: CompositeRequest, call: HookCall): Promise<Observed> {
  const rollout = request.parent as unknown as Rollout;
  const { related } = request;
  const reached = followed(rollout, call.settings);
  const ref = policyRef(reached);
  const imagePolicy = ref
    ? (objectAt<ImagePolicy>(related, KINDS.ImagePolicy, ref.namespace, ref.name) ??
      (await liveImagePolicy(reached, call.cluster)))
    : undefined;
  const forbidden = call.settings.noCrossNamespaceRefs ? foreignRefs(rollout) : [];
  const untrusted = call.settings.trustPublishers ? [] : untrustedMatches(rollout);
  const gates = objectsOf<Gate>(related, KINDS.Gate);
  const rolloutGates = objectsOf<RolloutGate>(related, KINDS.RolloutGate);
  const namespaceLabels = await homeLabels(rollout.metadata.namespace ?? '', related, gates, call.cluster);
  const watched = await watchedChecks(rollout, objectsOf<HealthCheck>(related, KINDS.HealthCheck), call);
  const stages = await stagesOf(reached, objectsOf<Rollout>(related, KINDS.Rollout), call);
  // Metacontroller sends a map, even if empty, for each kind of child that the controller has.
  const keepsConfigMaps = request.children?.['ConfigMap.v1'] !== undefined;
  const copying = await copyingOf(request, imagePolicy, call);
  const writeBack = await writeBackOf(request, call.cluster);
  const { writeBackProblem } = writeBack;
  return {
    rollout,
    imagePolicy,
    ...(copying && { copying }),
    ...writeBack,
    rolloutGates,
    bindings: objectsOf<FluxBinding>(related, KINDS.FluxBinding),
    ...watched,
    healthChecks: watched.healthChecks.map((check) => countedFor(rollout, check)),
    problems: [...forbidden, ...untrusted, ...watched.problems, ...(writeBackProblem ? [writeBackProblem] : [])],
    gateRefs: gatesToPass(reached, [], { gates, namespaceLabels }),
    gates,
    ...(stages && { stages }),
    ...metadataOf(rollout, imagePolicy, authorsWanted(rolloutGates, gates, rollout), call),
    configMapIsForeign: keepsConfigMaps && (await configMapIsForeign(request, call.cluster)),
    configMapUnsupported: !keepsConfigMaps && Boolean(rollout.spec?.releaseConfigMap?.name),
    onFailure: call.settings.onFailure,
    likeKuberik: call.settings.likeKuberik,
  };
}

/** What is known of the releases that a decision asks about, by tag, and of which tags something may still come. */
export function metadataOf(
  rollout: Rollout,
  policy: ImagePolicy | undefined,
  others: readonly string[],
  { metadata: cache }: HookCall,
): Required<Pick<Observed, 'metadata' | 'awaited'>> {
  const ref = policyRef(rollout);
  const repository = policy && repositoryRef(policy);
  if (!ref || !repository) return { metadata: {}, awaited: [] };
  const image = policy.status?.latestRef?.name;
  const { namespace } = rollout.metadata;
  const found: Record<string, ReleaseMetadata> = {};
  const awaited: string[] = [];
  for (const wanted of metadataWanted(rollout, policy, others)) {
    const of = { policy: ref, repository, ...wanted, ...(namespace && { namespace }), ...(image && { image }) };
    const metadata = cache.lookup(of);
    if (metadata) found[wanted.tag] = metadata;
    else if (cache.isAwaited(of)) awaited.push(wanted.tag);
  }
  return { metadata: found, awaited };
}
