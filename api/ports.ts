/**
 * The ports of hooks, webhooks and receiver: what they read, write and report. Types only: server/ implements them, and
 * main.ts connects them.
 */
import type { UserInfo } from './admission.ts';
import type { EpochMs, KubeObject, NamespacedName, ObjectName } from './kubernetes.ts';
import type { Count, Duration } from './metrics.ts';
import type { Gate } from './types.ts';

/** The beginning of a list, or all of it. */
export interface BoundedList<T> {
  listed: T[];
  /** Whether there are more. */
  isTruncated: boolean;
}

export interface ResourceRef {
  /** `group/version`, or `v1`. */
  apiVersion: string;
  /** Plural, lower case: `rolloutgates`. */
  resource: string;
  namespace?: string;
}

/**
 * Live reads of the cluster, never from a cache. Every method rejects without a proper answer of the API server.
 * `fieldsV1` of managedFields is left out.
 */
export interface ClusterReader {
  /** The object; undefined if the API server answers 404. */
  get<T extends KubeObject<any, any> = KubeObject>(ref: ResourceRef & { name: string }): Promise<T | undefined>;
  /** Rejects if the list takes more memory than the limit `listBytes`. */
  list<T extends KubeObject<any, any> = KubeObject>(
    /** `atMost`: the most objects in the list. To see whether there are more, request one more than you use. */
    ref: ResourceRef & { labelSelector?: string; fieldSelector?: string; atMost?: number },
  ): Promise<T[]>;
  /** The list up to `atMost` objects and `maxBytes` of JSON, for lists that tenants can make large. */
  listAtMost<T extends KubeObject<any, any> = KubeObject>(
    ref: ResourceRef & { labelSelector?: string; atMost: number; maxBytes: number },
  ): Promise<BoundedList<T>>;
  /** Metadata only (PartialObjectMetadata), without managedFields. */
  listMetadata(ref: ResourceRef & { labelSelector?: string; fieldSelector?: string }): Promise<KubeObject[]>;
  /**
   * The list, page by page: for objects that tenants can make large or many. A page can be freed before the next one is
   * read, and none is read after the loop is left.
   */
  pages<T extends KubeObject<any, any> = KubeObject>(
    ref: ResourceRef & { labelSelector?: string; fieldSelector?: string; metadataOnly?: true },
  ): AsyncIterable<T[]>;
  /** Whether there is such an object. May be a second old: no decision may depend on it. False if it isn't served. */
  hasAny(ref: ResourceRef & { labelSelector?: string }): Promise<boolean>;
  /** Whether the API server serves this resource, from discovery that is at most 30 s old. */
  serves(ref: Pick<ResourceRef, 'apiVersion' | 'resource'>): Promise<boolean>;
  /** The resource of a kind, from the same discovery; undefined when the API server does not serve it. */
  resourceOf(of: { apiVersion: string; kind: string }): Promise<{ resource: string; namespaced: boolean } | undefined>;
}

/** Checks the rights of users, by SubjectAccessReview. */
export interface AccessReviewer {
  may(
    user: UserInfo,
    what: { verb: string; group: string; resource: string; namespace: string; name: string },
  ): Promise<boolean>;
}

export interface EventRecord {
  /** The object the event is about. */
  regarding: KubeObject<any, any>;
  type: 'Normal' | 'Warning';
  reason: string;
  message: string;
  /** Commands below the message, one a line, each with its purpose. */
  commands?: readonly (readonly [what: string, line: string])[];
  /** Identifies the event: it gives the Event its name, so that a repeat creates no second one. */
  key: string;
  at: EpochMs;
  /** Sorts the Events of one second, as stored times have whole seconds. Lower-case letters, digits and dots. */
  order?: string;
  /** The version of the deployment that the event is about. */
  version?: string;
  /** Set if no notification is sent. */
  quiet?: boolean;
  /** The objects that Flux's Alerts can select in place of `regarding`: Flux objects, or Rollouts for bound objects. */
  involvedObjects?: readonly ObjectName[];
  /**
   * The text for involved objects in other namespaces, whose readers can't read `regarding`; absent: none is sent.
   */
  forOthers?: string;
}

/** Records Events in the background: it neither delays nor fails a sync. */
export interface EventSink {
  record(event: EventRecord): void;
}

/**
 * A fact to be seen in the cluster: the object with this uid has one of these sets of annotations, or is gone or being
 * deleted.
 */
export type StoredFact = { object: ResourceRef & { name: string }; uid: string | undefined } & (
  | { annotations: readonly Record<string, string | undefined>[] }
  | { gone: true }
);

