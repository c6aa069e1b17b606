/**
 * Every limit of what one decision looks at. What a tenant may write is hostile: beyond a limit everything counts as
 * closed, with a sentence that names the limit. docs/security.md lists them; a test holds that list to this table.
 */
export const LIMITS = {
  /** Gates that one object may require, named and selecting ones together: each costs a live read in every write. */
  requiredGates: 200,
  /** Parts between the commas of an annotation that names Gates or Rollouts, empty ones too. */
  namesInAnnotation: 400,
  /** Annotations of a Flux object: each is looked at several times in every write. */
  annotations: 512,
  /** Gates with `spec.selects` of one namespace, and those that reach beyond theirs: what one list may bring. */
  selectingGates: 1000,
  /** Rollouts whose pins one Flux object may carry: each costs a live read in every write. */
  boundRollouts: 64,
  /** Fields of one Flux object that Rollouts own: each has a line in the status of its FluxBinding. */
  pins: 64,
  /** Characters of a revision in a Flux object's status: it is written into a FluxBinding. */
  revision: 1024,
  /** Releases in the status of a Rollout, and the bytes of that list, which is written there up to four times. */
  availableReleases: 1000,
  availableReleasesBytes: 262_144,
  /** Entries of a Rollout's history, whatever spec.versionHistoryLimit says. */
  history: 200,
  /** Deployments that a history keeps, however small spec.versionHistoryLimit is; manifests/policies/rollout-history.yaml has it too. */
  historyKept: 10,
  /** Bytes of the deployments of a history together, as Go writes them: each may have an equal share. */
  historyBytes: 393_216,
  /** RolloutGates that the status of a Rollout lists, and the versions that each entry of status.gates has. */
  listedGates: 50,
  listedVersions: 50,
  /** Entries of status.blockers of a Rollout. */
  listedBlockers: 50,
  /** Bytes of a Rollout's status, as Go writes them. etcd takes 1.5 MiB, with spec, metadata and whose fields they are. */
  statusBytes: 1_000_000,
  /** Levels of maps and lists in the spec of an object that a Gate or a Rollout holds. */
  nesting: 100,
  /** Characters of an ImagePolicy's filterTags.pattern and filterTags.extract. */
  pattern: 256,
  /** Instructions that a filterTags.pattern compiles to: `[a-z]{1,100}` has some 200. */
  patternSize: 500,
  /** These instructions times the groups, the whole match being one, of a filterTags.pattern with filterTags.extract: what each tag may cost. */
  patternWork: 2500,
  /** Kinds of one namespace in an inventory: each costs at least a read, and a question of what its account may read. */
  inventoryKinds: 200,
  /** HealthChecks that one Rollout watches: each of another namespace costs a live read in every sync. */
  watchedHealthChecks: 200,
  /** HealthChecks whose metadata is listed for a Rollout that watches other namespaces; with more, each of so many namespaces is listed by itself. */
  listedHealthChecks: 5000,
  watchedNamespaces: 64,
  /** HealthChecks of which a deployment remembers what they had reported when it began. */
  knownHealth: 100,
  /** Characters of the JSON of a HealthCheck's spec.job.template: Metacontroller stores it a second time in an annotation of the Job. */
  jobTemplate: 32_768,
  /** Characters of a query to a MetricProvider, its variables filled in; the CRD of HealthCheck has it too. */
  metricQuery: 2048,
  /** Series in the result of such a query. */
  metricSeries: 100,
  /** Approvals that one Gate or RolloutGate keeps: the oldest is forgotten, and no longer counts. */
  approvals: 64,
  /** Rollouts that are read for an approval on a Gate that does not name its Rollout. */
  approvalRollouts: 2000,
  /** Rollouts that a Rollout may come after: each costs a live read before a deployment. */
  after: 20,
  /** Rollouts that are read to find out whether one comes after itself: its stages, theirs, and so on. */
  stages: 200,
  /** RolloutBudgets that are listed for one Rollout before a deployment: of its namespace, and of the cluster. */
  listedBudgets: 100,
  /** RolloutBudgets that may select one Rollout: it has to ask each of them in turn. */
  budgetsOfRollout: 10,
  /** Rollouts that one RolloutBudget may select. */
  rolloutsOfBudget: 1000,
  /**
   * Rollouts for which one schedule has a RolloutGate, and those that are listed to choose them: the gates are sent together, and
   * each may take 4 KiB (manifests/policies/object-sizes.yaml).
   */
  scheduledRollouts: 1000,
  listedRollouts: 10_000,
  /** Versions that the status of a RolloutBudget remembers; of those that are asked for, none may be forgotten that has failed. */
  budgetVersions: 20,
  /** Namespaces whose Alerts are told of one change of a Gate or a budget, by one object in each. */
  notifiedNamespaces: 100,
  /** Flux objects bound to a Rollout that tell of one change of it. */
  notifiedObjects: 10,
  /** Seconds after which every hook is asked again: Metacontroller computes with nanoseconds in 64 bits. */
  resyncAfterSeconds: 3600,
} as const;
