/** Events in the format of Flux's notification-controller, `event.toolkit.fluxcd.io/v1beta1`. */
import { createHash } from 'node:crypto';
import { apiVersionOf, KINDS, type KindName } from '../../api/kinds.ts';
import type { ObjectName } from '../../api/kubernetes.ts';
import { EVENT_COMPONENT, NOTIFIED, type Severity } from '../../api/notifications.ts';
import type { EventRecord } from '../../api/ports.ts';
import { formatTime } from '../../core/kube/time.ts';
import { type CommandLine, withCommands } from '../../core/text/commands.ts';
import { oneLine } from '../../core/text/oneLine.ts';

/** The longest message: it may be read in a chat. */
const MAX_MESSAGE_CHARACTERS = 2048;

export interface FluxEvent {
  involvedObject: ObjectName & { apiVersion: string; uid?: string };
  severity: Severity;
  timestamp: string;
  message: string;
  reason: string;
  metadata: Record<string, string>;
  reportingController: string;
  reportingInstance: string;
}

/** Whether a notification is sent. */
export function isReported({ reason, quiet }: EventRecord): boolean {
  return Object.hasOwn(NOTIFIED, reason) && !quiet;
}

/**
 * The Event's own object, for Alerts whose CRD allows its kind; empty for a cluster-scoped object, which an Alert can't
 * name.
 */
export function ownObject({ regarding: { kind, metadata } }: EventRecord): ObjectName[] {
  const { namespace, name } = metadata;
  return kind && namespace && name ? [{ kind, namespace, name }] : [];
}

/** The event as reported by `object`; undefined if readers of that object must not see the text. */
export function fluxEventOf(record: EventRecord, object: ObjectName, instance: string): FluxEvent | undefined {
  const { regarding, type, reason, key, at, version } = record;
  const { namespace, name = '', uid } = regarding.metadata;
  const text = object.namespace === namespace ? record.message : record.forOthers;
  if (text === undefined) return undefined;
  const isItself = object.kind === regarding.kind && object.name === name;
  const about = isItself ? '' : `${regarding.kind} ${namespace ? `${namespace}/` : ''}${name} `;
  const { group } = KINDS[object.kind as KindName];
  return {
    involvedObject: {
      apiVersion: apiVersionOf(KINDS[object.kind as KindName]),
      ...object,
      ...(isItself && uid && { uid }),
    },
    severity: type === 'Warning' ? (NOTIFIED[reason] ?? 'info') : 'info',
    timestamp: formatTime(at),
    // The message includes the reason, because an Alert can filter by the message only.
    message: withCommands(plainText(`${about}${reason}: ${text}`), ...commandsOf(record, object)),
    reason,
    // Keys need the group of the object, or notification-controller drops them.
    metadata: {
      ...(!isItself && { [`${group}/${regarding.kind?.toLowerCase()}`]: name }),
      ...(version && { [`${group}/version`]: version }),
      // Two events with the same text would count as one within five minutes.
      [`${group}/token`]: createHash('sha256').update(key).digest('hex').slice(0, 16),
    },
    reportingController: EVENT_COMPONENT,
    reportingInstance: instance,
  };
}

/** The commands, for readers in the object's own namespace. */
function commandsOf({ regarding, commands = [] }: EventRecord, { namespace }: ObjectName): readonly CommandLine[] {
  return namespace === regarding.metadata.namespace ? commands : [];
}

/** The text without markup: a user's text must not become a mention (`<!channel>`), link or picture in a chat. */
function plainText(text: string): string {
  const short = text.length <= MAX_MESSAGE_CHARACTERS ? text : `${text.slice(0, MAX_MESSAGE_CHARACTERS - 1)}…`;
  return oneLine(short)
    .replaceAll('<', '‹')
    .replaceAll('>', '›')
    .replaceAll('](', '] (')
    .replace(/@(?=here|channel|everyone|all)/gi, '@\u200b');
}
