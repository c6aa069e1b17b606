/**
 * What the API server says of a status: the CRD's schema, and in plain code the rules that the CRD and the
 * ValidatingAdmissionPolicy `rollout-history` have in CEL.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv, type AnySchema } from 'ajv';
import addFormats from 'ajv-formats';
import { parse } from 'yaml';
import type { HistoryEntry, RolloutStatus } from '../../../api/types.ts';
import { sameJson } from '../../../core/kube/json.ts';
import { LIMITS } from '../../../core/limits.ts';

const file = join(import.meta.dirname, '../../../manifests/crds/kuberik.com_rollouts.yaml');
const schema = parse(readFileSync(file, 'utf8')).spec.versions[0].schema.openAPIV3Schema.properties.status;
const ajv = new Ajv({ strict: false, allErrors: true });
addFormats.default(ajv);
const validate = ajv.compile(closed(schema) as AnySchema);

/** @throws if the API server would refuse the status or prune one of its fields */
export function checkStatus(status: RolloutStatus, stored: RolloutStatus | undefined, limit = 10): void {
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
  checkPast(status.history ?? [], stored?.history ?? [], limit);
}

const FINISHED = ['Succeeded', 'Failed', 'Cancelled'];

function checkPast(after: readonly HistoryEntry[], before: readonly HistoryEntry[], limit: number): void {
  const adds = after[0]?.id !== before[0]?.id;
  const rest = after.slice(adds ? 1 : 0);
  const stay = Math.min(Math.max(limit, LIMITS.historyKept), LIMITS.history);
  if (rest.length < before.length && after.length < stay) throw new Error('history forgets more than its limit');
  rest.forEach((entry, index) => {
    const old = before[index]!;
    if (index === 0) checkKept(entry, old, adds);
    else if (!sameJson(entry, old))
      throw new Error(`history is append-only: ${JSON.stringify(entry)} on ${JSON.stringify(old)}`);
  });
}

function checkKept(entry: HistoryEntry, old: HistoryEntry, superseded: boolean): void {
  const changed = (
    ['origin', 'triggeredBy', 'requestedBy', 'rolledBackFrom', 'reason', 'approvals', 'bypass'] as const
  ).filter((key) => !sameJson(entry[key], old[key]));
  if (old.appliedTime && entry.appliedTime !== old.appliedTime) throw new Error('appliedTime changes');
  if (changed.length > 0) throw new Error(`${changed.join(', ')} of ${old.id} changes`);
  const cancelled = superseded && entry.bakeStatus === 'Cancelled' && old.bakeStatus !== 'Cancelled';
  if (entry.message !== old.message && !cancelled) throw new Error(`message of ${old.id} changes`);
  if (!FINISHED.includes(old.bakeStatus ?? '') || entry.bakeStatus === old.bakeStatus) return;
  const again = entry.bakeStatus === 'Deploying';
  const retried = entry.bakeStatus === 'Succeeded' || entry.lastRetryTimestamp !== old.lastRetryTimestamp;
  if (!again && !(old.bakeStatus === 'Failed' && retried))
    throw new Error(`${old.bakeStatus} becomes ${entry.bakeStatus}`);
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
