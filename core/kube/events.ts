/** Kubernetes Events that a sync records, each once even if the sync is repeated. */
import type { AnyObject, EpochMs } from '../../api/kubernetes.ts';
import type { EventRecord } from '../../api/ports.ts';
import type { CommandLine } from '../text/commands.ts';

/** The order of the Events of a RolloutGate or Gate, or of a Rollout: the first letter of `NewEvent.order`. */
export const ORDER = {
  changeOfRule: 'a',
  gateRequest: 'a',
  approval: 'b',
  gateState: 'b',
  enoughApprovals: 'c',
  rolloutStatus: 'c',
  deployment: 'd',
} as const;

export interface NewEvent {
  type: 'Normal' | 'Warning';
  reason: string;
  message: string;
  /** Commands below the message, each on a line of its own. */
  commands?: readonly CommandLine[];
  /** Identifies the occurrence: each object has one Event per reason and `about`. */
  about?: string;
  /**
   * Sort key among the Events of one object in the same second; equal for equal occurrences, whatever the message.
   * The key begins with a letter of `ORDER`.
   */
  order?: string;
  /** The version, if the Event is about one deployment. */
  version?: string;
  /** Whether no notification is sent. */
  quiet?: boolean;
  /** The text for readers in other namespaces. */
  forOthers?: string;
}

/**
 * The Event to record, with a key that is the same for a repeated decision.
 * @param defaultAbout `about` of an Event that has none
 */
export function eventRecord(
  { about, commands, ...event }: NewEvent,
  regarding: AnyObject,
  at: EpochMs,
  defaultAbout = '',
): EventRecord {
  const key = [regarding.metadata.uid, event.reason, about ?? defaultAbout].join('/');
  return { ...event, ...(commands?.length && { commands }), regarding, key, at };
}
