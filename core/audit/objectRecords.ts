/** Audit records from objects: from histories, and from the webhook's records of authenticated users. */
import { ACCEPTED_REQUEST, LISTED } from '../../api/annotations.ts';
import { GOVERNED_KINDS, type KindName } from '../../api/kinds.ts';
import type { EpochMs, KubeObject, ObjectName } from '../../api/kubernetes.ts';
import type { Budget, Gate, HistoryEntry, Rollout, RolloutGate } from '../../api/types.ts';
import {
  APPROVAL_KEYS,
  type ApprovalKeys,
  type FieldChange,
  fieldName,
  recordedOn,
} from '../approval/approvalRecord.ts';
import { givenReason } from '../gate/bypassReason.ts';
import { type GateRequest, parseAcceptedRequests } from '../gate/gateRequests.ts';
import { withoutEmpty } from '../kube/json.ts';
import { identityOf } from '../kube/names.ts';
import { formatTime } from '../kube/time.ts';
import { parseListed } from '../record/listRecord.ts';
import { pinRecordOf, scheduledBy } from '../record/pinAndSchedule.ts';
import type { AuditRecord, DeploymentChange } from './auditRecord.ts';

export type AuditedObject = KubeObject<any, any>;

/** The kinds whose objects hold records. */
export const AUDITED_KINDS: readonly KindName[] = [
  'Rollout',
  'RolloutGate',
  'Gate',
  'RolloutBudget',
  'ClusterRolloutBudget',
  ...GOVERNED_KINDS.map(({ kind }) => kind),
];

export function recordsOfObject(object: AuditedObject, now: EpochMs): AuditRecord[] {
  switch (object.kind) {
    case 'Rollout':
      return recordsOfRollout(object as Rollout);
    case 'RolloutGate':
      return recordsOfRolloutGate(object as RolloutGate);
    case 'Gate':
      return recordsOfGate(object as Gate, now);
    case 'RolloutBudget':
    case 'ClusterRolloutBudget':
      return recordsOfBudget(object as Budget);
    default:
      return bypassRecords(object);
  }
}

function recordsOfRollout(rollout: Rollout): AuditRecord[] {
  const object = refOf(rollout);
  const pin = pinRecordOf(rollout);
  const pinned: AuditRecord[] = pin
    ? [
        {
          time: pin.at,
          action: pin.version === undefined ? 'Unpinned' : 'Pinned',
          object,
          user: pin.by,
          sources: ['Object'],
          ...withoutEmpty({ version: pin.version ?? pin.from, reason: pin.reason }),
        },
      ]
    : [];
  const history = rollout.status?.history ?? [];
  const deployments = history.flatMap((entry, index) => recordsOfDeployment(entry, changeOf(history, index), object));
  return [...deployments, ...pinned, ...bypassRecords(rollout)];
}

/**
 * The relation of the deployment to earlier ones. A version that the history has dropped counts as an upgrade if it is
 * deployed again.
 */
function changeOf(history: readonly HistoryEntry[], index: number): DeploymentChange {
  const entry = history[index]!;
  const before = history[index + 1];
  if (entry.rolledBackFrom !== undefined) return 'Rollback';
  if (!before) return (entry.id ?? 1) > 1 ? 'Upgrade' : 'First';
  const first = (tag: string) => history.findLastIndex(({ version }) => version.tag === tag);
  return first(entry.version.tag) > first(before.version.tag) ? 'Rollback' : 'Upgrade';
}

function recordsOfDeployment(entry: HistoryEntry, change: DeploymentChange, object: ObjectName): AuditRecord[] {
  const { version, timestamp, requestedBy, reason, message, approvals = [], bypass } = entry;
  const deployed: AuditRecord = {
    time: timestamp,
    action: 'Deployed',
    object,
    version: version.tag,
    change,
    sources: ['History'],
    ...withoutEmpty({
      digest: version.digest,
      user: requestedBy,
      reason: reason ?? (requestedBy ? message : undefined),
      detail: entry.bakeStatus,
    }),
  };
  const approved = approvals.map(({ gate, kind, at, by, reason: why }): AuditRecord => {
    const [namespace = '', name = ''] = gate.includes('/') ? gate.split('/') : [object.namespace, gate];
    const isVote = kind === 'RolloutGate';
    return {
      time: at,
      action: isVote ? 'Approved' : 'Opened',
      object: { kind: kind ?? 'Gate', namespace, name },
      sources: ['History'],
      // The record has no version: a Gate opens for every Rollout, so fifty histories may list one opening.
      ...withoutEmpty({ user: by, reason: why, version: isVote ? version.tag : undefined }),
    };
  });
  const bypassed: AuditRecord[] = bypass
    ? [
        {
          time: bypass.at,
          action: 'Bypassed',
          object,
          user: bypass.by,
          version: version.tag,
          reason: bypass.reason,
          detail: bypass.gates.join(', '),
          sources: ['History'],
        },
      ]
    : [];
  return [deployed, ...approved, ...bypassed];
}

