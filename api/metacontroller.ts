/** Metacontroller's hook API, version v2 (4.15 and newer). Answers are strict: an unknown field fails the sync. */
import type { KubeObject, LabelSelector } from './kubernetes.ts';

/** The size limit for requests to our hooks: two objects of 3 MB each, with some margin. */
export const MAX_REQUEST_BYTES = 7 * 1024 * 1024;

/** Objects keyed `Kind.group/version` (core: `Kind.v1`), then `namespace/name` (cluster-scoped: `name`). */
export type ObjectMap = Record<string, Record<string, KubeObject>>;

export interface RelatedResourceRule {
  apiVersion: string;
  /** Plural, lower case. */
  resource: string;
  namespace?: string;
  namespaceSelector?: LabelSelector;
  /** Never an empty list: Metacontroller reads that as "all". */
  names?: string[];
  labelSelector?: LabelSelector;
}

export interface CustomizeRequest<Parent = KubeObject> {
  controller: KubeObject;
  parent: Parent;
}

export interface CustomizeResponse {
  relatedResources: RelatedResourceRule[];
}

export interface CompositeRequest<Parent = KubeObject> {
  controller: KubeObject;
  parent: Parent;
  children: ObjectMap;
  related: ObjectMap;
  finalizing: boolean;
}

export interface CompositeResponse<Status = unknown> {
  /** Replaces the whole status; leaving it out wipes the status. */
  status: Status;
  /** A child that is left out is deleted. */
  children: KubeObject[];
  /** One-shot; 0 or absent means no resync. */
  resyncAfterSeconds?: number;
  finalized?: boolean;
}

export interface DecoratorRequest<Target = KubeObject> {
  controller: KubeObject;
  object: Target;
  attachments: ObjectMap;
  related: ObjectMap;
  finalizing: boolean;
}

export interface DecoratorResponse<Status = unknown> {
  /** null removes the label. */
  labels?: Record<string, string | null>;
  /** null removes the annotation. */
  annotations?: Record<string, string | null>;
  /** Absent or null leaves the status alone. */
  status?: Status | null;
  /** An attachment that is left out is deleted. */
  attachments: KubeObject[];
  resyncAfterSeconds?: number;
  finalized?: boolean;
}