/** Records Events once their facts are stored; an Event whose fact isn't stored soon is dropped. */
export interface ConfirmedEvents {
  /** @param count what is counted with the Event */
  recordWhen(event: EventRecord, fact: StoredFact, count?: Count): void;
}

/** The object that a line of the log is about. */
export interface Subject {
  kind: string;
  /** Empty for cluster-scoped kinds. */
  namespace: string;
  name: string;
}

/** A decision that changes something about an object: a line of the log. */
export interface LoggedDecision extends Subject {
  /** In CamelCase, like the reasons of Events and conditions. */
  reason: string;
  message: string;
  /** The user of an admission request. */
  user?: string;
  /** Identifies the decision: it is logged once, even if the sync or request is repeated. */
  key: string;
  /** The time after which the same key is logged again; absent: never. */
  againAfterMs?: number;
  /** Set if a user should read the line. */
  warning?: boolean;
  /** Set if any user can cause the decision at will: the log then limits its lines per namespace and minute. */
  isRateLimited?: boolean;
}

/** The result of a sync or an admission request, even one that changes nothing. */
export interface DebugLine extends Subject {
  message: string;
  [field: string]: unknown;
}

export interface DecisionLog {
  decided(decision: LoggedDecision): void;
  /** Logs at level debug; without that level the line isn't built. */
  considered(line: () => DebugLine): void;
}

export interface ReleaseMetadata {
  version?: string;
  revision?: string;
  /** RFC 3339. */
  created?: string;
  artifactType?: string;
  source?: string;
  title?: string;
  description?: string;
  authors?: string;
  /** Set if the release can't be undone: see ROLLBACK_BARRIER. */
  rollbackBarrier?: true;
}

export interface ReleaseLookup {
  policy: NamespacedName;
  /** The ImageRepository that the policy names. */
  repository: NamespacedName;
  tag: string;
  digest?: string;
  image?: string;
  /** The Rollout's namespace, which needs the right to the ImageRepository's credentials. */
  namespace: string;
  /** Whether a decision waits for the metadata: the pause after a failed lookup is then ten seconds and never grows. */
  isUrgent?: boolean;
}

/** The registry's metadata of tags, from a cache. */
export interface ReleaseMetadataCache {
  /** The cached metadata. A miss starts a lookup in the background. */
  lookup(of: ReleaseLookup): ReleaseMetadata | undefined;
  /** Whether a later lookup may find metadata: false if the registry does not have the release or refuses it. */
  isAwaited(of: ReleaseLookup): boolean;
}

/** The result of a query: a number for each series, or the problem. */
export type Reading = { values: number[] } | { problem: string };

export interface Measurement {
  /** When the query was sent. */
  at: EpochMs;
  reading: Reading;
}

export interface MeasurementQuery {
  /** The HealthCheck of the query; its namespace needs the right to use the provider. */
  check: NamespacedName & { uid: string };
  /** Name of a MetricProvider. */
  provider: string;
  query: string;
  /** The time before which no measurement counts. */
  since: EpochMs;
  /** When the deployment was applied: a measurement for another deployment is no answer, whatever the clocks say. */
  cutoff?: EpochMs | undefined;
}

/** Queries to MetricProviders, in the background: a provider that hangs delays no sync. */
export interface Measurements {
  /** The newest measurement; undefined: there is none yet, so call again in some seconds. Never rejects. */
  measure(wanted: MeasurementQuery): Promise<Measurement | undefined>;
}

/** The counters of api/metrics.ts. */
export interface Counters {
  count(what: Count): void;
}

export interface Metrics extends Counters {
  observe(what: Duration): void;
}

/** Reads that several callers share. A failure is not cached. */
export interface SharedReads {
  /**
   * The key's answer, if its read began at most `maxAgeMs` ago; otherwise a new one. With 0, the read begins after this
   * call. All calls with 0 that come before the read begins share it.
   */
  recent<T>(maxAgeMs: number, key: string, read: () => Promise<T>): Promise<T>;
  /** The result; undefined if it isn't available in time. */
  withinMs<T>(ms: number, reading: Promise<T>): Promise<T | undefined>;
}

