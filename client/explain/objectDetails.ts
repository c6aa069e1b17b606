/** Details of an object beside its explanation: conditions, Events, applied objects, and its Rollouts. */
import { KINDS } from '../../api/kinds.ts';
import type { AnyObject, NamespacedName } from '../../api/kubernetes.ts';
import type { CoreEvent } from '../../core/audit/eventRecords.ts';
import { parseInventory } from '../../core/health/objects/inventory.ts';
import { isMap, withoutEmpty } from '../../core/kube/json.ts';
import { groupOf, identityOf } from '../../core/kube/names.ts';
import { rolloutsOfObject } from '../../core/managedField/managedFields.ts';

interface ConditionView {
  type: string;
  status: string;
  reason?: string;
  message?: string;
  since?: string;
}

interface EventView {
  isWarning: boolean;
  reason: string;
  message: string;
  at?: string;
  /** The number of occurrences, if there is more than one. */
  count?: number;
  /** The reporting controller. */
  by?: string;
}

interface AppliedObject extends NamespacedName {
  kind: string;
  /** Whether the kind is in the table of kinds, so that the page has a page for the object. */
  isKnown: boolean;
}

export interface ObjectDetails {
  /** The revision of the artifact that Flux has applied or fetched last. */
  revision?: string;
  /** The Rollouts that set its fields. */
  rollouts: NamespacedName[];
  conditions: ConditionView[];
  /** Events, newest first; absent if the reader can't list them. */
  events?: EventView[];
  /** The applied objects, at most MAX_INVENTORY; absent for a kind without an inventory. */
  inventory?: AppliedObject[];
  inventoryCount?: number;
}

const MAX_INVENTORY = 500;
const MAX_EVENTS = 50;

/** The details of an object. `events`: undefined if the reader can't list them. */
export function objectDetails(object: AnyObject, events: readonly CoreEvent[] | undefined): ObjectDetails {
  const { namespace } = identityOf(object);
  const status = isMap(object.status) ? object.status : {};
  const artifact = isMap(status.artifact) ? status.artifact : {};
  const entries = isMap(status.inventory) ? status.inventory.entries : undefined;
  const { resources } = parseInventory(entries);
  return {
    rollouts: rolloutsOfObject(object).map((name) => ({ namespace, name })),
    conditions: Array.isArray(status.conditions) ? status.conditions.filter(isMap).map(conditionView) : [],
    ...withoutEmpty({ revision: textOf(status.lastAppliedRevision) ?? textOf(artifact.revision) }),
    ...(events && { events: events.map(eventView).sort(newestFirst).slice(0, MAX_EVENTS) }),
    ...(Array.isArray(entries) && {
      inventory: resources.slice(0, MAX_INVENTORY).map(({ apiVersion, kind, ...ref }) => ({
        kind,
        ...ref,
        isKnown: Object.values(KINDS).some((row) => row.kind === kind && row.group === groupOf(apiVersion)),
      })),
      inventoryCount: entries.length,
    }),
  };
}

function conditionView({ type, status, reason, message, lastTransitionTime }: Record<string, unknown>): ConditionView {
  return {
    type: textOf(type) ?? '',
    status: textOf(status) ?? '',
    ...withoutEmpty({ reason: textOf(reason), message: textOf(message), since: textOf(lastTransitionTime) }),
  };
}

function eventView(event: CoreEvent): EventView {
  const { type, reason = '', message = '', source, reportingComponent, count = 1 } = event;
  const at = event.lastTimestamp ?? event.firstTimestamp ?? event.eventTime ?? event.metadata.creationTimestamp;
  return {
    isWarning: type === 'Warning',
    reason,
    message,
    ...withoutEmpty({ at: at ?? undefined, by: source?.component || reportingComponent }),
    ...(count > 1 && { count }),
  };
}

function newestFirst({ at: a = '' }: EventView, { at: b = '' }: EventView): number {
  return a < b ? 1 : a > b ? -1 : 0;
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
