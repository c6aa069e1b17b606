/**
 * Every annotation and label key this project reads or writes: the Go rollout-controller's, the gating RFC's, Flux's and our own.
 * Who may write them is in the tables `annotations` of docs/.
 */

/** Prefix that makes a Flux object visible to the admission webhook. */
export const ROLLOUT_PREFIX = 'rollout.kuberik.com/';
export const GATE_PREFIX = 'gate.fluxcd.io/';

/** On OCIRepositories: the Rollout that owns `spec.ref.tag`. On Kustomizations: first half of the older pair. */
export const ROLLOUT = 'rollout.kuberik.com/rollout';
/** On Kustomizations: second half of the older pair, the variable's name. */
export const SUBSTITUTE = 'rollout.kuberik.com/substitute';
/** On Kustomizations: `rollout.kuberik.com/substitute.<VAR>.from: <rollout>`. */
export const SUBSTITUTE_FROM = /^rollout\.kuberik\.com\/substitute\.([^.]+)\.from$/;
/** On Flux objects, set by the webhook: which deployment of which Rollout the object carries. See core/pin/deployment.ts. */
export const DEPLOYED = 'rollout.kuberik.com/deployed';
/** On Kustomizations whose source a Rollout pins too, set by the webhook: the tag whose artifact may be applied with the variables that are set. See core/pin/whole.ts. */
export const ARTIFACT = 'rollout.kuberik.com/artifact';
/** Beside it, set by the webhook: the deployment that the source is fetching; the Kustomization is suspended meanwhile. */
export const AWAITS_ARTIFACT = 'rollout.kuberik.com/awaits-artifact';

/** One-shot requests on a Rollout. This one concerns RolloutGates: a Gate is bypassed with BYPASS_REASON. */
export const BYPASS_ROLLOUT_GATES = 'rollout.kuberik.com/bypass-gates';
export const FORCE_DEPLOY = 'rollout.kuberik.com/force-deploy';
export const DEPLOY_MESSAGE = 'rollout.kuberik.com/deploy-message';
export const DEPLOY_USER = 'rollout.kuberik.com/deploy-user';
export const UNBLOCK_FAILED = 'rollout.kuberik.com/unblock-failed';
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
/** Set by the webhook on a Rollout: which admission request made each one-shot annotation. See core/evaluation/requests.ts. */
export const REQUEST = 'rollout.kuberik.com/request';
/** Set by the webhook on a Rollout: the authenticated user of the newest request or of the newest `spec.wantedVersion`. */
export const REQUESTED_BY = 'rollout.kuberik.com/requested-by';
/** Beside it: when that was, RFC 3339. */
export const REQUESTED_AT = 'rollout.kuberik.com/requested-at';

/** Set by the webhook on a Rollout: who made each request that names a version and waits. See core/evaluation/requesters.ts. */
export const REQUESTERS = 'rollout.kuberik.com/requesters';

/** On RolloutGates with `spec.approvals`: the version that the writer approves. The webhook takes it off and keeps a record: see core/approval/accept.ts. */
export const APPROVE = 'rollout.kuberik.com/approve';
export const APPROVE_REASON = 'rollout.kuberik.com/approve-reason';
/** The version whose approval the writer takes back. */
export const UNAPPROVE = 'rollout.kuberik.com/unapprove';
/** Set by the webhook: the approvals that were given. See core/approval/record.ts. */
export const APPROVALS = 'rollout.kuberik.com/approvals';

/** On RolloutGates, Rollouts and Gates: why this write changes a list, opens, closes, unpins or sets a calendar. The webhook takes it off and keeps it in the records below. */
export const REASON = 'rollout.kuberik.com/reason';
/** On RolloutGates, set by the webhook: who put which version onto a list, and who last opened or closed the gate. See core/approval/listed.ts. */
export const LISTED = 'rollout.kuberik.com/listed';
/** On Gates, set by the webhook: who set `spec.schedule`. See core/approval/scheduledBy.ts. */
export const SCHEDULED_BY = 'gate.fluxcd.io/scheduled-by';
/** On Rollouts, set by the webhook: who pinned it, or removed the pin. See core/approval/pinRecord.ts. */
export const PIN_RECORD = 'rollout.kuberik.com/pin';

/** In the manifest of a release, `"true"`: what it changes cannot be undone, so that it is never rolled back. */
export const ROLLBACK_BARRIER = 'rollout.kuberik.com/rollback-barrier';

/** On Flux objects: the Gates the object requires, `a,ns/b`. */
export const GATES = 'gate.fluxcd.io/gates';
/** On Flux objects, set by the decorator: the Gates that select the object, `ns/a,ns/b`, or `(too-many)`. */
export const SELECTED_BY = 'gate.fluxcd.io/selected-by';
/** On Flux objects, set by the webhook: `open`, or `closed: ns/a,ns/b`. The decorator writes it only to trigger the webhook. */
export const GATE_STATE = 'gate.fluxcd.io/state';
/** On Flux objects, set by the webhook: what `spec.suspend` was before a gate closed (`true`, `false` or `unset`). */
export const SUSPENDED = 'gate.fluxcd.io/suspended';
/** On the object written: why a person bypasses the closed Gates that hold it. */
export const BYPASS_REASON = 'gate.fluxcd.io/bypass-reason';
/** Beside it on a Rollout: the version that the bypass is for. The webhook takes it off, so that it is always this write's. */
export const BYPASS_FOR = 'gate.fluxcd.io/bypass-for';
/** Beside it, set by the webhook: when and by whom the reason was given, `<RFC 3339> <user>`. */
export const BYPASSED_BY = 'gate.fluxcd.io/bypassed-by';

