/** What a Rollout's plan is made from, and what it is. Plain data: hooks/rollout/rollout.ts gathers it and carries it out. */
import type { ImagePolicy } from '../../api/flux.ts';
import type { EpochMs, KubeObject, NamespacedName } from '../../api/kubernetes.ts';
import type { EventRecord, ReleaseMetadata, Settings } from '../../api/ports.ts';
import type { FluxBinding, Gate, HealthCheck, Rollout, RolloutGate, RolloutStatus, Stamp } from '../../api/types.ts';

export interface Observed {
  rollout: Rollout;
  /** Undefined when there is none. */
  imagePolicy?: ImagePolicy | undefined;
  /** Those of other Rollouts are left out of account. */
  rolloutGates: readonly RolloutGate[];
  /** Those that do not pin this Rollout are left out of account. */
  bindings: readonly FluxBinding[];
  /** What spec.healthCheckSelector finds and may be watched. */
  healthChecks: readonly HealthCheck[];
  /** How many more it finds: nobody should bake on fewer checks than they think without knowing. */
  healthLeftOut?: number;
  /** What else is wrong with the spec in this cluster, a sentence each. */
  problems?: readonly string[];
  /** The Gates that must be open for any deployment, and the objects that were found for them. */
  gateRefs: readonly NamespacedName[];
  gates: readonly Gate[];
  /** What the registry says, by tag; see metadataWanted. */
  metadata: Readonly<Record<string, ReleaseMetadata>>;
  /** Deployments of this Rollout that Flux objects carry; read only while there is no history. */
  carried?: readonly CarriedStamp[];
  /** The name of spec.releaseConfigMap is taken by a ConfigMap that is not this Rollout's. */
  configMapIsForeign?: boolean;
  /** There are no ConfigMaps in this installation. */
  configMapUnsupported?: boolean;
  onFailure: Settings['onFailure'];
}

export interface CarriedStamp {
  stamp: Stamp;
  /** `Kustomization 'my-app'`. */
  by: string;
}

export interface Plan {
  /** As it shall be stored, `revision` included. */
  status: RolloutStatus;
  /** A new history head: the hook decides it a second time from live reads. */
  commits: boolean;
  /** The head's bake begins: the hook makes sure that no bound object was overlooked. */
  startsBake: boolean;
  resyncAfterSeconds?: number;
  events: PlannedEvent[];
  /** The ConfigMap of spec.releaseConfigMap, from the history as stored. */
  configMap?: KubeObject & { data: Record<string, string> };
}

export type PlannedEvent = Pick<EventRecord, 'type' | 'reason' | 'message' | 'key'>;

/** An event before its key is made: `about` says which change it tells of. */
export interface News {
  type: 'Normal' | 'Warning';
  reason: string;
  message: string;
  /** The deployment it is about; others are about the status revision that brings the change. */
  about?: string;
}

/** A moment at which the answer may be another one although nothing was written. */
export type WakeUp = EpochMs;
