/** Kubernetes Events that a sync requests. A repeated sync records none twice. */
import type { AnyObject, EpochMs } from '../../api/kubernetes.ts';
import type { EventRecord } from '../../api/ports.ts';
import type { CommandLine } from '../text/commands.ts';

export interface NewEvent {
  type: 'Normal' | 'Warning';
  reason: string;
  message: string;
  /** Commands below the message, each on a line of its own. */
  commands?: readonly CommandLine[];
  /** Which occurrence this is: each object has one Event per reason and `about`. */
  about?: string;
  /**
   * Sort key among the Events of its object in the same second. It follows from the other fields without the message.
   */
  order?: string;
  /** The version it is about, if it is about one deployment. */
  version?: string;
  /** Recorded as an Event only: no notification is sent. */
  quiet?: boolean;
  /** The text for readers in other namespaces. */
  forOthers?: string;
}

/** @param otherwise is used if the event does not say what it is about */
export function eventRecord(
  { about, commands, ...event }: NewEvent,
  regarding: AnyObject,
  at: EpochMs,
  otherwise = '',
): EventRecord {
  const key = [regarding.metadata.uid, event.reason, about ?? otherwise].join('/');
  return { ...event, ...(commands?.length && { commands }), regarding, key, at };
}
