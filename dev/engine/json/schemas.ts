/** Schemas of the engine's JSON input, which refuse unknown fields. Null means absent everywhere. */
import { z } from 'zod';
import type { LabelSelector } from '../../../api/kubernetes.ts';

const mapOf = <T extends z.ZodType>(value: T) => z.record(z.string(), value.nullable());
const expression = z.strictObject({
  key: z.string(),
  operator: z.string(),
  values: z.array(z.string()).nullish(),
});

export const labels = mapOf(z.string());
export const anyMap = mapOf(z.unknown());
export const labelSelector = z.strictObject({
  matchLabels: labels.nullish(),
  matchExpressions: z.array(expression).nullish(),
}) as unknown as z.ZodType<LabelSelector>;
export const kubeObject = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({ labels: labels.nullish(), annotations: labels.nullish() }),
});

/** Throws for a value of another shape, with every difference. */
export function requireShape(value: unknown, schema: z.ZodType): void {
  const { error } = schema.safeParse(value);
  if (error) throw new Error(error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`).join('; '));
}
