/** Audit records as CloudEvents 1.0; a deployment is a CDEvent. */
import type { EpochMs } from '../../api/kubernetes.ts';
import { shortHash } from '../kube/names.ts';
import { formatTime } from '../kube/time.ts';
import type { AuditRecord, DeploymentChange } from './auditRecord.ts';

/** A CloudEvent in structured mode. */
export interface CloudEvent {
  specversion: '1.0';
  /** The action's id: the same from every object that records the action, in every process and after every restart. */
  id: string;
  source: string;
  type: string;
  subject: string;
  time: string;
  datacontenttype: 'application/json';
  data: object;
}

const CDEVENTS_VERSION = '0.5.1';
const CDEVENTS: Record<DeploymentChange, string> = {
  First: 'dev.cdevents.service.deployed.0.3.0',
  Upgrade: 'dev.cdevents.service.upgraded.0.3.0',
  Rollback: 'dev.cdevents.service.rolledback.0.3.0',
};
/** The prefix of types that CDEvents does not have; the action follows. */
const OWN_TYPE = 'com.kuberik.audit.';

/** The most characters of a reason or detail: receivers need to accept no more than 64 KiB. */
const MAX_TEXT_CHARACTERS = 2048;

/**
 * The CloudEvent of a record.
 * @param source names the cluster: a URI reference
 */
export function cloudEventOf(record: AuditRecord, source: string): CloudEvent {
  const { action, object, time, version = '', change, digest } = record;
  const subject = [object.kind, object.namespace, object.name].filter(Boolean).join('/');
  const id = shortHash(JSON.stringify(idPartsOf(record)));
  const data = stableContent(record);
  if (!change) return envelope({ id, source, type: `${OWN_TYPE}${action}`, subject, time, data });
  const type = CDEVENTS[change];
  const artifact = `pkg:oci/${object.name}${digest ? `@${encodeURIComponent(digest)}` : ''}?tag=${version}`;
  const cdEvent = {
    context: { specversion: CDEVENTS_VERSION, id, source, type, timestamp: time },
    subject: { id: subject, content: { environment: { id: object.namespace }, artifactId: artifact } },
    customData: data,
    customDataContentType: 'application/json',
  };
  return envelope({ id, source, type, subject, time, data: cdEvent });
}

/** A time in which a kind wasn't watched: records that its objects dropped in that time were not sent. */
interface UnwatchedTime {
  kind: string;
  /** Absent if the kind was never watched before. */
  from?: EpochMs;
  to: EpochMs;
}

export function gapEventOf({ kind, from, to }: UnwatchedTime, source: string): CloudEvent {
  const [since, until] = [from === undefined ? undefined : formatTime(from), formatTime(to)];
  return envelope({
    id: shortHash(JSON.stringify(['Gap', kind, since, until])),
    source,
    type: `${OWN_TYPE}Gap`,
    subject: kind,
    time: until,
    data: { kind, ...(since !== undefined && { from: since }), to: until },
  });
}

function envelope(event: Omit<CloudEvent, 'specversion' | 'datacontenttype'>): CloudEvent {
  return { specversion: '1.0', ...event, datacontenttype: 'application/json' };
}

/**
 * The fields that identify an action. They exclude source and texts: a Gate and fifty histories may record the same
 * opening.
 */
function idPartsOf({ time, action, object, user, version, detail }: AuditRecord): unknown[] {
  const { kind, namespace, name } = object;
  // A Rollout's history lacks the version of an opening, so two openings by one user in one second count as one.
  const about = action === 'Opened' || action === 'Closed' ? undefined : version;
  // One write may change several rules, and an Event names the user only in its text.
  const needsDetail = action === 'RuleChanged' || (user === undefined && action !== 'Deployed');
  return [time, action, kind, namespace, name, user, about, needsDetail ? detail : undefined];
}

/** The record with shortened texts and without the deployment's progress, so that one id always has one content. */
function stableContent({ detail, ...record }: AuditRecord): AuditRecord {
  return {
    ...record,
    ...(record.reason !== undefined && { reason: record.reason.slice(0, MAX_TEXT_CHARACTERS) }),
    ...(detail !== undefined && record.action !== 'Deployed' && { detail: detail.slice(0, MAX_TEXT_CHARACTERS) }),
  };
}
