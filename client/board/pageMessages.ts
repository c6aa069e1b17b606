/** Messages of the page's stream, and answers to its other requests. Plain JSON. */
import type { RolloutStatus } from '../../api/types.ts';
import type { Action } from '../actions/action.ts';
import type { Application } from '../explain/application.ts';
import type { ApprovalView } from '../explain/approvalViews.ts';
import type { Explanation } from '../explain/kinds/explanation.ts';
import type { ObjectDetails } from '../explain/objectDetails.ts';
import type { BudgetView } from './budgetView.ts';
import type { GateView, ScheduleView } from './planViews.ts';
import type { Row } from './row.ts';

/** Whether a kind can be read. `forbidden`: the reader isn't allowed to. `absent`: the cluster does not have it. */
export interface KindState {
  /** The cluster, if several are shown. */
  cluster?: string;
  kind: string;
  state: 'loading' | 'live' | 'reconnecting' | 'forbidden' | 'absent' | 'signed-out';
  /** The namespace to read if the reader can't read the whole cluster. */
  namespace?: string;
  /** The namespaces in which a kind that is live in others is forbidden. */
  forbiddenIn?: string[];
  /** The API server's message. */
  why?: string;
}

export interface Hello {
  context: string;
  server: string;
  user?: string;
  /** The context's namespace, in which new objects are created by default. */
  home?: string;
  /** The only namespace to search; absent: all. */
  namespace?: string;
  /** Address that ends the session; absent on the user's own machine, where there is none. */
  signOut?: string;
  /** The clusters, if several are shown: each under the name of its context. */
  clusters?: ClusterView[];
}

export interface ClusterView {
  name: string;
  server: string;
  user?: string;
  home: string;
}

/** The changes of a view. `cluster`: the cluster that changed, if several are shown. */
export interface Change<T> {
  cluster?: string;
  set: T[];
  gone: string[];
}

/** The events of the stream, by name. After a `reset`, the first event of each view has everything. */
export interface StreamEvents {
  hello: Hello;
  reset: Record<string, never>;
  rows: Change<Row>;
  gates: Change<GateView>;
  schedules: Change<ScheduleView>;
  budgets: Change<BudgetView>;
  /** All kinds of a cluster. */
  kinds: KindState[];
  /** All views have been sent. */
  complete: { rows: number };
}

/** Whether the user has a right, by the right's key. */
export type Rights = Record<string, boolean>;

export interface ApplicationPageData {
  application: Application;
  actions: Action[];
  /** Releases, newest first. */
  releases: NonNullable<RolloutStatus['availableReleases']>;
  rights: Rights;
}

/** The page of any other object. */
export interface ObjectPageData extends Explanation {
  rights: Rights;
  /** Approvals at a Gate with spec.approvals: waiting versions first. */
  approvals: ApprovalView[];
  details: ObjectDetails;
  /** The object without `metadata.managedFields`. */
  yaml: string;
}

/** The objects that a freeze would hold, of those that the user may read. */
export interface Preview {
  objects: { kind: string; namespace: string; name: string }[];
  /** The number of objects, including those that are not listed. */
  count: number;
  /** Kinds that could not be read, a sentence each. */
  unread: string[];
  /** The rights that the user lacks: `create on gates shop/freeze`. */
  lacks?: string;
  /** The API server's answer to a dry run of the same write. */
  answer: Answer;
  /** The command lines of the write, on the Gate of that name if there is one. */
  commands: { command: string; kubectl: string };
}

/** The result of a request. `ok`: it was accepted. `warnings` and `message` are the API server's texts. */
export interface Answer {
  ok: boolean;
  message: string;
  warnings: readonly string[];
  code?: number;
}
