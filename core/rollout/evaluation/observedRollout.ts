/** What a Rollout's plan is made from. Plain data: hooks/rollout/observe.ts gathers it. */
import type { ImagePolicy } from '../../../api/flux.ts';
import type { NamespacedName } from '../../../api/kubernetes.ts';
import type { ReleaseMetadata, Settings } from '../../../api/ports.ts';
import type { FluxBinding, Gate, HealthCheck, Rollout, RolloutGate } from '../../../api/types.ts';
import type { Budgets } from '../../budget/selectingBudgets.ts';
import type { Copying } from '../../releaseCopy/job.ts';
import type { CarriedDeployment } from '../deployment/adoptDeployment.ts';
import type { UpstreamRollouts } from '../upstream/upstreamVerdict.ts';

export interface Observed {
  rollout: Rollout;
  /** Undefined when there is none. */
  imagePolicy?: ImagePolicy | undefined;
  /** RolloutGates of other Rollouts are ignored. */
  rolloutGates: readonly RolloutGate[];
  /** Bindings of objects that are not bound to this Rollout are ignored. */
  bindings: readonly FluxBinding[];
  /** HealthChecks that spec.healthCheckSelector matches and that may be watched. */
  healthChecks: readonly HealthCheck[];
  /** How many more it matches: a bake that watches fewer checks than one would think must say so. */
  healthLeftOut?: number;
  /** What else is wrong with the spec in this cluster, a sentence each. */
  problems?: readonly string[];
  /** The RolloutBudgets that select it, as read live before a deployment; absent if they were not read. */
  budgets?: Budgets;
  /** The Gates that must be open for any deployment, and the objects that were found for them. */
  gateRefs: readonly NamespacedName[];
  gates: readonly Gate[];
  /** Only if spec.targetRepository is set. */
  copying?: Copying | undefined;
  /** The upstream Rollouts of spec.after; absent if there are none. */
  upstream?: UpstreamRollouts | undefined;
  /** Metadata from the registry, by tag; see metadataWanted. */
  metadata: Readonly<Record<string, ReleaseMetadata>>;
  /** Tags of which it may still say something. */
  awaited?: readonly string[];
  /** Deployments of this Rollout that Flux objects carry; read only while there is no history. */
  carried?: readonly CarriedDeployment[];
  /** Why the ConfigMap of spec.releaseConfigMap cannot be written. */
  configMapProblem?: string | undefined;
  /** The ImagePolicy of spec.writeBack as it is, if this Rollout has made it. */
  derivedPolicy?: ImagePolicy | undefined;
  /** Why it cannot be written. */
  writeBackProblem?: string | undefined;
  onFailure: Settings['onFailure'];
  likeKuberik?: boolean | undefined;
}
