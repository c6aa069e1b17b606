/** Admission of Rollouts: records the users of requests, and denies invalid specs. */
import {
  BYPASS_FOR,
  BYPASSED_GATES,
  DEPLOY_MESSAGE,
  DEPLOY_USER,
  FORCE_DEPLOY,
  PIN_RECORD,
  REASON,
  REQUEST,
} from '../../api/annotations.ts';
import type { WebhookCall } from '../../api/ports.ts';
import type { Rollout } from '../../api/types.ts';
import { recordReason } from '../../core/gate/bypassReason.ts';
import { watchesLabel } from '../../core/health/association.ts';
import { annotate, annotateAll, labelAll } from '../../core/kube/annotate.ts';
import { newProblems, problemText } from '../../core/kube/fieldProblem.ts';
import { sameJson } from '../../core/kube/json.ts';
import { identityOf, refKey } from '../../core/kube/names.ts';
import { tagProblems } from '../../core/kube/tag.ts';
import { nextPinRecord } from '../../core/record/pinAndSchedule.ts';
import { NAME_A_VERSION, nextRequestRecord, requestsOf } from '../../core/rollout/evaluation/rolloutRequests.ts';
import { forbiddenProblems, initialVersionProblem, specProblems } from '../../core/rollout/evaluation/specProblems.ts';
import { upstreamName, upstreamRefs } from '../../core/rollout/upstream/dependencies.ts';
import { readUpstream } from '../../live/objectReads.ts';
import { type AdmissionHandler, allowed, deny, notValid, versionsOf } from '../response.ts';
import { bypassOf } from './rolloutBypass.ts';
import { decideDeletion, decideEvasion } from './rolloutEvasion.ts';
import { rolloutWarnings } from './rolloutWarnings.ts';

/**
 * Records the admission request that made each one-shot request, so that each takes effect once; and labels the Rollout
 * for HealthChecks.
 */
export const mutateRollout: AdmissionHandler = async (request, call) => {
  const { object: sent, old } = versionsOf<Rollout>(request);
  if (!sent) return allowed();
  const withOwnStatus = withStatus(sent, old?.status);
  const bypassFor = sent.metadata.annotations?.[BYPASS_FOR];
  const { rollout, cancelled } = withoutOlderForceDeploy(annotate(withOwnStatus, BYPASS_FOR, undefined), old);
  const user = request.userInfo.username;
  const requested = annotateAll(rollout, {
    [REQUEST]: nextRequestRecord(rollout, old, request, call.now),
    [PIN_RECORD]: nextPinRecord(rollout, old, user, call.now),
    [REASON]: undefined,
  });
  const bypass = await bypassOf(requested, old, bypassFor, request, call);
  if (bypass.denial) return deny(bypass.denial, request, call);
  const granted = labelAll(annotate(requested, BYPASSED_GATES, bypass.grant), watchesLabel(requested));
  const object = recordReason(granted, old, user, call.now, bypass.counts);
  const warnings = [
    ...bypass.warnings,
    ...(cancelled === undefined ? [] : [`the new wantedVersion cancels the waiting force-deploy of ${cancelled}`]),
  ];
  return { allowed: true, object: withStatus(object, sent.status), warnings, audit: bypass.audit };
};

/**
 * The Rollout with this status instead of its own.
 * Decisions need the stored status: the API server drops the writer's status from a write to spec or metadata only
 * after this webhook.
 */
function withStatus(rollout: Rollout, status: Rollout['status']): Rollout {
  const { status: _, ...rest } = rollout;
  return { ...rest, ...(status && { status }) };
}

const isNewAnnotation = (rollout: Rollout, old: Rollout | undefined, annotation: string) =>
  rollout.metadata.annotations?.[annotation] !== old?.metadata.annotations?.[annotation];

const changesWantedVersion = (rollout: Rollout, old: Rollout | undefined) =>
  rollout.spec?.wantedVersion !== old?.spec?.wantedVersion;

/**
 * The Rollout without a waiting force-deploy that this write replaces by a pinned version: the newer request counts.
 */
function withoutOlderForceDeploy(sent: Rollout, old: Rollout | undefined): { rollout: Rollout; cancelled?: string } {
  const waiting = old && requestsOf(old).forceDeploy;
  if (
    waiting === undefined ||
    !sent.spec?.wantedVersion ||
    !changesWantedVersion(sent, old) ||
    isNewAnnotation(sent, old, FORCE_DEPLOY)
  )
    return { rollout: sent };
  const withdrawn = [FORCE_DEPLOY, DEPLOY_MESSAGE, DEPLOY_USER].filter(
    (annotation) => !isNewAnnotation(sent, old, annotation),
  );
  const rollout = withdrawn.reduce<Rollout>((object, annotation) => annotate(object, annotation, undefined), sent);
  return { rollout, cancelled: waiting };
}

export const validateRollout: AdmissionHandler = async (request, call) => {
  const { object: rollout, old } = versionsOf<Rollout>(request);
  if (!rollout) return old ? decideDeletion(old, request, call) : allowed();
  const initial = old ? initialVersionProblem(rollout, old, call.settings.kuberikCompat) : undefined;
  const problems = [
    ...newProblems(problemsOf(rollout, call), old ? problemsOf(old, call) : []),
    ...(initial === undefined ? [] : [initial]),
  ];
  const order = problems.length > 0 ? undefined : await checkOrder(rollout, old, call);
  const wrong = order?.problem === undefined ? problems : [order.problem];
  if (wrong.length > 0) return notValid(rollout, wrong);
  const evasion = old ? await decideEvasion(rollout, old, request, call) : allowed();
  if (!evasion.allowed) return evasion;
  const warnings = [...(order?.warnings ?? []), ...(await rolloutWarnings(rollout, old, call))];
  return { ...evasion, warnings };
};

function problemsOf(rollout: Rollout, { settings }: WebhookCall): string[] {
  const named = tagProblems(rollout.metadata.annotations, NAME_A_VERSION).map(problemText);
  return [...specProblems(rollout.spec ?? {}), ...named, ...forbiddenProblems(rollout, settings)];
}

// A new `spec.after`, checked with live reads: a cycle is denied, and a missing upstream Rollout gets a Warning.

interface Order {
  /** Why the order is denied. */
  problem?: string;
  warnings: string[];
}

/** The check of a new order. A stored one may stay: otherwise nothing else on the object could change. */
async function checkOrder(rollout: Rollout, old: Rollout | undefined, call: WebhookCall): Promise<Order> {
  if (!rollout.spec?.after?.length || sameJson(rollout.spec.after, old?.spec?.after)) return { warnings: [] };
  const { found, problem } = await readUpstream(rollout, call);
  if (problem) return { problem: `${problem.message}: no version would ever be deployed automatically`, warnings: [] };
  const known = new Set(found.map((upstream) => refKey(identityOf(upstream))));
  const { namespace: home } = rollout.metadata;
  const missing = upstreamRefs(rollout)
    .filter((ref) => !known.has(refKey(ref)))
    .map((ref) => {
      const lacks = ref.namespace === home ? 'does not exist' : 'does not exist or has not consented';
      return `spec.after: Rollout '${upstreamName(ref, home)}' ${lacks}: every version waits until that changes`;
    });
  return { warnings: missing };
}
