/** What hooks may answer. As in Metacontroller's strict mode an unknown or duplicate field fails the sync, as a wrong type does. */
import type { KubeObject, LabelSelector } from '../../../api/kubernetes.ts';
import { findDuplicateKey } from '../json/duplicateKeys.ts';
import type { JsonObject } from '../json/json.ts';
import {
  anything,
  type Check,
  fieldsOf,
  flag,
  kubeObject,
  labelSelector,
  listOf,
  mapOf,
  number,
  ShapeError,
  text,
} from '../json/shape.ts';

export interface SyncAnswer {
  status: JsonObject | undefined;
  /** Children of a composite, attachments of a decorator. */
  objects: KubeObject[];
  labels: Record<string, string | null>;
  annotations: Record<string, string | null>;
  /** Seconds; 0 for none. */
  resyncAfterSeconds: number;
}

/** As answered: `null` and absent mean the same. */
export interface RelatedRule {
  apiVersion: string;
  resource: string;
  namespace?: string | null;
  names?: string[] | null;
  labelSelector?: LabelSelector | null;
  namespaceSelector?: LabelSelector | null;
}

/** `finalized` has no effect without a finalize hook. */
const everySync = { status: mapOf(anything), resyncAfterSeconds: number, finalized: flag };
const compositeAnswer = fieldsOf({ ...everySync, children: listOf(kubeObject) });
const decoratorAnswer = fieldsOf({
  ...everySync,
  labels: mapOf(text),
  annotations: mapOf(text),
  attachments: listOf(kubeObject),
});

const customizeAnswer = fieldsOf({
  relatedResources: listOf(
    fieldsOf({
      apiVersion: text,
      resource: text,
      namespace: text,
      names: listOf(text),
      labelSelector,
      namespaceSelector: labelSelector,
    }),
  ),
});

/** Throws ShapeError when the body is not such an answer. */
export function parseCompositeAnswer(body: string): SyncAnswer {
  const answer = parse(body, compositeAnswer);
  return syncAnswer(answer, answer.children);
}

/** Throws ShapeError when the body is not such an answer. */
export function parseDecoratorAnswer(body: string): SyncAnswer {
  const answer = parse(body, decoratorAnswer);
  return syncAnswer(answer, answer.attachments);
}

/** Throws ShapeError when the body is not such an answer. */
export function parseCustomizeAnswer(body: string): RelatedRule[] {
  return (parse(body, customizeAnswer).relatedResources ?? []) as RelatedRule[];
}

function parse(body: string, check: Check): JsonObject {
  let answer: unknown;
  try {
    answer = JSON.parse(body);
  } catch (error) {
    throw new ShapeError(`the answer is not JSON: ${(error as Error).message}`);
  }
  if (answer === null) return {};
  check(answer, '');
  const duplicate = findDuplicateKey(body);
  if (duplicate !== undefined) throw new ShapeError(`duplicate field ${JSON.stringify(duplicate)}`);
  return answer as JsonObject;
}

function syncAnswer(answer: JsonObject, objects: unknown): SyncAnswer {
  return {
    status: (answer.status as JsonObject | null) ?? undefined,
    objects: (objects as KubeObject[] | null) ?? [],
    labels: (answer.labels as SyncAnswer['labels'] | null) ?? {},
    annotations: (answer.annotations as SyncAnswer['annotations'] | null) ?? {},
    resyncAfterSeconds: (answer.resyncAfterSeconds as number | null) ?? 0,
  };
}
