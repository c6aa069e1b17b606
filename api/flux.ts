/** The fields of Flux's kinds that this project reads. Source: Flux API reference. */
import type { Condition, KubeObject } from './kubernetes.ts';

export interface FluxStatus {
  observedGeneration?: number;
  conditions?: Condition[];
}

export interface Artifact {
  revision?: string;
  digest?: string;
}

export interface SourceRef {
  apiVersion?: string;
  kind: string;
  name: string;
  namespace?: string;
}

interface KustomizationSpec {
  suspend?: boolean;
  sourceRef?: SourceRef;
  kubeConfig?: unknown;
  postBuild?: { substitute?: Record<string, string>; [key: string]: unknown };
  [key: string]: unknown;
}

export interface KustomizationStatus extends FluxStatus {
  lastAppliedRevision?: string;
  lastAttemptedRevision?: string;
  inventory?: { entries?: { id: string; v: string }[] };
  [key: string]: unknown;
}

export type Kustomization = KubeObject<KustomizationSpec, KustomizationStatus>;

/** Any governed Flux object, a Kustomization too: all of them have `spec.suspend`. */
export type FluxObject = KubeObject<
  { suspend?: boolean; [key: string]: unknown },
  FluxStatus & Record<string, unknown>
>;

export interface ImagePolicy extends KubeObject {
  spec?: {
    imageRepositoryRef?: { name: string; namespace?: string };
    policy?: {
      semver?: { range?: string };
      alphabetical?: { order?: 'asc' | 'desc' };
      numerical?: { order?: 'asc' | 'desc' };
    };
    filterTags?: { pattern?: string; extract?: string };
    [key: string]: unknown;
  };
  status?: {
    /** image.toolkit.fluxcd.io/v1, and v1beta2 of Flux 2.6 and newer. */
    latestRef?: { name?: string; tag?: string; digest?: string };
    /** image.toolkit.fluxcd.io/v1beta2: `image:tag`. */
    latestImage?: string;
    observedGeneration?: number;
    conditions?: Condition[];
    [key: string]: unknown;
  };
}

export type ImageRepository = KubeObject<{
  image?: string;
  insecure?: boolean;
  provider?: string;
  secretRef?: { name?: string };
  certSecretRef?: { name?: string };
  accessFrom?: { namespaceSelectors?: { matchLabels?: Record<string, string> }[] };
}>;
