/**
 * Audit records from Kubernetes Events.
 * An Event has no field for the user, and any creator of Events can forge one: other sources take precedence.
 */
import { EVENT_VERSION } from '../../api/annotations.ts';
import type { KubeObject } from '../../api/kubernetes.ts';
import { EVENT_COMPONENT } from '../../api/notifications.ts';
import { isLegalTag } from '../kube/tag.ts';
import { parseTime } from '../kube/time.ts';
import { oneLine } from '../text/oneLine.ts';
import type { AuditAction, AuditRecord } from './auditRecord.ts';
import { AUDITED_KINDS } from './objectRecords.ts';

/** An Event of core/v1, as the API server lists it. */
export interface CoreEvent extends KubeObject<any, any> {
  involvedObject: { kind?: string; namespace?: string; name?: string; resourceVersion?: string };
  type?: string;
  reason?: string;
  message?: string;
  firstTimestamp?: string | null;
  lastTimestamp?: string | null;
  /** Set by reporters that leave the other times empty. */
  eventTime?: string | null;
  count?: number;
  source?: { component?: string };
  reportingComponent?: string;
}

/** The actions by the reasons of Events. Events with other reasons report states. */
const ACTIONS: Readonly<Record<string, AuditAction>> = {
  DeploymentSucceeded: 'Deployed',
  DeploymentAdopted: 'Deployed',
  AutomaticRollback: 'Deployed',
  ReleaseRejected: 'Rejected',
  GatesBypassed: 'Bypassed',
  GateBypassed: 'Bypassed',
  OpenRequested: 'Opened',
  OpenPlanned: 'OpenPlanned',
  CloseRequested: 'Closed',
  ClosePlanned: 'ClosePlanned',
  Approved: 'Approved',
  ApprovalWithdrawn: 'ApprovalWithdrawn',
  ApprovalsChanged: 'RuleChanged',
  VersionContinued: 'Continued',
};

const NAME = /^[a-z0-9][a-z0-9.-]{0,252}$/;
/** Accepts longer values than any API server has returned. */
const RESOURCE_VERSION = /^\d{1,20}$/;

/** The records of an Event; none for one that we can't have written, whose values could break a sink. */
export function recordsOfEvent(event: CoreEvent): AuditRecord[] {
  const { metadata, involvedObject, reason, message, firstTimestamp, source } = event;
  const action = Object.hasOwn(ACTIONS, reason ?? '') ? ACTIONS[reason!] : undefined;
  if (!action || !firstTimestamp || source?.component !== EVENT_COMPONENT) return [];
  const { kind = '', namespace = '', name = '', resourceVersion = '' } = involvedObject;
  const isOurs =
    AUDITED_KINDS.some((each) => each === kind) && NAME.test(name) && /^$|^[a-z0-9-]{1,63}$/.test(namespace);
  if (!isOurs || parseTime(firstTimestamp) === undefined) return [];
  const version = metadata?.annotations?.[EVENT_VERSION];
  return [
    {
      time: firstTimestamp,
      action,
      object: { kind, namespace, name },
      ...(version !== undefined && isLegalTag(version) && { version }),
      ...(message && { detail: oneLine(message) }),
      ...(RESOURCE_VERSION.test(resourceVersion) && { resourceVersion }),
      sources: ['Event'],
    },
  ];
}
