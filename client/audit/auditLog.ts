/** Records from the API server's audit log (audit.k8s.io/v1, a JSON object a line): every write, with its user. */
import * as annotation from '../../api/annotations.ts';
import { GOVERNED_KINDS, KINDS, type KindName } from '../../api/kinds.ts';
import { APPROVAL_KEYS } from '../../core/approval/approvalRecord.ts';
import type { AuditAction, AuditRecord } from '../../core/audit/auditRecord.ts';
import { isMap, withoutEmpty } from '../../core/kube/json.ts';
import { parseTime } from '../../core/kube/time.ts';
import type { AuditGap } from './auditReport.ts';

/** The kinds that set rules. Of governed Flux kinds only annotations for Gates count. */
const RULE_KINDS: readonly KindName[] = [
  'Rollout',
  'RolloutGate',
  'Gate',
  'RolloutSchedule',
  'ClusterRolloutSchedule',
  'RolloutBudget',
  'ClusterRolloutBudget',
  'HealthCheck',
  'MetricProvider',
];
const GOVERNED: readonly KindName[] = GOVERNED_KINDS.map(({ kind }) => kind);
const KIND_BY_RESOURCE = new Map(
  [...RULE_KINDS, ...GOVERNED].map((kind) => [`${KINDS[kind].group}/${KINDS[kind].resource}`, kind]),
);

/** The users of controllers, the cluster's and our own, whose writes carry out other users' decisions. */
const CONTROLLERS = /^system:(kube-|node:|apiserver|serviceaccount:(kube-system|metacontroller|rollout-hooks):)/;

const WRITES = new Set(['create', 'update', 'patch', 'delete', 'deletecollection']);

interface Act {
  action: AuditAction;
  version?: string | undefined;
  reason?: string | undefined;
  detail?: string | undefined;
}

type Annotations = Readonly<Record<string, string>>;

type RequestRow = readonly [key: string, act: (value: string, all: Annotations) => Act];

/** The actions that annotations request when a write sets them. */
const REQUESTS: readonly RequestRow[] = [
  [
    annotation.OPEN_REQUESTED_AT,
    (_, all) => ({ action: 'Opened', version: all[annotation.OPEN_FOR], reason: all[annotation.OPEN_REASON] }),
  ],
  [annotation.CLOSE_REQUESTED_AT, (_, all) => ({ action: 'Closed', reason: all[annotation.CLOSE_REASON] })],
  ...Object.values(APPROVAL_KEYS).flatMap<RequestRow>(({ approve, unapprove, reason }) => [
    [approve, (version, all) => ({ action: 'Approved', version, reason: all[reason] })],
    [unapprove, (version) => ({ action: 'ApprovalWithdrawn', version })],
  ]),
  [
    annotation.FORCE_DEPLOY,
    (version, all) => ({ action: 'Requested', version, reason: all[annotation.DEPLOY_MESSAGE] }),
  ],
  [annotation.BYPASS_ROLLOUT_GATES, (version) => ({ action: 'Bypassed', version, detail: 'RolloutGates' })],
  [annotation.BYPASS_REASON, (reason, all) => ({ action: 'Bypassed', version: all[annotation.BYPASS_FOR], reason })],
  [annotation.CONTINUE, (version) => ({ action: 'Continued', version })],
  [annotation.RETRY, () => ({ action: 'Requested', detail: 'retry' })],
  [annotation.UNBLOCK_FAILED, () => ({ action: 'Requested', detail: 'unblock-failed' })],
  [annotation.REQUIRED_GATES, (value) => ({ action: 'RuleChanged', detail: `${annotation.REQUIRED_GATES}: ${value}` })],
];

/** Collects records from the lines of one log, or of several logs in any order. */
export class AuditLog {
  readonly records: AuditRecord[] = [];
  #first: string | undefined;
  #unreadable = 0;
  #withoutContent = 0;

