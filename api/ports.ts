/**
 * The ports of hooks, webhooks and receiver: what they read, write and report. Types only: server/ implements them, and
 * main.ts connects them.
 */
import type { UserInfo } from './admission.ts';
import type { EpochMs, KubeObject, NamespacedName, ObjectName } from './kubernetes.ts';
import type { Count, Duration } from './metrics.ts';
import type { FluxBinding, Gate, Rollout } from './types.ts';

export interface ResourceRef {
  /** `group/version`, or `v1`. */
  apiVersion: string;
  /** Plural, lower case: `rolloutgates`. */
  resource: string;
  namespace?: string;
}

/** Live reads: never from a cache. Every method rejects when the API server does not answer properly. */
export interface ClusterReader {
  /** The object, or undefined when the API server says 404. */
  get<T extends KubeObject<any, any> = KubeObject>(ref: ResourceRef & { name: string }): Promise<T | undefined>;
  list<T extends KubeObject<any, any> = KubeObject>(
    /** `atMost`: the rest is not read; ask for one more than you take to learn that there is more. */
    ref: ResourceRef & { labelSelector?: string; fieldSelector?: string; atMost?: number },
  ): Promise<T[]>;
  /** Metadata only (PartialObjectMetadata). */
  listMetadata(ref: ResourceRef & { labelSelector?: string; fieldSelector?: string }): Promise<KubeObject[]>;
  /**
   * The list page by page, for what tenants can make large or many: what is not kept of a page is free before the next one
   * is read, and none is read after the loop is left.
   */
  pages<T extends KubeObject<any, any> = KubeObject>(
    ref: ResourceRef & { labelSelector?: string; fieldSelector?: string; metadataOnly?: true },
  ): AsyncIterable<T[]>;
  /** Whether the object existed at most a second ago: to choose what to watch, never to decide. A kind that is not served has no objects. */
  hasAny(ref: ResourceRef & { labelSelector?: string }): Promise<boolean>;
  /** Whether the API server serves this resource, from discovery that is at most 30 s old. */
  serves(ref: Pick<ResourceRef, 'apiVersion' | 'resource'>): Promise<boolean>;
  /** The resource of a kind, from the same discovery; undefined when the API server does not serve it. */
  resourceOf(of: { apiVersion: string; kind: string }): Promise<{ resource: string; namespaced: boolean } | undefined>;
}

/** SubjectAccessReview. */
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
  /** Below the message, each on its own line: the purpose, and the command. */
  commands?: readonly (readonly [what: string, line: string])[];
  /** Makes a repeat of the same event harmless: the same key gives the same Event name. */
  key: string;
  at: EpochMs;
  /** Stored times have whole seconds: within one, Events are shown in this order. Lower-case letters, digits and dots; the same key has the same. */
  order?: string;
  /** The version it is about, if it is about one deployment. */
  version?: string;
  /** Recorded as an Event only: no notification is sent. */
  quiet?: boolean;
  /** What Alerts of Flux can select in the place of an object of ours: Flux objects, and Rollouts for the objects bound to them. */
  involvedObjects?: readonly ObjectName[];
  /** The text for involved objects in other namespaces, whose readers may not read `regarding`. Without it they get no notification. */
  forOthers?: string;
}

/** Fire and forget: recording never delays and never fails a sync. */
export interface EventSink {
  record(event: EventRecord): void;
}

/** What has to be seen in the cluster: an object with these annotations, or that the one with this uid is gone, or being deleted. */
export type StoredFact = { object: ResourceRef & { name: string } } & (
  | { annotations: Record<string, string | undefined> }
  | { gone: true; uid: string | undefined }
);

/** Events that are recorded only when they are seen to be true, and forgotten when that does not happen soon. */
export interface ConfirmedEvents {
  recordWhen(event: EventRecord, fact: StoredFact): void;
}

/** The object that a line of the log is about. */
export interface Subject {
  kind: string;
  /** Empty for cluster-scoped kinds. */
  namespace: string;
  name: string;
}

