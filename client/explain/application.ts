/**
 * The explanation of one Rollout: the running version, the waiting one, all that blocks it, what happens automatically,
 * and the actions of a user.
 * Plain JSON, for the command and the page. Times are RFC 3339 with whole seconds, as the API server stores them.
 */
import { KINDS, type KindName } from '../../api/kinds.ts';
import type { NamespacedName } from '../../api/kubernetes.ts';
import type { HistoryEntry } from '../../api/types.ts';
import { sameJson } from '../../core/kube/json.ts';
import type { PinRecord } from '../../core/record/pinAndSchedule.ts';
import { changeText } from '../../core/record/record.ts';
import type { StepKind } from './stepKinds.ts';

/** A reference to an object, with the fields of an access review. */
export interface ObjectRef {
  /** The API group; empty for the core group. */
  group: string;
  kind: string;
  /** The resource name: plural, lower case. */
  resource: string;
  /** The namespace; empty if the kind has none. */
  namespace: string;
  name: string;
}

/**
 * The state of a step. `blocks`: a user or the calendar has to act. `waits`: in progress, ends without an action.
 * `failed`: a bake or a Flux object has failed, or a RolloutGate rejects the version; the step `failure` shows whether
 * a failed bake holds the next version. `unknown`: the object could not be read.
 */
export type StepState = 'passed' | 'blocks' | 'waits' | 'failed' | 'unknown';

/** One measurement of a HealthCheck of class prometheus. */
export interface MeasurementView {
  at: string;
  result: 'InRange' | 'OutOfRange' | 'Empty' | 'Unknown';
  /** The value; absent without an answer or a finite number. */
  value?: number;
}

/** The newest measurements of a HealthCheck of class prometheus, and the range that is healthy now. */
export interface MetricView {
  min?: number;
  max?: number;
  /** The measurements, oldest first. */
  measurements: MeasurementView[];
}

/** One step of a version, in the order in which versions take them. */
export interface Step {
  /** Unique within the application and stable over time: `gate/flux-system/year-end`. */
  id: string;
  kind: StepKind;
  state: StepState;
  /** `Gate flux-system/year-end`. */
  title: string;
  /** The state in words, without the title: `closed by alice: freeze`. */
  detail?: string;
  /** The version on this step. */
  version?: string;
  object?: ObjectRef;
  since?: string;
  /** The time of the next automatic change. */
  until?: string;
  /** The user who caused the state, and the reason. */
  by?: string;
  reason?: string;
  /** Set for a Gate or RolloutGate with approvals: no request opens it. */
  needsApproval?: true;
  /** Set for a Gate that does not exist: it counts as closed, and can't be opened. */
  missing?: true;
  /** Set for a Gate that could not be read: the detail comes from the Rollout's status. */
  unread?: true;
  /** Measurements of a HealthCheck of class prometheus. */
  metric?: MetricView;
}

/** An entry of the history. Only hooks read `knownHealth`. */
export type Deployment = Omit<HistoryEntry, 'knownHealth'>;

const OUTCOMES = ['Deploying', 'InProgress', 'Succeeded', 'Failed', 'Cancelled'] as const;

/** The outcome of a deployment; `Unknown` if the Go controller recorded none. */
export type Outcome = (typeof OUTCOMES)[number] | 'Unknown';

export function outcomeOf({ bakeStatus }: Pick<Deployment, 'bakeStatus'>): Outcome {
  return OUTCOMES.find((outcome) => outcome === bakeStatus) ?? 'Unknown';
}

/** The user who requested the deployment; undefined for an automatic one. */
export function userOf({ requestedBy, triggeredBy }: Deployment): string | undefined {
  return requestedBy || (triggeredBy?.kind === 'User' ? triggeredBy.name : undefined);
}

/** The possible reactions to the failure of the newest deployment. */
export interface FailureView {
  /** The newest version of the history that succeeded, and its deployment. */
  lastGood?: string;
  lastGoodId?: number;
  /** The target of `rollback`; absent if that would be rejected. */
  rollbackTo?: string;
  /** Whether the failure blocks the next version until a user unblocks it. */
  unblocks: boolean;
}

/** The next version, which waits. */
export interface WaitingVersion {
  version: string;
  /** The user who requested it, and the time, if known. */
  requested?: { by: string; at: string };
  /** When the Rollout first discovered the version. */
  firstSeen?: string;
}

/** One cause of a wait or a failure. The most important one is the first of its list. */
export interface Cause {
  /** The reason of the condition, machine-readable: `GateClosed`. */
  code: string;
  /** A sentence with its subject. */
  text: string;
  /** The id of its step, if any. */
  step?: string;
}

/** The next automatic change. `at`: absent if the time is unknown. */
export interface Next {
  text: string;
  at?: string;
}

