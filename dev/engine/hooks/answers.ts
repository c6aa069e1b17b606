/** Parses answers of hooks. As in Metacontroller's strict mode, unknown fields and wrong types fail the sync. */
import { z } from 'zod';
import type { KubeObject, LabelSelector } from '../../../api/kubernetes.ts';
import type { JsonObject } from '../json/json.ts';
import { anyMap, kubeObject, labelSelector, labels, requireShape } from '../json/schemas.ts';

export interface SyncAnswer {
  status: JsonObject | undefined;
  /** Children of a composite, attachments of a decorator. */
  objects: KubeObject[];
  labels: Record<string, string | null>;
  annotations: Record<string, string | null>;
  /** Seconds; 0 for none. */
  resyncAfterSeconds: number;
}

/** A rule in a customize answer. `null` and absent mean the same. */
export interface RelatedRule {
  apiVersion: string;
  resource: string;
  namespace?: string | null;
  names?: string[] | null;
  labelSelector?: LabelSelector | null;
  namespaceSelector?: LabelSelector | null;
}

/** `finalized` has no effect without a finalize hook. */
const everySync = {
  status: anyMap.nullish(),
  resyncAfterSeconds: z.number().nullish(),
  finalized: z.boolean().nullish(),
};
const objects = z.array(kubeObject).nullish();
const SYNC = {
  composite: z.strictObject({ ...everySync, children: objects }),
  decorator: z.strictObject({
    ...everySync,
    labels: labels.nullish(),
    annotations: labels.nullish(),
    attachments: objects,
  }),
};
const relatedRule = z.strictObject({
  apiVersion: z.string().nullish(),
  resource: z.string().nullish(),
  namespace: z.string().nullish(),
  names: z.array(z.string()).nullish(),
  labelSelector: labelSelector.nullish(),
  namespaceSelector: labelSelector.nullish(),
});
const CUSTOMIZE = z.strictObject({ relatedResources: z.array(relatedRule).nullish() });

/** The answer of a sync hook. Throws when the body isn't one. */
export function parseSyncAnswer(of: keyof typeof SYNC, body: string): SyncAnswer {
  const { status, children, attachments, labels, annotations, resyncAfterSeconds } = parse(body, SYNC[of]);
  return {
    status: status ?? undefined,
    objects: children ?? attachments ?? [],
    labels: labels ?? {},
    annotations: annotations ?? {},
    resyncAfterSeconds: resyncAfterSeconds ?? 0,
  };
}

/** The answer of a customize hook. Throws when the body isn't one. */
export function parseCustomizeAnswer(body: string): RelatedRule[] {
  return parse(body, CUSTOMIZE).relatedResources ?? [];
}

function parse(body: string, schema: z.ZodType): Record<string, any> {
  let answer: unknown;
  try {
    answer = JSON.parse(body);
  } catch (error) {
    throw new Error(`the answer is not JSON: ${(error as Error).message}`);
  }
  if (answer === null) return {};
  requireShape(answer, schema);
  return answer as Record<string, any>;
}