/** What was decided about an object and changes something: a line of the log. */
export interface Decision extends Subject {
  /** CamelCase, as of Events and conditions. */
  reason: string;
  message: string;
  /** The user of an admission request. */
  user?: string;
  /** Which decision this is: what is decided again, because a sync or a request is repeated, is not logged again. */
  key: string;
  /** After this time it is another decision; absent if it never is. */
  againAfterMs?: number;
  /** A user should read it. */
  warning?: boolean;
  /** Anybody may cause it as often as they like: so many of a reason are logged for each namespace and minute, and no more. */
  isCheap?: boolean;
}

/** What a sync or an admission request came to, changing something or not. */
export interface Consideration extends Subject {
  message: string;
  /** More about it. */
  [field: string]: unknown;
}

export interface DecisionLog {
  decided(decision: Decision): void;
  /** At level debug; below it the line is not made. */
  considered(line: () => Consideration): void;
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
  /** It cannot be undone: see ROLLBACK_BARRIER. */
  rollbackBarrier?: true;
}

export interface ReleaseLookup {
  policy: NamespacedName;
  /** The ImageRepository that the policy names. */
  repository: NamespacedName;
  tag: string;
  digest?: string;
  image?: string;
  /** The Rollout's namespace, whose right to the ImageRepository's credentials counts; the policy's when absent. */
  namespace?: string;
}

/** What the registry says of a tag. Answers from memory at once; a miss starts a lookup in the background. */
export interface ReleaseMetadataCache {
  lookup(of: ReleaseLookup): ReleaseMetadata | undefined;
  /** Whether nothing is known yet that a later lookup may find: not of a release that the registry does not have, or refuses to show. */
  isAwaited(of: ReleaseLookup): boolean;
}

/** What a provider of metrics answers to a query: a number for each series of the result, or why there is none. */
export type Reading = { values: number[] } | { problem: string };

export interface Measurement {
  /** When the query was sent. */
  at: EpochMs;
  reading: Reading;
}

export interface Question {
  /** The HealthCheck that asks; its namespace needs the right to use the provider. */
  check: NamespacedName & { uid: string };
  /** Name of a MetricProvider. */
  provider: string;
  query: string;
  /** What was measured before does not count. */
  since: EpochMs;
}

/** Queries to MetricProviders. They run apart from the sync that asks: a provider that hangs delays no sync. */
export interface Measurements {
  /** undefined: not yet, ask again in some seconds. Never rejects. */
  measure(question: Question): Promise<Measurement | undefined>;
}

/** For operators: see api/metrics.ts. */
export interface Counters {
  count(what: Count): void;
}

export interface Metrics extends Counters {
  observe(what: Duration): void;
}

/** What may require a Gate. */
export interface Requiring {
  bindings: readonly FluxBinding[];
  rollouts: readonly Rollout[];
  /** Labels of each Namespace, by its name. */
  namespaces: ReadonlyMap<string, Readonly<Record<string, string>>>;
}

/** Objects that may require a Gate, and metadata of every governed Flux object with its kind. */
export interface RequiringObjects extends Requiring {
  objects: readonly KubeObject[];
}

/** Answers shared by callers that ask at about the same time. A failure is not cached. */
export interface Recent {
  /** The answer of this key that was asked for at most `maxAgeMs` ago, or a new one. */
  within<T>(maxAgeMs: number, key: string, ask: () => Promise<T>): Promise<T>;
  /** An answer of this key that was asked for after this call: shared by all who call before it is asked for. For what decides. */
  fresh<T>(key: string, ask: () => Promise<T>): Promise<T>;
}