/** A right, with the fields of a SelfSubjectAccessReview. */
export interface Right {
  verb: string;
  group: string;
  resource: string;
  /** The namespace; empty for a cluster-scoped object. */
  namespace: string;
  /** The name; empty for a right to create. */
  name: string;
}

/** An action as command lines, with the rights that it requires. */
export interface CommandView {
  /** The effect: `open the Gate, for everything it holds`. */
  text: string;
  /** `kubectl rollouts open year-end -n flux-system --reason '…'`. */
  command: string;
  /** The kubectl command; `command` again if the object that it depends on could not be read. */
  kubectl: string;
  rights: Right[];
  /** The id of the step that the action removes. */
  step?: string;
  /** Whether the user has the rights; absent if unknown. Filled in by `why`. */
  allowed?: boolean;
  /** The rights that the user lacks, `patch on rollouts shop/web`. */
  lacks?: string;
}

/**
 * The state of an application. `waits`: a version is blocked. `deploying`, `baking`: the newest deployment is in
 * progress, and a version waits for nothing else. `failed`: the newest deployment has failed and no version waits.
 * `done`: the newest deployment has succeeded, or does not bake. `empty`: nothing is deployed and no version waits.
 * `problem`: the Rollout can't continue, or Flux reports that an object with the newest deployment has failed.
 */
export type ApplicationState = 'waits' | 'deploying' | 'baking' | 'failed' | 'done' | 'empty' | 'problem';

/** The order of states: those that need a user come first. */
export const STATE_ORDER: readonly ApplicationState[] = [
  'problem',
  'failed',
  'waits',
  'deploying',
  'baking',
  'empty',
  'done',
];

/** The part of an explanation that all kinds of objects have. */
export interface Explained {
  /** One line: `1.2.0 waits`, `closed by alice: freeze`. */
  headline: string;
  /** Why the object waits, is held or has failed; the first is the cause. */
  causes: Cause[];
  next?: Next;
  /** Kinds that could not be read, a sentence each. */
  unread: string[];
}

/** The explanation of a Rollout, from which the command and the page draw it. */
export interface Application extends Explained {
  namespace: string;
  name: string;
  uid?: string;
  /** The labels, without the one that the hooks set. */
  labels: Record<string, string>;
  /** The title in the image's annotations. */
  title?: string;
  description?: string;
  source?: string;
  state: ApplicationState;
  /** The newest deployment. */
  runs?: Deployment;
  waiting?: WaitingVersion;
  failure?: FailureView;
  /** The version in spec.wantedVersion. */
  pinned?: string;
  /** The user who pinned it, or removed the last pin. */
  pin?: PinRecord;
  steps: Step[];
  /** Deployments, newest first. */
  history: Deployment[];
  /** The number of known releases. */
  releases: number;
}

/** The reference of an object, with group and resource from the table of kinds. */
export function objectRef(kind: KindName, { namespace, name }: NamespacedName): ObjectRef {
  const { group, resource } = KINDS[kind];
  return { group, kind, resource, namespace, name };
}

/** The reference of an object; undefined for a kind that is not in the table of kinds. */
export function targetRef(kind: string, ref: NamespacedName): ObjectRef | undefined {
  return Object.hasOwn(KINDS, kind) ? objectRef(kind as KindName, ref) : undefined;
}

/** The newest pin as text: `Pinned to 1.0.0 by sre at 2026-03-01T12:00:00Z: leaks memory`. */
export function pinText(pin: PinRecord): string {
  const what = pin.version === undefined ? `Unpinned from ${pin.from}` : `Pinned to ${pin.version}`;
  return `${what} ${changeText(pin)}`;
}

/**
 * The approvals and openings that let a deployment through, as texts: `approved at qa by bob`. `before`: the deployment
 * before it; an opening that it had already is left out.
 */
export function permissionTexts({ approvals = [] }: Deployment, before: Deployment | undefined): string[] {
  const had = before?.approvals ?? [];
  return approvals
    .filter((each) => each.kind === 'RolloutGate' || !had.some((other) => sameJson(each, other)))
    .map(({ gate, kind, by, reason }) => {
      const what = kind === 'RolloutGate' ? `approved at ${gate}` : `${gate} opened`;
      return `${what}${by ? ` by ${by}` : ''}${reason ? `: ${reason}` : ''}`;
    });
}

/** A list with one cause; empty without a text. */
export function causeIf(code: string, text: string | false | undefined): Cause[] {
  return text ? [{ code, text }] : [];
}

/** Whether the deployed version has passed the step, and the waiting one has not reached it. */
export function isOfDeployedVersion({ kind, state }: Step, waiting: string | undefined): boolean {
  return waiting !== undefined && state === 'passed' && (kind === 'binding' || kind === 'bake');
}

/** Whether the step is a bound object that Flux reports as failed. */
export function isFailedObject({ kind, state }: Step): boolean {
  return kind === 'binding' && state === 'failed';
}
