/** The deletion of a Gate or RolloutGate with approvals. */
import type { AdmissionRequest } from '../api/admission.ts';
import { KINDS, resourceOf } from '../api/kinds.ts';
import type { AnyObject, ObjectName } from '../api/kubernetes.ts';
import type { WebhookCall } from '../api/ports.ts';
import { APPROVAL_KEYS, type Approvable, recordedOn } from '../core/approval/approvalRecord.ts';
import { deletionEvent, ruleChangeEvents } from '../core/approval/ruleChange.ts';
import { eventRecord } from '../core/kube/events.ts';
import { identityOf } from '../core/kube/names.ts';
import { isSystemDeleter } from '../core/kube/users.ts';

/**
 * Records the deletion of a Gate or RolloutGate with approvals as Events with the user, once the object is gone. The
 * Events include the last changes of its rule, which its hook might not have seen. Not in a dry run. All values come
 * from the object as it is stored, because any client may send a request about any object.
 * @param about reads the object of the deletion's Event, and the objects that report it
 */
export async function recordDeletion<Stored extends Approvable>(
  kind: keyof typeof APPROVAL_KEYS,
  deleted: Stored,
  about: (stored: Stored) => Promise<{ regarding: AnyObject; involvedObjects: readonly ObjectName[] }>,
  { dryRun, userInfo }: AdmissionRequest,
  { cluster, events, now, settings }: WebhookCall,
): Promise<void> {
  if (dryRun || isSystemDeleter(userInfo.username)) return;
  const { uid } = deleted.metadata;
  const ref = { ...resourceOf(KINDS[kind]), ...identityOf(deleted) };
  const stored = await cluster.get<Stored>(ref);
  if (!stored || stored.metadata.uid !== uid) return;
  const { approvals } = stored.spec ?? {};
  const before = stored.status?.approvals;
  const kept = recordedOn(stored, APPROVAL_KEYS[kind]);
  const changes = ruleChangeEvents(before, before?.required, kept, now).map((event) => eventRecord(event, stored, now));
  if (!approvals && changes.length === 0) return;
  const by = settings.authenticatesCallers ? userInfo.username : undefined;
  const { regarding, involvedObjects } = await about(stored);
  const what = `${stored.kind} '${stored.metadata.name}'`;
  const deletion = approvals && deletionEvent(what, uid, approvals, before, by);
  const records = deletion ? [...changes, eventRecord(deletion, regarding, now)] : changes;
  for (const each of records) events.recordWhen({ ...each, involvedObjects }, { object: ref, uid, gone: true });
}
