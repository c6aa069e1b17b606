/** Admission of Rollouts: who asked for what, and whether it can be understood. */
import type { AdmissionRequest } from '../../api/admission.ts';
import { BYPASS_GATES, BYPASSED_GATES, FORCE_DEPLOY, ONE_SHOT, REQUEST, REQUESTED_BY } from '../../api/annotations.ts';
import type { WebhookCall } from '../../api/ports.ts';
import type { Rollout } from '../../api/types.ts';
import { specProblems } from '../../core/evaluation/config.ts';
import { foreignRefs } from '../../core/evaluation/foreignReferences.ts';
import {
  formatRequestIds,
  GATE_BYPASS,
  parseRequestIds,
  type RequestIds,
  requestKey,
} from '../../core/evaluation/requests.ts';
import { recordReason } from '../../core/gate/bypass.ts';
import { annotate } from '../../core/kube/annotate.ts';
import { newProblems } from '../../core/kube/fieldProblem.ts';
import { isLegalTag } from '../../core/kube/tag.ts';
import { type AdmissionHandler, allowed, denied } from '../response.ts';
import { bypassOf } from './bypass.ts';
import { denyDelete, denyDroppedGates, denyNewOwner } from './waysAround.ts';

/** Notes beside each one-shot request which admission request made it, so that each is acted on once. */
export const mutateRollout: AdmissionHandler = async (request, call) => {
  const rollout = request.object as Rollout | null | undefined;
  if (!rollout || request.subResource) return allowed();
  const before = (request.oldObject ?? undefined) as Rollout | undefined;
  const user = request.userInfo.username;
  const bypass = await bypassOf(rollout, before, request, call);
  const { ids, asked } = requestIds(rollout, before, request);
  if (bypass.requestId !== undefined) ids[GATE_BYPASS] = bypass.requestId;
  const wantedChanged = rollout.spec?.wantedVersion !== before?.spec?.wantedVersion;
  const by = asked || wantedChanged ? user : before?.metadata.annotations?.[REQUESTED_BY];
  const requested = annotate(annotate(rollout, REQUEST, formatRequestIds(ids) || undefined), REQUESTED_BY, by);
  const object = recordReason(annotate(requested, BYPASSED_GATES, bypass.gates), before, user, call.now);
  const warnings = bypass.refused === undefined ? [] : [`Bypass refused: ${bypass.refused}`];
  if (object === rollout) return allowed(warnings);
  return { allowed: true, object, warnings, ...(bypass.audit && { audit: bypass.audit }) };
};

/** A new or changed annotation is this request's; others keep their id, whatever the text in the annotation says. */
function requestIds(rollout: Rollout, before: Rollout | undefined, { uid }: AdmissionRequest) {
  const old = before?.metadata.annotations;
  const oldIds = parseRequestIds(old?.[REQUEST]);
  const ids: RequestIds = {};
  let asked = false;
  for (const annotation of ONE_SHOT) {
    const value = rollout.metadata.annotations?.[annotation];
    if (value === undefined) continue;
    const key = requestKey(annotation);
    const isNew = value !== old?.[annotation];
    if (isNew) asked = true;
    const id = isNew ? uid : oldIds[key];
    if (id !== undefined) ids[key] = id;
  }
  return { ids, asked };
}

export const validateRollout: AdmissionHandler = async (request, call) => {
  const rollout = request.object as Rollout | null | undefined;
  const before = request.oldObject as Rollout | null | undefined;
  if (request.subResource) return allowed();
  if (!rollout) return (before && (await denyDelete(before, request, call))) ?? allowed();
  const problems = newProblems(problemsOf(rollout, call), before ? problemsOf(before, call) : []);
  if (problems.length > 0)
    return denied('invalid', `Rollout '${rollout.metadata.name}' is not valid: ${problems.join('; ')}`);
  const denial =
    before &&
    ((await denyDroppedGates(rollout, before, request, call)) ?? (await denyNewOwner(rollout, before, request, call)));
  return denial ?? allowed(warnings(rollout, before));
};

function problemsOf(rollout: Rollout, { settings }: WebhookCall): string[] {
  return [...specProblems(rollout.spec ?? {}), ...(settings.noCrossNamespaceRefs ? foreignRefs(rollout) : [])];
}

function warnings(rollout: Rollout, before: Rollout | null | undefined): string[] {
  const changed = (annotation: string) => {
    const value = rollout.metadata.annotations?.[annotation];
    return value !== before?.metadata.annotations?.[annotation] ? value : undefined;
  };
  const status = rollout.status ?? before?.status;
  const lacks = (list: { tag: string }[] | undefined, tag: string) => !list?.some((release) => release.tag === tag);
  const wanted = rollout.spec?.wantedVersion;
  const force = changed(FORCE_DEPLOY);
  const bypass = changed(BYPASS_GATES);
  return [
    ...(wanted && wanted !== before?.spec?.wantedVersion && !isLegalTag(wanted)
      ? [`wantedVersion ${JSON.stringify(wanted)} is not a legal tag and will not be deployed`]
      : []),
    ...(force && lacks(status?.availableReleases, force)
      ? [`force-deploy: version ${force} is not in available releases, it waits until it is`]
      : []),
    ...(bypass && lacks(status?.releaseCandidates, bypass)
      ? [`bypass-gates: version ${bypass} is not a release candidate, it has no effect until it is`]
      : []),
  ];
}
