/** The API server's audit log: every write of our kinds and Flux's, with its receipt and its answer. */

import { type AuditEvent, auditEvents } from '../local/auditLog.ts';
import { indexWrites, type Writes } from '../oracle/writes.ts';

/** API groups whose writes are recorded. */
export const GROUPS = [
  'kuberik.com',
  'gating.toolkit.fluxcd.io',
  'kustomize.toolkit.fluxcd.io',
  'source.toolkit.fluxcd.io',
  'helm.toolkit.fluxcd.io',
  'image.toolkit.fluxcd.io',
];
const OURS = /^system:serviceaccount:(metacontroller:metacontroller|rollout-hooks:rollout-hooks)$/;
const WRITES = ['create', 'update', 'patch', 'delete', 'deletecollection'];

/** Audit rules: writes of these groups with their bodies, at the receipt and at the answer. */
export const AUDIT_RULES = [
  { level: 'RequestResponse', verbs: WRITES, resources: GROUPS.map((group) => ({ group })) },
  { level: 'Metadata', verbs: WRITES, omitStages: ['RequestReceived'] },
  { level: 'None' },
];

/** The writes in an audit log. Positions are line numbers. */
export interface AuditTrail extends Writes {
  /** Requests of Metacontroller and the hook server since a time, dry runs and refusals included, as `verb key`. */
  oursSince(ms: number): string[];
  writes: number;
  /** Number of writes that admission refused. */
  denials: number;
}

/** The key of the object in etcd. */
function keyOf({ apiGroup, resource, namespace, name }: Record<string, string | undefined>): string {
  return ['/registry', apiGroup, resource, namespace, name].filter((part) => part).join('/');
}

/** Reads an audit log. `bypasses`: times at which users bypassed Gates. */
export async function readAudit(file: string): Promise<AuditTrail & { bypasses: readonly number[] }> {
  const answered = indexWrites();
  const open = new Map<string, { key: string; at: number }>();
  /** Positions of answers with a higher revision than any before. */
  const shown: { at: number; revision: number }[] = [];
  const ours: { ms: number; text: string }[] = [];
  const counts = { writes: 0, denials: 0 };
  const bypasses: number[] = [];

  function take(event: AuditEvent, at: number): void {
    const { objectRef = {}, auditID } = event;
    if (event.stage === 'RequestReceived') {
      open.set(auditID, { key: keyOf(objectRef), at });
      return;
    }
    const receivedMs = Date.parse(event.requestReceivedTimestamp);
    if (OURS.test(event.user.username)) ours.push({ ms: receivedMs, text: `${event.verb} ${keyOf(objectRef)}` });
    const received = open.get(auditID)?.at ?? at;
    open.delete(auditID);
    const metadata = event.responseObject?.metadata;
    const code = event.responseStatus?.code ?? 0;
    const dryRun = /[?&]dryRun=All/.test(event.requestURI);
    counts.writes++;
    if (code === 403) counts.denials++;
    if (dryRun || code >= 300) return;
    const revision = Number(metadata?.resourceVersion) || undefined;
    if (revision && revision > (shown.at(-1)?.revision ?? 0)) shown.push({ at, revision });
    const key = keyOf({ ...objectRef, name: objectRef.name ?? metadata?.name });
    const bypass = Object.entries(event.annotations ?? {}).find(([name]) => name.endsWith('/bypass'))?.[1];
    if (bypass !== undefined) bypasses.push(receivedMs);
    answered.add(key, {
      user: event.user.username,
      verb: event.verb,
      code,
      receivedAt: received,
      receivedMs,
      answeredAt: at,
      answeredMs: Date.parse(event.stageTimestamp),
      ...(revision && { revision }),
      ...(bypass && { bypass }),
      ...(Object.keys(event.annotations ?? {}).some((name) => name.startsWith('failed-open.')) && {
        isUngoverned: true,
      }),
      // Only an apply has `force` in its query.
      ...(/[?&]force=/.test(event.requestURI) && { isApply: true }),
      ...(event.requestObject?.metadata?.annotations && { annotations: event.requestObject.metadata.annotations }),
    });
  }

  let at = 0;
  for await (const event of auditEvents(file)) {
    if (event && GROUPS.includes(event.objectRef?.apiGroup ?? '') && WRITES.includes(event.verb)) take(event, at);
    at++;
  }

  return {
    ...counts,
    bypasses,
    oursSince: (ms) => ours.filter((write) => write.ms >= ms).map(({ text }) => text),
    of: answered.of,
    writerOf: answered.writerOf,
    unanswered: (key) => [...open.values()].flatMap((request) => (request.key === key ? [request.at] : [])),
    shownAt: (revision) => shown.find((place) => place.revision >= revision)?.at ?? Number.POSITIVE_INFINITY,
  };
}
