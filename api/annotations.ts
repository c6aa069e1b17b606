/**
 * Every annotation and label key this project reads or writes: the Go rollout-controller's, the gating RFC's, Flux's
 * and our own. docs/reference/annotations.md is generated from the comments.
 */

/** Prefix that makes a Flux object visible to the admission webhook. */
export const ROLLOUT_PREFIX = 'rollout.kuberik.com/';
export const GATE_PREFIX = 'gate.fluxcd.io/';

/**
 * On OCIRepositories: the Rollout that sets `spec.ref.tag`. On HelmReleases: the Rollout of its chart's OCIRepository.
 * On Kustomizations: first half of the older pair.
 */
export const BOUND_ROLLOUT = 'rollout.kuberik.com/rollout';
/** On Kustomizations: second half of the older pair, the variable's name. */
export const SUBSTITUTE = 'rollout.kuberik.com/substitute';
/**
 * On Kustomizations: `rollout.kuberik.com/substitute.<VAR>.from: <rollout>`. Matches illegal variables too: they are
 * named as a problem, not ignored.
 */
export const SUBSTITUTE_FROM = /^rollout\.kuberik\.com\/substitute\.(.*)\.from$/;
/**
 * On bound Flux objects, written by the webhook: the deployment that the object carries,
 * `<rollout>=<id>/<version>/<uid>`, and `/git` if Git sets the field (`spec.writeBack`). See
 * core/managedField/deployment.ts.
 */
export const DEPLOYED = 'rollout.kuberik.com/deployed';
/**
 * On Kustomizations whose source has the same Rollout, written by the webhook: the tag whose artifact may be applied
 * with the variables that are set. See core/managedField/atomicUpdate.ts.
 */
export const ARTIFACT = 'rollout.kuberik.com/artifact';
/**
 * On Kustomizations with `rollout.kuberik.com/artifact`, written by the webhook: the deployment that the source is
 * fetching. The Kustomization is suspended meanwhile.
 */
export const AWAITS_ARTIFACT = 'rollout.kuberik.com/awaits-artifact';

/**
 * On Rollouts, once: a tag for which RolloutGates don't count; `Ready` reports it while the tag isn't available. To
 * bypass a Gate, use `gate.fluxcd.io/bypass-reason`.
 */
export const BYPASS_ROLLOUT_GATES = 'rollout.kuberik.com/bypass-gates';
/** On Rollouts, once: a tag to deploy now; waits until the tag is available. */
export const FORCE_DEPLOY = 'rollout.kuberik.com/force-deploy';
/** On Rollouts, once: the message of the manual deployment. */
export const DEPLOY_MESSAGE = 'rollout.kuberik.com/deploy-message';
/** On Rollouts, once: `triggeredBy` of the manual deployment. Free text: the authenticated user is in `requestedBy`. */
export const DEPLOY_USER = 'rollout.kuberik.com/deploy-user';
/**
 * On Rollouts, once: `true` lets the next version follow a failed one under `onFailure: Hold`; gates and health still
 * block it.
 */
export const UNBLOCK_FAILED = 'rollout.kuberik.com/unblock-failed';
/** On Rollouts, once: any value starts the failed deployment again. */
export const RETRY = 'rollout.kuberik.com/retry';
/** The one-shot annotations, in the order in which they are documented. */
export const ONE_SHOT = [
  BYPASS_ROLLOUT_GATES,
  FORCE_DEPLOY,
  DEPLOY_MESSAGE,
  DEPLOY_USER,
  UNBLOCK_FAILED,
  RETRY,
] as const;
/**
 * On Rollouts, written by the webhook: the user who set each one-shot annotation, when, and in which admission request.
 * With `notBy: requester` the approvals of these users and of the one in `pin` do not count. See
 * core/rollout/evaluation/rolloutRequests.ts.
 */
export const REQUEST = 'rollout.kuberik.com/request';

/**
 * On RolloutGates with `spec.approvals`: the version that the writer approves. The webhook removes it and keeps a
 * record. See core/approval/acceptApproval.ts.
 */
