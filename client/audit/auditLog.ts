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

/** The users of controllers, the cluster's and ours, whose writes carry out decisions of other users. */
const CONTROLLERS = /^system:(kube-|node:|apiserver|serviceaccount:(kube-system|metacontroller|rollout-hooks):)/;
/** Our own accounts. Their writes to Gates are the calls of pipelines to the receiver. */
const OWN = /^system:serviceaccount:rollout-hooks:/;

const isController = (user: string, kind: KindName) => CONTROLLERS.test(user) && !(kind === 'Gate' && OWN.test(user));

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
  #unclearPatches = 0;

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
      ...(this.#unclearPatches > 0 ? [{ kind: 'UnclearPatches' as const, count: this.#unclearPatches }] : []),
      ...(this.#unreadable > 0 ? [{ kind: 'UnreadableLines' as const, count: this.#unreadable }] : []),
    ];
  }

  #recordsOf(event: any, time: string): AuditRecord[] {
    const { stage, verb, objectRef, responseStatus, requestURI = '', user, impersonatedUser } = event;
    const kind = KIND_BY_RESOURCE.get(`${objectRef?.apiGroup}/${objectRef?.resource}`);
    const isStored = stage === 'ResponseComplete' && WRITES.has(verb) && (responseStatus?.code ?? 500) < 300;
    if (!kind || !isStored || /[?&]dryRun=/.test(requestURI)) return [];
    const [real, claimed] = [user?.username, impersonatedUser?.username];
    if (typeof real !== 'string') return [];
    if (claimed === undefined && isController(real, kind)) return [];
    // A user who impersonates a controller is named.
    const name = typeof claimed === 'string' && !isController(claimed, kind) ? claimed : real;
    const { requestObject: body, responseObject } = event;
    if (body === undefined && !verb.startsWith('delete')) this.#withoutContent += 1;
    const stored = responseObject?.metadata;
    const written = parseBody(body, verb, responseObject);
    if (written.isUnclear) this.#unclearPatches += 1;
    return actsOf(kind, verb, objectRef, written).map(({ action, ...act }) => ({
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

const WHOLE = 'the whole object';

function actsOf(
  kind: KindName,
  verb: string,
  { subresource }: { subresource?: string },
  { annotations, fields, isWhole }: WrittenFields,
): Act[] {
  const setsRules = RULE_KINDS.includes(kind);
  if (verb.startsWith('delete')) return [{ action: 'Deleted' }];
  if (subresource !== undefined) {
    return setsRules && subresource === 'status' ? [{ action: 'RuleChanged', detail: 'status' }] : [];
  }
  const requested = REQUESTS.flatMap(([key, act]) =>
    annotations[key] === undefined ? [] : [act(annotations[key], annotations)],
  );
  if (verb === 'create') return setsRules ? [{ action: 'Created' }, ...requested] : requested;
  // An update or an apply has every field, changed or not: its requests may be from an earlier write. A merge patch
  // that names its apiVersion looks the same.
  const acts = isWhole
    ? requested.map((act) => ({ ...act, detail: [act.detail, WHOLE].filter(Boolean).join(', ') }))
    : requested;
  if (!setsRules) return acts;
  if (isWhole) return [...acts, { action: 'RuleChanged', detail: WHOLE }];
  const pin =
    kind === 'Rollout' ? fields.find(({ path, isUnknown }) => path === 'spec.wantedVersion' && !isUnknown) : undefined;
  const others = fields.filter((field) => field !== pin);
  const pinned: Act[] = pin ? [pin.value ? { action: 'Pinned', version: pin.value } : { action: 'Unpinned' }] : [];
  const changed: Act[] =
    others.length > 0 ? [{ action: 'RuleChanged', detail: others.map(({ path }) => path).join(', ') }] : [];
  return [...acts, ...pinned, ...changed];
}

interface WrittenField {
  path: string;
  /** The value if it is text. */
  value?: string;
  /** Whether the log lacks the value. */
  isUnknown?: true;
}

interface WrittenFields {
  annotations: Annotations;
  /** The fields of the spec that the write sets, one level deep. */
  fields: WrittenField[];
  isWhole: boolean;
  /** Whether the write has an operation whose result the log lacks. */
  isUnclear: boolean;
}

/** @param stored the object after the write, if the log has it */
function parseBody(body: unknown, verb: string, stored: unknown): WrittenFields {
  if (Array.isArray(body)) return parseJsonPatch(body, stored);
  if (!isMap(body)) return { annotations: {}, fields: [], isWhole: false, isUnclear: false };
  const { metadata, spec, apiVersion } = body as Record<string, any>;
  return {
    annotations: textsOf(metadata?.annotations),
    fields: isMap(spec) ? Object.entries(spec).map(([key, value]) => fieldOf(key, value)) : [],
    isWhole: verb === 'update' || apiVersion !== undefined,
    isUnclear: false,
  };
}

/** The fields that a JSON patch sets. */
function parseJsonPatch(operations: readonly any[], stored: unknown): WrittenFields {
  const annotations: Record<string, string> = {};
  const fields = new Map<string, WrittenField>();
  let isWhole = false;
  let isUnclear = false;

  function set([root, ...keys]: readonly string[], value: unknown): void {
    if (root === undefined) isWhole = true;
    if (root === undefined) set(['metadata'], (value as any)?.metadata);
    else if (root === 'metadata' && keys.length === 0) set(['metadata', 'annotations'], (value as any)?.annotations);
    else if (root === 'metadata' && keys[0] === 'annotations') {
      Object.assign(annotations, textsOf(keys.length === 1 ? value : { [keys[1]!]: value }));
    } else if (root === 'spec' && keys.length > 0) {
      fields.set(keys[0]!, fieldOf(keys[0]!, keys.length === 1 ? value : undefined));
    } else if (root === 'spec') {
      fields.set('', { path: 'spec' });
    }
  }

  for (const { op, path, from, value } of operations.filter(isMap) as any[]) {
    const keys = pathOf(path);
    const moved = op === 'move' ? pathOf(from) : undefined;
    if (op === 'test') continue;
    if (moved) set(moved, undefined);
    if (keys && (op === 'add' || op === 'replace' || op === 'remove')) {
      set(keys, value);
      continue;
    }
    // The webhook removes some requests from the object as soon as it has recorded them: then the value is unknown too.
    const result = keys && valueAt(stored, keys);
    if (keys && result !== undefined) {
      set(keys, result);
      continue;
    }
    isUnclear = true;
    if (keys?.[0] === 'spec') fields.set(keys[1] ?? '', { path: keys.slice(0, 2).join('.'), isUnknown: true });
  }
  return { annotations, fields: [...fields.values()], isWhole, isUnclear };
}

/** The keys of a JSON pointer. */
function pathOf(pointer: unknown): string[] | undefined {
  if (typeof pointer !== 'string' || !/^(\/|$)/.test(pointer)) return undefined;
  return pointer
    .split('/')
    .slice(1)
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
}

function valueAt(object: unknown, keys: readonly string[]): unknown {
  return keys.reduce<unknown>(
    (value, key) =>
      typeof value === 'object' && value !== null && Object.hasOwn(value, key) ? (value as any)[key] : undefined,
    object,
  );
}

function fieldOf(key: string, value: unknown): WrittenField {
  return { path: `spec.${key}`, ...(typeof value === 'string' && { value }) };
}

function textsOf(value: unknown): Record<string, string> {
  if (!isMap(value)) return {};
  return Object.fromEntries(
    Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}
