/** The parts of Kubernetes' own types that this project reads. Source: Kubernetes API conventions. */

/** Milliseconds since 1970-01-01T00:00:00Z. Time is always an argument; see core/kube/time.ts for RFC 3339. */
export type EpochMs = number;

export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
}

export interface ManagedFieldsEntry {
  manager?: string;
  operation?: string;
  apiVersion?: string;
  time?: string;
  fieldsType?: string;
  fieldsV1?: Record<string, unknown>;
  subresource?: string;
}

export interface ObjectMeta {
  name?: string;
  generateName?: string;
  namespace?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  ownerReferences?: OwnerReference[];
  finalizers?: string[];
  managedFields?: ManagedFieldsEntry[];
}

/** Any Kubernetes object. Without type arguments nothing is known of `spec` and `status`. */
export interface KubeObject<Spec = Record<string, unknown>, Status = Record<string, unknown>> {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  spec?: Spec;
  status?: Status;
}

/** An object whose spec and status are read without a type of their own. */
export type AnyObject = KubeObject<any, any>;

/** A Secret, with values in base64. */
export type Secret = KubeObject<never, never> & { data?: Record<string, string> };

export interface Condition {
  type: string;
  status: 'True' | 'False' | 'Unknown';
  reason: string;
  message: string;
  /** RFC 3339, whole seconds. */
  lastTransitionTime: string;
  observedGeneration?: number;
}

export interface LabelSelectorRequirement {
  key: string;
  operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist' | (string & {});
  values?: string[];
}

export interface LabelSelector {
  matchLabels?: Record<string, string>;
  matchExpressions?: LabelSelectorRequirement[];
}

export interface NamespacedName {
  namespace: string;
  name: string;
}

/** An object of a kind in api/kinds.ts. */
export interface ObjectName extends NamespacedName {
  kind: string;
}
