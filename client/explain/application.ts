/**
 * The explanation of one Rollout: what runs, what waits, everything that blocks it, what happens automatically, and what a user can do.
 * Plain JSON, for the command and the page alike. Times are RFC 3339, whole seconds, as the API server stores them.
 */

import { KINDS, type KindName } from '../../api/kinds.ts';
import type { NamespacedName } from '../../api/kubernetes.ts';
import type { StepKind } from './stepKinds.ts';

/** An object of the cluster, as much as it takes to name it and to ask who may do what with it. */
export interface ObjectRef {
  /** Empty for the core group. */
  group: string;
  kind: string;
  /** Plural, lower case. */
  resource: string;
  /** Empty where the kind has none. */
  namespace: string;
  name: string;
}

/**
 * `blocks`: a user or the calendar has to act. `waits`: in progress, ends without an action. `failed`: a bake that has failed, or a Flux object that
 * Flux reports as failed, or a RolloutGate that rejects the version; whether a failed bake holds the next version, the step `failure` says. `unknown`: it could not be read.
 */
export type StepState = 'passed' | 'blocks' | 'waits' | 'failed' | 'unknown';

/** One measurement of a HealthCheck of class prometheus. */
export interface MeasurementView {
  at: string;
  result: 'InRange' | 'OutOfRange' | 'Empty' | 'Unknown';
  /** Absent where there was no answer, or none that is a finite number. */
  value?: number;
}

/** The newest measurements of a HealthCheck of class prometheus, and the range that is healthy now. */
export interface MetricView {
  min?: number;
  max?: number;
  /** Oldest first. */
  measurements: MeasurementView[];
}

/** One step of a version, in the order in which versions take them. */
export interface Step {
  /** Unique within the Application and stable over time: `gate/flux-system/year-end`. */
  id: string;
  kind: StepKind;
  state: StepState;
  /** `Gate flux-system/year-end`. */
  title: string;
  /** Its state in words, without the title: `closed by alice: freeze`. */
  detail?: string;
  /** The version on this step. */
  version?: string;
  object?: ObjectRef;
  since?: string;
  /** When it changes automatically. */
  until?: string;
  /** The user who made it so, and why. */
  by?: string;
  reason?: string;
  /** A gate with approvals: no request opens it. */
  asksApproval?: true;
  /** A gate that does not exist, which counts as closed: it can't be opened. */
  missing?: true;
  /** A gate that could not be read: the detail is what the status of the Rollout says of it. */
  unread?: true;
  /** Measurements of a HealthCheck of class prometheus. */
  metric?: MetricView;
}

/** How a deployment went or goes; `Unknown` where an older version of this software left none. */
export type Outcome = 'Deploying' | 'InProgress' | 'Succeeded' | 'Failed' | 'Cancelled' | 'Unknown';

/** One entry of the history. */
export interface DeploymentView {
  id: number;
  version: string;
  digest?: string;
  revision?: string;
  /** What the image's annotations say of it: its version, which need not be the tag, and when it was built. */
  imageVersion?: string;
  created?: string;
  outcome: Outcome;
  /** What the bake says of itself. */
  detail?: string;
  /** Why it was deployed: `Automatic deployment`, or what the person wrote. */
  message?: string;
  /** The user who requested it, or the system. */
  by: { kind: 'User' | 'System'; name: string };
  reason?: string;
  /** When it was committed, when Flux had applied it everywhere, when its bake started and ended; when it was tried again. */
  at: string;
  appliedAt?: string;
  bakeStartedAt?: string;
  endedAt?: string;
  retriedAt?: string;
  /** Time since which a closed gate blocks it while rolling out. */
  heldSince?: string;
  /** Seconds for which closed gates blocked it while rolling out. */
  heldSeconds?: number;
  rolledBackFrom?: string;
  /** `kind` of a RolloutGate, which does not open but lets this version through. */
  approvals: { gate: string; kind?: string; at: string; by?: string; reason?: string }[];
  bypass?: { by: string; at: string; reason: string; gates: string[] };
  failedChecks: { namespace: string; name: string; message?: string }[];
}

/** The pinned version (`version`), or the one that was unpinned (`from`). */
interface PinView {
  version?: string;
  from?: string;
  by: string;
  at: string;
  reason?: string;
}

/** A newest deployment that failed. */
export interface FailureView {
  /** The newest version of the history that succeeded, and its deployment. */
  lastGood?: string;
  lastGoodId?: number;
  /** Where `rollback` goes; absent where it refuses. */
  rollbackTo?: string;
  /** A failure blocks the next version until a user unblocks it. */
  unblocks: boolean;
}