/** Installation-wide choices; see server/config.ts for the environment variables. */
export interface Settings {
  /** The default of `spec.onFailure` of Rollouts. */
  onFailure: 'Continue' | 'Hold';
  /**
   * Whether the Go controller's rules apply to bakes, health, `currentVersion` and first deployments: *compat* in
   * docs/reference/quirks.md.
   */
  kuberikCompat?: boolean;
  /** User name of Metacontroller's requests. */
  metacontrollerUser: string;
  /** The ServiceAccounts that may bypass Gates, as user names: `system:serviceaccount:…`. */
  bypassServiceAccounts: string[];
  /** The field managers of Git syncs: a closed Gate reverts their applies, and denies other writes. */
  syncFieldManagers: string[];
  /** Whether references to other namespaces are refused, and count as broken: Flux's `--no-cross-namespace-refs`. */
  noCrossNamespaceRefs: boolean;
  /** Whether health of other namespaces is watched without their consent, as the Go controller does. */
  watchWithoutConsent?: boolean;
  /** Whether an image's own annotations count for `match: revision` of `spec.after`. */
  trustPublishers?: boolean;
  /** The image of this program, for the Jobs that copy releases; absent: nothing is copied. */
  copyImage?: string;
  /** Whether registries may have loopback and link-local addresses. */
  allowLocalRegistries?: boolean;
  /** The OIDC issuers whose tokens Gates may accept; none when absent. */
  oidcIssuers?: string[];
  /** Whether only the API server can call the webhook. If not, a Pod could send a request in any user's name. */
  authenticatesCallers?: boolean;
  /** Flux's `--default-service-account`: the account that applies a Kustomization without spec.serviceAccountName. */
  defaultServiceAccount?: string;
}

/** The ports of every call of a hook and of an admission handler. */
interface Call {
  /** Taken once per request. */
  now: EpochMs;
  cluster: ClusterReader;
  /** In hooks its answers may be some seconds old. */
  access: AccessReviewer;
  metrics: Metrics;
  settings: Settings;
  sharedReads: SharedReads;
}

export interface HookCall extends Call {
  events: EventSink;
  metadata: ReleaseMetadataCache;
  measurements: Measurements;
  /** The cluster over separate connections, for large reads such as inventories. */
  healthCluster: ClusterReader;
}

export interface WebhookCall extends Call {
  /** Recorded only once the write is stored: an admitted write can still fail. */
  events: ConfirmedEvents;
}

/** A body that was refused before all of it was read. */
export interface UnreadBody {
  /** The cause: larger than `maxBytes`; too many bytes in flight; not complete in time. */
  why: 'tooLarge' | 'busy' | 'slow';
  /** The error that the caller would get. */
  message: string;
  /** The text of the first bytes that were sent. */
  beginning: Promise<string>;
}

/** An HTTP endpoint that takes and gives JSON. */
export interface Route {
  path: string;
  /**
   * @param late aborted if the request was answered without this answer: nothing is to be counted or logged then
   * @throws an error with `status` (and perhaps `retryAfterSeconds`) if the request is at fault; others are a 500
   */
  answer(body: unknown, late?: AbortSignal): Promise<unknown>;
  /** The answer to a body that was not read. Without one, or if it resolves to undefined, the request is refused. */
  answerUnread?(body: UnreadBody): unknown;
  /** Set if a write without an answer is admitted: after `answerSeconds` the caller gets that of `answerUnread`. */
  failsOpen?: true;
  /** The size limit of a body; absent: the limit of all routes. */
  maxBytes?: number;
  /** The namespace of a request. Set if the requests of one namespace that are answered at a time are limited. */
  namespaceOf?(body: unknown): string;
  /** Set if requests and bytes in flight have their own limit, so that other routes can't use it up. */
  hasOwnLane?: true;
}

/** Writes annotations of a Gate at the resourceVersion that was read, so that only one replica can accept a call. */
export interface GateWriter {
  annotate(gate: Gate, annotations: Record<string, string | null>): Promise<'stored' | 'conflict' | 'forbidden'>;
}

/** Checks signature, issuer and times of OIDC ID tokens. */
export interface IdTokenVerifier {
  /** @param issuer an allowed issuer, from which the keys are read. `isTemporary`: they can't be read now. */
  verify(
    token: string,
    issuer: string,
    now: EpochMs,
  ): Promise<{ claims: Readonly<Record<string, unknown>> } | { problem: string; isTemporary: boolean }>;
}

export interface ReceiverPorts {
  now(): EpochMs;
  cluster: ClusterReader;
  writer: GateWriter;
  idTokens: IdTokenVerifier;
  /** The issuers whose ID tokens may open Gates. */
  oidcIssuers: readonly string[];
  metrics: Counters;
  /** Records each refusal with its cause, since answers to callers are empty. */
  log: { warn(fields: object, message: string): void; error(fields: object, message: string): void };
}

/** Checks tokens of Kubernetes, by TokenReview. */
export interface TokenReviewer {
  /** The user of a token that was issued for `audience`; undefined for any other text. */
  userOf(token: string, audience: string): Promise<UserInfo | undefined>;
}

export interface InputsPorts extends Pick<ReceiverPorts, 'now' | 'cluster' | 'metrics' | 'log'> {
  tokens: TokenReviewer;
  access: AccessReviewer;
}
