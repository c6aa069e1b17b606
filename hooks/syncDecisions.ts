/** Log lines of a sync: the changes in its answer that have no Event, and at level debug why nothing changes. */
import { READY } from '../api/conditions.ts';
import type { LoggedReason } from '../api/decisions.ts';
import type { AnyObject } from '../api/kubernetes.ts';
import type { CompositeResponse, DecoratorResponse, ObjectMap } from '../api/metacontroller.ts';
import type { DebugLine, LoggedDecision, Subject } from '../api/ports.ts';
import type { HealthCheck } from '../api/types.ts';
import { isMap, sameJson } from '../core/kube/json.ts';
import { groupOf, identityOf } from '../core/kube/names.ts';
import { objectAt } from '../core/kube/objectMap.ts';

export interface Sync {
  /** The hook's name. */
  hook: string;
  /** The parent of a composite or the object of a decorator, as Metacontroller sent it. */
  subject: AnyObject;
  /** The children or attachments that exist. */
  observed: ObjectMap;
  answer: CompositeResponse<any> | DecoratorResponse<any>;
}

const subjectOf = (object: AnyObject): Subject => ({ kind: object.kind, ...identityOf(object) });

/**
 * The log lines about what a sync changes. Changes of Rollouts, Gates, budgets and approvals have Events, which
 * server/decisionLog.ts logs.
 */
export function syncDecisions(sync: Sync): LoggedDecision[] {
  const changes = SYNC_DECISIONS[sync.hook]?.(sync) ?? [];
  const { uid = '', resourceVersion = '' } = sync.subject.metadata;
  return changes.map(({ reason, message }) => ({
    ...subjectOf(sync.subject),
    reason,
    message,
    key: `sync ${JSON.stringify([uid, resourceVersion, reason, message])}`,
  }));
}

interface LoggedChange {
  reason: LoggedReason;
  message: string;
}

const SYNC_DECISIONS: Readonly<Record<string, (sync: Sync) => LoggedChange[]>> = {
  healthcheck: healthChange,
  'rollout-requests': usedRequests,
  rolloutschedule: scheduleChange,
  clusterrolloutschedule: scheduleChange,
};

function healthChange({ subject, answer }: Sync): LoggedChange[] {
  const before = (subject as HealthCheck).status?.status;
  const { status, message = '' } = answer.status ?? {};
  if (status === undefined || status === before) return [];
  return [
    {
      reason: 'HealthChanged',
      message: `${status} (before: ${typeof before === 'string' ? before : 'unknown'})${message && `: ${message}`}`,
    },
  ];
}

function usedRequests({ answer }: Sync): LoggedChange[] {
  const { annotations = {} } = answer as DecoratorResponse;
  const used = Object.keys(annotations).filter((key) => annotations[key] === null);
  return used.map((key) => ({ reason: 'RequestUsed', message: `${key} took effect and is removed` }));
}

function scheduleChange({ subject, answer }: Sync): LoggedChange[] {
  const [before, after] = [subject.status ?? {}, answer.status ?? {}];
  if (before.conditions && sameJson(before.activeRules ?? [], after.activeRules ?? [])) return [];
  const rules = after.activeRules?.length ? `rules ${after.activeRules.join(', ')} are active` : 'no rule is active';
  return [{ reason: 'ScheduleChanged', message: `${rules}: ${messageOf(after, READY)}` }];
}

/** The line at level debug: what the sync changes, and the conditions, which explain why nothing changes. */
export function syncDebugLine({ hook, subject, observed, answer }: Sync): DebugLine {
  const { labels = {}, annotations = {}, status, resyncAfterSeconds } = answer as DecoratorResponse<any>;
  const objects = 'children' in answer ? answer.children : answer.attachments;
  const isStatusNew = status !== undefined && status !== null && !sameJson(status, subject.status ?? {});
  const changes = [
    ...(isStatusNew ? ['status'] : []),
    ...[...Object.keys(annotations), ...Object.keys(labels)].sort(),
    ...objects.filter((object) => isNew(object, observed)).map(({ kind, metadata }) => `${kind} ${metadata.name}`),
  ];
  const why = conditionsText(status ?? subject.status);
  return {
    ...subjectOf(subject),
    hook,
    ...(changes.length > 0 && { changes: changes.slice(0, MAX_ITEMS_IN_LINE) }),
    ...(why && { conditions: why }),
    resyncAfterSeconds,
    message: changes.length > 0 ? 'sync: changes' : 'sync: nothing changes',
  };
}

const MAX_ITEMS_IN_LINE = 20;

function isNew(wanted: AnyObject, observed: ObjectMap): boolean {
  const { kind, apiVersion, metadata, spec } = wanted;
  const found: AnyObject | undefined = objectAt(
    observed,
    { group: groupOf(apiVersion), kind },
    metadata.namespace,
    metadata.name ?? '',
  );
  return found === undefined || (spec !== undefined && !sameJson(spec, found.spec));
}

/** `Ready=False GateClosed: …; GatesPassing=False GateClosed: …` */
function conditionsText(status: { conditions?: unknown } | undefined): string {
  const { conditions } = status ?? {};
  if (!Array.isArray(conditions)) return '';
  const text = (value: unknown) => (typeof value === 'string' ? value : '?');
  return conditions
    .filter(isMap)
    .slice(0, MAX_ITEMS_IN_LINE)
    .map(({ type, status, reason, message }) => `${text(type)}=${text(status)} ${text(reason)}: ${text(message)}`)
    .join('; ');
}

function messageOf(status: { conditions?: { type: string; message: string }[] }, type: string): string {
  return status.conditions?.find((each) => each.type === type)?.message ?? '';
}