/** The version that is to come next. */
export interface WaitingVersion {
  version: string;
  /** The user's request: who, when and why, if known. */
  requested?: { by?: string; at?: string; reason?: string };
  /** When it was first seen here. */
  firstSeen?: string;
}

/** A sentence, and what it is about. The first of a list is the cause. */
export interface Cause {
  /** The reason of the condition that says so: machine-readable, `GateClosed`. */
  code: string;
  text: string;
  /** Id of its step, if any. */
  step?: string;
}

/** What happens automatically. `at`: absent if the time depends on other things. */
export interface Next {
  text: string;
  at?: string;
}

/** A right, as a SelfSubjectAccessReview takes it. */
export interface Right {
  verb: string;
  group: string;
  resource: string;
  /** Empty for an object of the cluster. */
  namespace: string;
  /** Empty for a right to create. */
  name: string;
}

/** An action as command lines, with the right that it requires. */
export interface Remedy extends Right {
  /** Its effect: `open the Gate, for everything it holds`. */
  text: string;
  /** `kubectl rollouts open year-end -n flux-system --reason '…'`. */
  command: string;
  /** The kubectl command; `command` again if the object that it depends on could not be read. */
  kubectl: string;
  /** Further required rights. */
  needs?: Right[];
  /** Id of the step it removes. */
  step?: string;
  /** Whether the user has the right; absent if unknown. Filled in by the command and the page. */
  allowed?: boolean;
}

/**
 * `waits`: a version is blocked. `deploying`, `baking`: the newest deployment is running, and nothing else
 * waits or it waits for that. `failed`: the newest deployment has failed and no version is to come. `done`: the newest deployment has
 * succeeded, or does not bake. `empty`: nothing is deployed and nothing is to come. `problem`: the Rollout reports that it cannot continue, or Flux
 * reports that an object which has the newest deployment failed.
 */
export type ApplicationState = 'waits' | 'deploying' | 'baking' | 'failed' | 'done' | 'empty' | 'problem';

export interface Application {
  namespace: string;
  name: string;
  uid?: string;
  /** Without the one that the hooks set. */
  labels: Record<string, string>;
  /** What the image says of itself. */
  title?: string;
  description?: string;
  source?: string;
  state: ApplicationState;
  /** One line: `1.2.0 waits`. */
  headline: string;
  /** The newest deployment. */
  runs?: DeploymentView;
  waiting?: WaitingVersion;
  failure?: FailureView;
  /** The version that spec.wantedVersion holds. */
  pinned?: string;
  /** Who pinned it, or removed the last pin. */
  pin?: PinView;
  steps: Step[];
  next?: Next;
  /** Why the version waits or the deployment does not continue; the first is the cause. */
  causes: Cause[];
  remedies: Remedy[];
  /** Newest first. */
  history: DeploymentView[];
  /** What could not be read, a sentence each. */
  unread: string[];
  /** How many releases are known. */
  releases: number;
}

/** The reference of an object by its kind: group and resource come from the table of kinds. */
export function objectRef(kind: KindName, { namespace, name }: NamespacedName): ObjectRef {
  const { group, resource } = KINDS[kind];
  return { group, kind, resource, namespace, name };
}

/** The reference of an object of any kind; undefined for a kind that is not in the table. */
export function targetRef(kind: string, ref: NamespacedName): ObjectRef | undefined {
  return Object.hasOwn(KINDS, kind) ? objectRef(kind as KindName, ref) : undefined;
}

/** `Pinned to 1.0.0 by sre at 2026-03-01T12:00:00Z: leaks memory`. */
export function pinText({ version, from, by, at, reason }: PinView): string {
  const what = version === undefined ? `Unpinned from ${from}` : `Pinned to ${version}`;
  return `${what} by ${by} at ${at}${reason ? `: ${reason}` : ''}`;
}

/** A list with one cause; empty without a text. */
export function causeIf(code: string, text: string | false | undefined): Cause[] {
  return text ? [{ code, text }] : [];
}

/** Whether the step is passed for the deployed version, and not yet reached by the waiting one. */
export function isOfEarlier({ kind, state }: Step, waiting: string | undefined): boolean {
  return waiting !== undefined && state === 'passed' && (kind === 'binding' || kind === 'bake');
}

/** Whether the step is a bound object that Flux reports as failed. */
export function isFailedObject({ kind, state }: Step): boolean {
  return kind === 'binding' && state === 'failed';
}
