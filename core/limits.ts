/**
 * Limits of what tenants may write into one decision, and of what we store of it. A decision that needs more than its
 * limit counts as closed, and its message names the limit. docs/reference/limits.md is generated from this table.
 */
export const LIMITS = {
  /**
   * Gates that one object requires by name and selection; for a Rollout also those of its bound objects. Each costs a
   * live read in every write.
   */
  requiredGates: 200,
  /** Parts between commas in an annotation that names Gates or Rollouts, empty and repeated ones too. */
  namesInAnnotation: 400,
  /** Annotations of a Flux object, without those that the webhook writes and the reason of a bypass. */
  annotations: 512,
  /** Labels of a Flux object. Each Gate that may select the object is compared with them. */
  labels: 512,
  /**
   * Gates with `spec.selects` listed for one object, those for Flux objects and for Rollouts together: in its
   * namespace, and as many with a `namespaceSelector`.
   */
  selectingGates: 1000,
  /** Bytes of the JSON of either list of `selectingGates`, with managedFields. */
  selectingGatesBytes: 8_388_608,
  /**
   * Gates listed at once for the hooks of objects that name more than three. If the cluster has more, or more than
   * `selectingGatesBytes` of them, each is read separately.
   */
  listedAllGates: 5000,
  /** Rollouts whose managed fields one Flux object may carry. Each costs a live read in every write. */
  boundRollouts: 64,
  /** Managed fields of one Flux object. */
  managedFields: 64,
  /** Characters of a revision in a Flux object's status: a longer one is no proof that a version was applied. */
  revision: 1024,
  /**
   * Releases in a Rollout's status: the oldest are dropped, but none in the history, requested, or among
   * the next twenty candidates.
   */
  availableReleases: 1000,
  /** Bytes of `status.availableReleases`. */
  availableReleasesBytes: 262_144,
  /** Entries of a Rollout's history, even with a larger `versionHistoryLimit`. */
  history: 200,
  /**
   * Newest deployments that no write drops from the history, even with a smaller `versionHistoryLimit`.
   * manifests/policies/rollout-history.yaml has it too.
   */
  historyKept: 10,
  /**
   * Bytes of the history without `knownHealth`, shared equally by `versionHistoryLimit` entries. A larger newest entry
   * is cut: messages first, then reasons of approvals and bypasses.
   */
  historyBytes: 393_216,
  /** RolloutGates in `status.gates` of a Rollout, blocking ones first. All of them count. */
  listedGates: 50,
  /** Versions in `allowedVersions` of each entry of `status.gates`. All of them count. */
  listedVersions: 50,
  /** Entries of `status.blockers` of a Rollout. All of them hold; condition `StatusShortened` reports their number. */
  listedBlockers: 50,
  /**
   * Bytes of a Rollout's status as Go writes it. In a larger one candidates, rejections, `status.gates` and messages
   * are shortened (condition `StatusShortened`), never a field that decides.
   */
  statusBytes: 1_000_000,
  /** Levels of maps and lists that a write may add to the spec of a marked object. */
  nesting: 100,
  /**
   * Characters of `filterTags.pattern` and `filterTags.extract` of an ImagePolicy: beyond this limit, `patternSize` or
   * `patternWork`, the policy selects nothing.
   */
  pattern: 256,
  /** Instructions of `filterTags.pattern`, with repetitions expanded. */
  patternSize: 500,
  /**
   * With `filterTags.extract`: the instructions of the pattern, times the number of its groups and one for the whole
   * match. At this limit 1000 of the longest tags take half a second.
   */
  patternWork: 700,
  /** Kinds of one namespace in a Kustomization's inventory. */
  inventoryKinds: 200,
  /** HealthChecks that one Rollout watches. Those that don't consent are not counted. */
  watchedHealthChecks: 200,
  /**
   * HealthChecks whose metadata is listed for a Rollout that watches other namespaces. With more, each namespace is
   * listed separately, up to this limit.
   */
  listedHealthChecks: 5000,
  /** Namespaces listed separately for a Rollout that watches more than `listedHealthChecks`. */
  watchedNamespaces: 64,
  /**
   * HealthChecks whose reports a deployment records when it begins. Of other HealthChecks only the times show which
   * report is new.
   */
  knownHealth: 100,
  /** Bytes of one report of `knownHealth`, with the names of its HealthCheck. A larger report is not recorded. */
  knownHealthBytes: 512,
  /** Characters of the JSON of `spec.job.template` of a HealthCheck. */
  jobTemplate: 32_768,
  /** Characters of a query to a MetricProvider with its variables. */
  metricQuery: 2048,
  /** Series in the result of a query to a MetricProvider. */
  metricSeries: 100,
  /**
   * Approvals that a Gate or RolloutGate keeps. Beyond that, the oldest of the user whose approvals take the most bytes
   * is dropped, with a Warning. A user name has at most 256 characters.
   */
  approvals: 64,
  /** Bytes of all approvals of a Gate or RolloutGate, as the API server stores them. */
  approvalBytes: 32_768,
  /** Characters that are stored of a reason; of a longer one the rest is cut, with a Warning. */
  reason: 256,
  /** Characters of the reason of a bypass. A longer one bypasses nothing. */
  bypassReason: 4096,
  /** Characters that are stored of the reason why a Gate is to open or close; the rest is cut, with a Warning. */
  gateReason: 1024,
  /**
   * The Rollouts that are read to complete an approval that names no Rollout: those that require the Gate. With more,
   * the user has to approve `<namespace>/<rollout>:<version>`.
   */
  approvalRollouts: 100,
  /** Rollouts in `spec.after`. Each costs a live read before a deployment. */
  after: 20,
  /** Rollouts read to find a cycle in `spec.after`. */
  upstreamRollouts: 200,
  /** RolloutBudgets listed for one Rollout, of its namespace and of the cluster. */
  listedBudgets: 100,
  /** RolloutBudgets that select one Rollout. */
  budgetsOfRollout: 10,
  /**
   * Rollouts that one RolloutBudget selects. With more, or if together they exceed `bodyBytes`, no slot is granted;
   * `kubectl rollouts doctor` warns before.
   */
  rolloutsOfBudget: 1000,
  /**
   * Rollouts for which one schedule has a RolloutGate. With more, namespaces share fairly, and the condition `Ready`
   * reports it.
   */
  scheduledRollouts: 1000,
  /**
   * Rollouts whose metadata is listed for one schedule. Others keep their RolloutGates, and the condition `Ready`
   * reports it.
   */
  listedRollouts: 10_000,
  /**
   * Versions in the status of a RolloutBudget. Versions that no Rollout requests are dropped first. If more requested
   * versions than this have failed, no slot is granted.
   */
  budgetVersions: 20,
  /** Namespaces in which one object reports a change of a Gate or budget: its own first, then by name. */
  notifiedNamespaces: 100,
  /** Flux objects that report one change of a Rollout. */
  notifiedObjects: 10,
  /** The longest time until its next call that a hook requests, in seconds. */
  resyncAfterSeconds: 3600,
} as const;
