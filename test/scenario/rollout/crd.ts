/** What the Rollout CRD says of a status: its schema, and in plain code the two rules that it has in CEL. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv, type AnySchema } from 'ajv';
import addFormats from 'ajv-formats';
import { parse } from 'yaml';
import type { HistoryEntry, RolloutStatus } from '../../../api/types.ts';

const file = join(import.meta.dirname, '../../../manifests/crds/kuberik.com_rollouts.yaml');
const schema = parse(readFileSync(file, 'utf8')).spec.versions[0].schema.openAPIV3Schema.properties.status;
const ajv = new Ajv({ strict: false, allErrors: true });
addFormats.default(ajv);
const validate = ajv.compile(closed(schema) as AnySchema);

/** @throws when the API server would refuse the status, or prune a field of it. */
export function checkStatus(status: RolloutStatus, stored: RolloutStatus | undefined): void {
  if (!validate(JSON.parse(JSON.stringify(status)))) throw new Error(`status: ${ajv.errorsText(validate.errors)}`);
  if (status.revision !== (stored?.revision ?? 0) + 1) {
    throw new Error(`stale status: revision ${status.revision} on ${stored?.revision ?? 0}`);
  }
  const [old] = stored?.history ?? [];
  const [head, second] = status.history ?? [];
  if (old?.id === undefined) return;
  const next = head?.id === old.id + 1 && (status.history?.length === 1 || isSame(second, old));
  if (!isSame(head, old) && !next)
    throw new Error(`history is append-only: ${JSON.stringify(head)} on ${JSON.stringify(old)}`);
}

function isSame(a: HistoryEntry | undefined, b: HistoryEntry): boolean {
  return a?.id === b.id && a?.version.tag === b.version.tag && a?.timestamp === b.timestamp;
}

function closed(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(closed);
  if (typeof node !== 'object' || node === null) return node;
  const copy = Object.fromEntries(Object.entries(node).map(([key, value]) => [key, closed(value)]));
  return copy.properties && copy.type === 'object' ? { ...copy, additionalProperties: false } : copy;
}