export const APPROVE = 'rollout.kuberik.com/approve';
/** On RolloutGates, with `rollout.kuberik.com/approve`: why the version is approved. */
export const APPROVE_REASON = 'rollout.kuberik.com/approve-reason';
/** On RolloutGates with `spec.approvals`: the version whose approval the writer withdraws. */
export const UNAPPROVE = 'rollout.kuberik.com/unapprove';
/**
 * On RolloutGates, written by the webhook: the approvals, and the last ten changes of their rule, with users. See
 * core/approval/approvalRecord.ts.
 */
export const APPROVALS = 'rollout.kuberik.com/approvals';

/**
 * On RolloutGates, Rollouts and Gates: why the same write changes `allowedVersions`, `rejectedVersions` or `passing`,
 * removes `wantedVersion`, or changes `spec.schedule`. The webhook removes it and keeps 256 characters, with the
 * authenticated user and the time, in `listed`, `pin` or `scheduled-by`.
 */
export const REASON = 'rollout.kuberik.com/reason';
/**
 * On RolloutGates, written by the webhook: who put each version on `allowedVersions` and `rejectedVersions`, and who
 * last changed `passing`, when and why. It keeps the newest 32, of listed versions only, and no writes of schedules.
 * See core/record/listRecord.ts.
 */
export const LISTED = 'rollout.kuberik.com/listed';
/** On Gates, written by the webhook: who set `spec.schedule`, when and why. See core/record/pinAndSchedule.ts. */
export const SCHEDULED_BY = 'gate.fluxcd.io/scheduled-by';
/**
 * On Rollouts, written by the webhook: who last set or removed `spec.wantedVersion`, when and why. See
 * core/record/pinAndSchedule.ts.
 */
export const PIN_RECORD = 'rollout.kuberik.com/pin';

/**
 * `true` in the manifest of a release: the release can't be undone. It is never rolled back, and no rollback goes past
 * it.
 */
export const ROLLBACK_BARRIER = 'rollout.kuberik.com/rollback-barrier';

/** On Flux objects: the Gates that the object requires, `a,ns/b`. */
export const REQUIRED_GATES = 'gate.fluxcd.io/gates';
/**
 * On Flux objects: the Gates that select the object, `ns/a,ns/b`, or `(too-many)` if it requires more than 200 or their
 * names are too long together. Hooks write it too, but the webhook decides what is stored.
 */
export const SELECTED_BY = 'gate.fluxcd.io/selected-by';
/**
 * On Flux objects, written by the webhook: `open`; `closed: ns/a,ns/b`; `opening: <time>` while it waits for its
 * applier; `bypassed: ns/a@<closure>` after a bypass, for this closure; `bypassing: ns/a@<closure>` while one
 * deployment bypasses it.
 */
export const GATE_STATE = 'gate.fluxcd.io/state';
/** On Flux objects, written by the webhook: `spec.suspend` before a Gate closed: `true`, `false` or `unset`. */
export const SUSPENDED = 'gate.fluxcd.io/suspended';
/** On Rollouts and Flux objects: why a user bypasses the closed Gates that hold the object. */
export const BYPASS_REASON = 'gate.fluxcd.io/bypass-reason';
/**
 * On Rollouts, with `gate.fluxcd.io/bypass-reason`: the version that the bypass is for. The webhook removes it, so that
 * it belongs to one write.
 */
export const BYPASS_FOR = 'gate.fluxcd.io/bypass-for';
/**
 * On Rollouts and Flux objects, written by the webhook: when and by whom `bypass-reason` was given, `<RFC 3339>
 * <user>`. Without that reason: `earlier: <RFC 3339> <user>: <reason>`.
 */
export const BYPASSED_BY = 'gate.fluxcd.io/bypassed-by';

/**
 * The annotations that the webhook writes on Flux objects, and the reason of a bypass. They count in no limit: an
 * object with as many annotations as a user may write must still be suspended, and its Gates bypassed.
 * manifests/policies/object-sizes.yaml has them too.
 */
export const UNCOUNTED_ON_FLUX_OBJECTS: ReadonlySet<string> = new Set([
  ARTIFACT,
  AWAITS_ARTIFACT,
  BYPASS_REASON,
  BYPASSED_BY,
  DEPLOYED,
  GATE_STATE,
  SELECTED_BY,
  SUSPENDED,
]);