/** Installation-wide choices; see server/config.ts for the environment variables. */
export interface Settings {
  /** For Rollouts without `spec.onFailure`. */
  onFailure: 'Continue' | 'Hold';
  /** Deployments succeed by the rules of the Go controller: time alone ends a bake, only times show which health is new, and a deleted object does not count. */
  likeKuberik?: boolean;
  /** User name of Metacontroller's requests. */
  metacontrollerUser: string;
  /** Users that start with `system:serviceaccount:` and may still bypass Gates. */
  bypassServiceAccounts: string[];
  /** Field managers of controllers that apply from Git: their applies to an object behind a closed Gate are held; other writes are refused. */
  syncFieldManagers: string[];
  /** As Flux's `--no-cross-namespace-refs`: a reference to another namespace is refused, and counts as one that cannot be followed. */
  noCrossNamespaceRefs: boolean;
  /** Health of other namespaces is watched without their consent, as the Go controller does. */
  watchWithoutConsent?: boolean;
  /** Whether what an image says of itself counts: `match: revision` of `spec.after`. */
  trustPublishers?: boolean;
  /** The image of this program, for the Jobs of spec.targetRepository; without it nothing is copied. */
  copyImage?: string;
  /** Whether registries may have loopback and link-local addresses. */
  allowLocalRegistries?: boolean;
  /** The OIDC issuers whose tokens Gates may accept; none when absent. */
  oidcIssuers?: string[];
  /** Whether only the API server can call the webhook: otherwise any Pod can name any user in a request that changes nothing. */
  authenticatesCallers?: boolean;
  /** Flux's `--default-service-account`: the account that applies a Kustomization without spec.serviceAccountName. */
  defaultServiceAccount?: string;
}

/** What is handed to every call of a hook and of an admission handler: to read, to ask, to count. */
interface Call {
  /** Taken once per request. */
  now: EpochMs;
  cluster: ClusterReader;
  /** For hooks it may answer what was true a short while ago. */
  access: AccessReviewer;
  metrics: Metrics;
  settings: Settings;
}

export interface HookCall extends Call {
  events: EventSink;
  metadata: ReleaseMetadataCache;
  measurements: Measurements;
  recent: Recent;
  /** `cluster` over separate connections, for large reads: inventories. */
  healthCluster: ClusterReader;
}

export interface WebhookCall extends Call {
  /** An admission request is only a question: what it asks for may never be stored. */
  events: ConfirmedEvents;
}

/** A body that was refused before it was whole. */
export interface UnreadBody {
  /** Larger than `maxBytes`; too many bytes in flight; not complete in time. */
  why: 'tooLarge' | 'busy' | 'slow';
  /** The error that the caller would get. */
  message: string;
  /** The text of the first bytes, as far as they were sent. */
  beginning: Promise<string>;
}

/** An HTTP endpoint that takes and gives JSON. */
export interface Route {
  path: string;
  /** @throws an error with `status` (and perhaps `retryAfterSeconds`) when the request is to blame; anything else is a 500. */
  answer(body: unknown): Promise<unknown>;
  /** The answer to a body that was not read; it is refused if this is absent or resolves to undefined. */
  answerUnread?(body: UnreadBody): unknown;
  /** Bytes of a body; the limit of all routes when absent. */
  maxBytes?: number;
  /** Requests and bytes in flight are counted apart from those of other routes, which cannot crowd this one out. */
  apart?: true;
}

/** Writes annotations of a Gate at exactly the resourceVersion that was read, so that two replicas cannot both take one call. */
export interface GateWriter {
  annotate(gate: Gate, annotations: Record<string, string | null>): Promise<'stored' | 'conflict' | 'forbidden'>;
}

/** Checks signature, issuer and times of OIDC ID tokens. */
export interface IdTokenVerifier {
  /** @param issuer one that the operator allows: its keys are read from there. Temporary: the keys cannot be read now. */
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
  /** Whose ID tokens may open Gates. */
  oidcIssuers: readonly string[];
  metrics: Counters;
  /** What was refused and why: answers to callers are empty. */
  log: { warn(fields: object, message: string): void; error(fields: object, message: string): void };
}

/** TokenReview. */
export interface TokenReviewer {
  /** The user whose token of Kubernetes this is, if it was made for `audience`; undefined for any other text. */
  userOf(token: string, audience: string): Promise<UserInfo | undefined>;
}

export interface InputsPorts extends Pick<ReceiverPorts, 'now' | 'cluster' | 'metrics' | 'log'> {
  tokens: TokenReviewer;
  access: AccessReviewer;
}