  add(line: string): void {
    if (line.trim() === '') return;
    let event: any;
    try {
      event = JSON.parse(line);
    } catch {
      event = undefined;
    }
    const time = event?.requestReceivedTimestamp;
    if (!isMap(event) || typeof time !== 'string' || parseTime(time) === undefined) {
      this.#unreadable += 1;
      return;
    }
    if (this.#first === undefined || time < this.#first) this.#first = time;
    this.records.push(...this.#recordsOf(event, time));
  }

  /** The gaps of the log in the time from `since` on. */
  gaps(since: number): AuditGap[] {
    const begins = parseTime(this.#first);
    return [
      ...(begins === undefined ? [{ kind: 'AuditLogEmpty' as const }] : []),
      ...(begins !== undefined && begins > since ? [{ kind: 'AuditLogBegins' as const, at: this.#first! }] : []),
      ...(this.#withoutContent > 0 ? [{ kind: 'WritesWithoutContent' as const, count: this.#withoutContent }] : []),
      ...(this.#unreadable > 0 ? [{ kind: 'UnreadableLines' as const, count: this.#unreadable }] : []),
    ];
  }

  #recordsOf(event: any, time: string): AuditRecord[] {
    const { stage, verb, objectRef, responseStatus, requestURI = '', user, impersonatedUser } = event;
    const kind = KIND_BY_RESOURCE.get(`${objectRef?.apiGroup}/${objectRef?.resource}`);
    const isStored = stage === 'ResponseComplete' && WRITES.has(verb) && (responseStatus?.code ?? 500) < 300;
    if (!kind || !isStored || /[?&]dryRun=/.test(requestURI)) return [];
    const name = impersonatedUser?.username ?? user?.username;
    if (typeof name !== 'string' || CONTROLLERS.test(name)) return [];
    const body = event.requestObject;
    if (body === undefined && !verb.startsWith('delete')) this.#withoutContent += 1;
    const stored = event.responseObject?.metadata;
    return actsOf(kind, verb, objectRef, body).map(({ action, ...act }) => ({
      time,
      action,
      object: {
        kind,
        namespace: objectRef.namespace ?? '',
        name: objectRef.name ?? body?.metadata?.name ?? stored?.name ?? '',
      },
      user: name,
      sources: ['AuditLog'],
      ...withoutEmpty({ ...act, resourceVersion: stored?.resourceVersion ?? objectRef.resourceVersion }),
    }));
  }
}

function actsOf(kind: KindName, verb: string, { subresource }: { subresource?: string }, body: unknown): Act[] {
  const setsRules = RULE_KINDS.includes(kind);
  if (verb.startsWith('delete')) return [{ action: 'Deleted' }];
  if (subresource !== undefined) {
    return setsRules && subresource === 'status' ? [{ action: 'RuleChanged', detail: 'status' }] : [];
  }
  const { annotations, fields, isWhole } = parseBody(body);
  const requested = REQUESTS.flatMap(([key, act]) =>
    annotations[key] === undefined ? [] : [act(annotations[key], annotations)],
  );
  if (verb === 'create') return setsRules ? [{ action: 'Created' }, ...requested] : requested;
  if (!setsRules) return requested;
  // An update or an apply has every field, changed or not, so its annotations are no new requests.
  if (isWhole) return [{ action: 'RuleChanged', detail: 'the whole object' }];
  const pin = kind === 'Rollout' ? fields.find(({ path }) => path === 'spec.wantedVersion') : undefined;
  const others = fields.filter((field) => field !== pin);
  const pinned: Act[] = pin ? [pin.value ? { action: 'Pinned', version: pin.value } : { action: 'Unpinned' }] : [];
  const changed: Act[] =
    others.length > 0 ? [{ action: 'RuleChanged', detail: others.map(({ path }) => path).join(', ') }] : [];
  return [...requested, ...pinned, ...changed];
}

interface WrittenFields {
  annotations: Annotations;
  /** The fields of the spec that the write sets, one level deep; `value` if it is text. */
  fields: { path: string; value?: string }[];
  isWhole: boolean;
}

function parseBody(body: unknown): WrittenFields {
  if (Array.isArray(body)) return parseJsonPatch(body);
  if (!isMap(body)) return { annotations: {}, fields: [], isWhole: false };
  const { metadata, spec, apiVersion } = body as Record<string, any>;
  return {
    annotations: textsOf(metadata?.annotations),
    fields: isMap(spec) ? Object.entries(spec).map(([key, value]) => fieldOf(key, value)) : [],
    isWhole: apiVersion !== undefined,
  };
}

/** The fields that a JSON patch sets. */
function parseJsonPatch(operations: readonly any[]): WrittenFields {
  const annotations: Record<string, string> = {};
  const fields = new Map<string, { path: string; value?: string }>();
  for (const { path, value } of operations) {
    if (typeof path !== 'string') continue;
    const [, root, ...keys] = path.split('/').map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
    if (root === 'metadata' && keys[0] === 'annotations') {
      Object.assign(annotations, textsOf(keys.length === 1 ? value : { [keys[1]!]: value }));
    } else if (root === 'spec' && keys.length > 0) {
      fields.set(keys[0]!, fieldOf(keys[0]!, keys.length === 1 ? value : undefined));
    } else if (root === 'spec') {
      fields.set('', { path: 'spec' });
    }
  }
  return { annotations, fields: [...fields.values()], isWhole: false };
}

function fieldOf(key: string, value: unknown): { path: string; value?: string } {
  return { path: `spec.${key}`, ...(typeof value === 'string' && { value }) };
}

function textsOf(value: unknown): Record<string, string> {
  if (!isMap(value)) return {};
  return Object.fromEntries(
    Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}