/** On Gates: open at this time, RFC 3339. */
export const OPEN_REQUESTED_AT = 'open.gate.fluxcd.io/requestedAt';
/** On Gates: close at this time, RFC 3339. */
export const CLOSE_REQUESTED_AT = 'close.gate.fluxcd.io/requestedAt';
/** On Gates: the one version that the opening is for, `<tag>` of every Rollout or `<namespace>/<rollout>:<tag>`. */
export const OPEN_FOR = 'open.gate.fluxcd.io/for';
/** On Gates: why it is opened. */
export const OPEN_REASON = 'open.gate.fluxcd.io/reason';
/** On Gates: why it is closed. */
export const CLOSE_REASON = 'close.gate.fluxcd.io/reason';
/** On Gates, written by the webhook: the accepted requests, with their users. See core/gate/gateRequests.ts. */
export const ACCEPTED_REQUEST = 'gate.fluxcd.io/accepted-request';
/**
 * On Gates with `spec.approvals`: the version that the writer approves, `<tag>` or `<namespace>/<rollout>:<tag>`. The
 * webhook removes it and keeps a record.
 */
export const APPROVE_FOR = 'approve.gate.fluxcd.io/for';
/** On Gates, with `approve.gate.fluxcd.io/for`: why the version is approved. */
export const APPROVE_FOR_REASON = 'approve.gate.fluxcd.io/reason';
/** On Gates with `spec.approvals`: the version whose approval the writer withdraws. */
export const UNAPPROVE_FOR = 'unapprove.gate.fluxcd.io/for';
/** On Gates, written by the webhook: the approvals, and the last ten changes of their rule, with users. */
export const GATE_APPROVALS = 'gate.fluxcd.io/approvals';
/**
 * On Gates, written by the receiver: the calls accepted in the last ten minutes, so that none counts twice. See
 * core/receiver/acceptCall.ts.
 */
export const USED_CALLS = 'gate.fluxcd.io/used-calls';

/**
 * On Rollouts, written by the webhook: which deployment bypasses which closures of Gates, `<version> (<id>) <time>:
 * ns/a@<closure>`; of many Gates the hashes of these. See core/suspension/bypassGrant.ts.
 */
export const BYPASSED_GATES = 'gate.fluxcd.io/bypassed-gates';

/**
 * Label on Gates that select Flux objects: `own-namespace`, or empty with a `namespaceSelector`; on those that select
 * Rollouts alone `own-namespace-rollouts` or `rollouts`. See core/gate/gateSelection.ts.
 */
export const SELECTS_LABEL = 'gate.fluxcd.io/selects';
/** Label on Gates that select Rollouts: `own-namespace` or empty. */
export const SELECTS_ROLLOUTS_LABEL = 'gate.fluxcd.io/selects-rollouts';
/**
 * Label on RolloutGates and derived ImagePolicies: the Rollout. Longer than 63 characters, the name is cut and ends
 * with a hash. See core/kube/names.ts.
 */
export const ROLLOUT_NAME_LABEL = 'rollout.kuberik.com/rollout-name';
/**
 * Label on Rollouts, written by the hooks: a hash of one label of `spec.healthCheckSelector`, by which HealthChecks
 * find the Rollout, or `none`. See core/health/association.ts.
 */
export const WATCHES_LABEL = 'rollout.kuberik.com/watches';
/** Label `<rollout>.rollout.kuberik.com/bound` on FluxBindings: a Rollout that the object is bound to. */
export const BOUND_LABEL_SUFFIX = 'rollout.kuberik.com/bound';

/** On budgets, once: `1.2.0` or `<image>:1.2.0`, whose failures are excused. */
export const CONTINUE = 'rollout.kuberik.com/continue';
/**
 * On budgets, written by the webhook: the user who set `rollout.kuberik.com/continue`, when, and in which admission
 * request.
 */
export const CONTINUE_REQUEST = 'rollout.kuberik.com/continue-request';
/**
 * Label `<hash>.slot.rollout.kuberik.com/granted` on budgets, written by the hooks: an unused slot. It triggers
 * the hook of the Rollout whose namespace and name are hashed. See core/budget/selectingBudgets.ts.
 */