/** On Gates: RFC annotations. */
export const OPEN_REQUESTED_AT = 'open.gate.fluxcd.io/requestedAt';
export const CLOSE_REQUESTED_AT = 'close.gate.fluxcd.io/requestedAt';
export const OPEN_FOR = 'open.gate.fluxcd.io/for';
export const OPEN_REASON = 'open.gate.fluxcd.io/reason';
export const CLOSE_REASON = 'close.gate.fluxcd.io/reason';
/** On Gates, set by the webhook: the request that arrived last, with who made it. See core/gate/acceptedRequests.ts. */
export const ACCEPTED_REQUEST = 'gate.fluxcd.io/accepted-request';
/** On Gates with `spec.approvals`, as APPROVE and those beside it on RolloutGates: `<tag>`, or `<namespace>/<rollout>:<tag>`. */
export const APPROVE_FOR = 'approve.gate.fluxcd.io/for';
export const APPROVE_FOR_REASON = 'approve.gate.fluxcd.io/reason';
export const UNAPPROVE_FOR = 'unapprove.gate.fluxcd.io/for';
export const GATE_APPROVALS = 'gate.fluxcd.io/approvals';
/** On Gates: the webhook calls of the last minutes, so that none is taken twice. See core/receiver/usedCalls.ts. */
export const USED_CALLS = 'gate.fluxcd.io/used-calls';

/** On a Rollout, set by the webhook: which one deployment may pass which closings of Gates. See core/suspend/passage.ts. */
export const BYPASSED_GATES = 'gate.fluxcd.io/bypassed-gates';

/** Labels on a Gate that selects Flux objects, and on one that selects Rollouts; their values are in core/gate/selects.ts. */
export const SELECTS_LABEL = 'gate.fluxcd.io/selects';
export const SELECTS_ROLLOUTS_LABEL = 'gate.fluxcd.io/selects-rollouts';
/** Label on a RolloutGate: its Rollout's name (see core/kube/names.ts for names longer than 63 characters). */
export const ROLLOUT_NAME_LABEL = 'rollout.kuberik.com/rollout-name';
/** Label on a Rollout by which the HealthChecks find it that it may watch: see core/health/wake.ts. */
export const WATCHES_LABEL = 'rollout.kuberik.com/watches';
/** Suffix of the label that ties a FluxBinding to a Rollout: `<rollout>.rollout.kuberik.com/bound`. */
export const BOUND_LABEL_SUFFIX = 'rollout.kuberik.com/bound';

/** On RolloutBudgets: the version that goes on although it has failed as often as `spec.maxFailures` allows. One-shot. */
export const CONTINUE = 'rollout.kuberik.com/continue';
/** Beside it, set by the webhook: which admission request that was, when and whose, `<uid> <RFC 3339> <user>`. */
export const CONTINUE_REQUEST = 'rollout.kuberik.com/continue-request';
/** Suffix of the label that a RolloutBudget has for each slot that is granted and not used yet. See core/budget/wake.ts. */
export const SLOT_LABEL_SUFFIX = 'slot.rollout.kuberik.com/granted';

/** Label on the FluxBinding of an object that waits for its Kustomization's next apply: see core/suspend/resume.ts. */
export const RESUME_LABEL = 'gate.fluxcd.io/resumed-by';

/** Flux's own. */
export const RECONCILE_REQUESTED_AT = 'reconcile.fluxcd.io/requestedAt';
export const KUSTOMIZATION_NAME_LABEL = 'kustomize.toolkit.fluxcd.io/name';
export const KUSTOMIZATION_NAMESPACE_LABEL = 'kustomize.toolkit.fluxcd.io/namespace';
/** Kubernetes' own: why the object was changed last, for what has no annotation of its own to keep a reason in. */
export const CHANGE_CAUSE = 'kubernetes.io/change-cause';
export const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/** HealthChecks and schedules. */
export const HEALTHCHECK_KUSTOMIZATION = 'healthcheck.kuberik.com/kustomization';
/** On HealthChecks, Kustomizations and Namespaces: which other namespaces may watch their health, `team-a,team-b` or `*`. */
export const WATCHED_FROM = 'healthcheck.kuberik.com/watched-from';
export const HEALTHCHECK_REQUEUE_INTERVAL = 'healthcheck.kuberik.com/requeue-interval';
/** How long what was healthy may be short of it again, or missing, before it counts as broken. */
export const HEALTHCHECK_GRACE_PERIOD = 'healthcheck.kuberik.com/grace-period';
export const GATE_PRETTY_NAME = 'gate.kuberik.com/pretty-name';
export const GATE_DESCRIPTION = 'gate.kuberik.com/description';
/** On the RolloutGate of a schedule: when the schedule changes it next. */
export const GATE_UNTIL = 'gate.kuberik.com/until';
/** On Jobs and Pods that copy a release: the Rollout's name, shortened as a label. */
export const COPY_LABEL = 'rollout.kuberik.com/copies-for';

/** On Jobs of a HealthCheck of class job: the HealthCheck's name, shortened as a label. */
export const CHECK_LABEL = 'healthcheck.kuberik.com/runs-for';

export const SCHEDULE_NAME_LABEL = 'gate.kuberik.com/schedule-name';
export const SCHEDULE_KIND_LABEL = 'gate.kuberik.com/schedule-kind';
export const SCHEDULE_ROLLOUT_LABEL = 'gate.kuberik.com/rollout-name';
export const SCHEDULE_NAMESPACE_LABEL = 'gate.kuberik.com/schedule-namespace';