function recordsOfRolloutGate(gate: RolloutGate): AuditRecord[] {
  const object = refOf(gate);
  const listed = parseListed(gate.metadata.annotations?.[LISTED]).map(
    ({ field, version, by, at, reason }): AuditRecord => ({
      time: formatTime(at),
      action: LIST_ACTIONS[field] ?? ((gate.spec?.passing ?? true) ? 'Opened' : 'Closed'),
      object,
      user: by,
      sources: ['Object'],
      ...withoutEmpty({ version, reason }),
    }),
  );
  return [...recordsOfApprovals(gate, APPROVAL_KEYS.RolloutGate), ...listed];
}

const LIST_ACTIONS: Record<string, 'Allowed' | 'Rejected'> = {
  allowedVersions: 'Allowed',
  rejectedVersions: 'Rejected',
};

function recordsOfGate(gate: Gate, now: EpochMs): AuditRecord[] {
  const object = refOf(gate);
  const { current, planned, exception } = parseAcceptedRequests(gate.metadata.annotations?.[ACCEPTED_REQUEST]) ?? {};
  const requested = ({ action, at, by, reason, for: version }: GateRequest, isPlan: boolean): AuditRecord => {
    const [done, plan] =
      action === 'open' ? (['Opened', 'OpenPlanned'] as const) : (['Closed', 'ClosePlanned'] as const);
    return {
      time: formatTime(at),
      action: isPlan ? plan : done,
      object,
      sources: ['Object'],
      ...withoutEmpty({ user: by, version, reason, detail: isPlan ? 'planned for this time' : undefined }),
    };
  };
  const calendar = scheduledBy(gate);
  return [
    // The current request is in effect, even if its user's clock is ahead.
    ...(current ? [requested(current, false)] : []),
    ...[planned, exception].flatMap((request) => (request ? [requested(request, request.at > now)] : [])),
    ...recordsOfApprovals(gate, APPROVAL_KEYS.Gate),
    ...(calendar
      ? [
          {
            time: calendar.at,
            action: 'RuleChanged' as const,
            object,
            user: calendar.by,
            detail: 'spec.schedule',
            sources: ['Object' as const],
            ...withoutEmpty({ reason: calendar.reason }),
          },
        ]
      : []),
    ...bypassRecords(gate),
  ];
}

function recordsOfApprovals(gate: Gate | RolloutGate, keys: ApprovalKeys): AuditRecord[] {
  const object = refOf(gate);
  const { given, changes } = recordedOn(gate, keys);
  const approved = given.map(
    ({ version, rollout, by, at, reason }): AuditRecord => ({
      time: formatTime(at),
      action: 'Approved',
      object,
      user: by,
      version: rollout === undefined ? version : `${rollout}:${version}`,
      sources: ['Object'],
      ...withoutEmpty({ reason }),
    }),
  );
  const changed = changes.map(
    ({ by, at, fields, progress }): AuditRecord => ({
      time: formatTime(at),
      action: 'RuleChanged',
      object,
      user: by,
      detail: [...fields.map(fieldText), ...(progress ? [`with ${progress}`] : [])].join(', '),
      sources: ['Object'],
    }),
  );
  return [...approved, ...changed];
}

function fieldText({ path, from, to }: FieldChange): string {
  return `${fieldName(path)}: ${from ?? 'none'} → ${to ?? 'none'}`;
}

function recordsOfBudget(budget: Budget): AuditRecord[] {
  return (budget.status?.versions ?? []).flatMap(({ version, continuedBy, continuedAt }) =>
    continuedBy && continuedAt
      ? [
          {
            time: continuedAt,
            action: 'Continued' as const,
            object: refOf(budget),
            user: continuedBy,
            version,
            sources: ['Object' as const],
          },
        ]
      : [],
  );
}

/** The record of the newest bypass of the object; empty without one. */
function bypassRecords(object: AuditedObject): AuditRecord[] {
  const given = givenReason(object);
  if (!given) return [];
  const { by, at, reason } = given;
  return [{ time: formatTime(at), action: 'Bypassed', object: refOf(object), user: by, reason, sources: ['Object'] }];
}

export function refOf(object: AuditedObject): ObjectName {
  return { kind: object.kind ?? '', ...identityOf(object) };
}