export const SLOT_LABEL_SUFFIX = 'slot.rollout.kuberik.com/granted';

/**
 * Label on the FluxBinding of an object that waits for its applier's next apply: the applier. See
 * core/suspension/applier.ts.
 */
export const RESUME_LABEL = 'gate.fluxcd.io/resumed-by';

/**
 * Flux's annotation. Set on the applier of an object to be resumed, to the time of the opening; and to
 * `rollout-hooks/<generation>` on a Kustomization that waits for its source. On Rollouts with `spec.targetRepository`:
 * another value requests another copy of the release.
 */
export const RECONCILE_REQUESTED_AT = 'reconcile.fluxcd.io/requestedAt';
/** Flux's label: the Kustomization that applied the object. */
export const KUSTOMIZATION_NAME_LABEL = 'kustomize.toolkit.fluxcd.io/name';
/** Flux's label: the namespace of the Kustomization that applied the object. */
export const KUSTOMIZATION_NAMESPACE_LABEL = 'kustomize.toolkit.fluxcd.io/namespace';
/** Kubernetes' annotation: what `kubectl rollouts` did and why, on objects without their own record. */
export const CHANGE_CAUSE = 'kubernetes.io/change-cause';
/** kubectl's annotation: distinguishes a repeated `kubectl apply` from an edit. */
export const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/** On HealthChecks of class `kustomization`: the Kustomization, `name` or `namespace/name`. */
export const HEALTHCHECK_KUSTOMIZATION = 'healthcheck.kuberik.com/kustomization';
/**
 * On HealthChecks, Kustomizations, Rollouts and Namespaces: the other namespaces that may watch it, `team-a,team-b` or
 * `*`.
 */
export const WATCHED_FROM = 'healthcheck.kuberik.com/watched-from';
/** On HealthChecks: how often the objects are evaluated, at least `5s`; by default every 30 seconds to ten minutes. */
export const HEALTHCHECK_REQUEUE_INTERVAL = 'healthcheck.kuberik.com/requeue-interval';
/**
 * On HealthChecks of class `kustomization`: how long a workload that was ready may be unready, an applied object
 * missing, or Flux's attempts may fail, before it is Unhealthy; `1m` by default.
 */
export const HEALTHCHECK_GRACE_PERIOD = 'healthcheck.kuberik.com/grace-period';
/** On RolloutGates and schedules: a name for dashboards. */
export const GATE_PRETTY_NAME = 'gate.kuberik.com/pretty-name';
/** On RolloutGates and schedules: a text for dashboards. */
export const GATE_DESCRIPTION = 'gate.kuberik.com/description';
/** On the RolloutGate of a schedule: when the schedule next changes it; absent if it never does. */
export const GATE_UNTIL = 'gate.kuberik.com/until';
/** On our Events, as in the metadata of notifications: the version that the Event is about. */
export const EVENT_VERSION = 'kuberik.com/version';
/** Label on Jobs and Pods that copy a release: the Rollout, shortened as a label. */
export const COPY_LABEL = 'rollout.kuberik.com/copies-for';

/** Label on Jobs of a HealthCheck of class `job`: the HealthCheck, shortened as a label. */
export const CHECK_LABEL = 'healthcheck.kuberik.com/runs-for';

/** Label on the RolloutGate of a schedule: the schedule. */
export const SCHEDULE_NAME_LABEL = 'gate.kuberik.com/schedule-name';
/** Label on the RolloutGate of a schedule: `RolloutSchedule` or `ClusterRolloutSchedule`. */
export const SCHEDULE_KIND_LABEL = 'gate.kuberik.com/schedule-kind';
/** Label on the RolloutGate of a schedule: the Rollout. */
export const SCHEDULE_ROLLOUT_LABEL = 'gate.kuberik.com/rollout-name';
/** Label on the RolloutGate of a schedule: the schedule's namespace; not for the cluster kind. */
export const SCHEDULE_NAMESPACE_LABEL = 'gate.kuberik.com/schedule-namespace';
