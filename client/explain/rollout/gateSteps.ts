/** The steps for the Gates that a version has to pass: from the Rollout's status and from the Gates themselves. */
import { KINDS } from '../../../api/kinds.ts';
import type { EpochMs, NamespacedName } from '../../../api/kubernetes.ts';
import type { FluxBinding, Gate, GateSummary, Rollout } from '../../../api/types.ts';
import { ABSENCE, evaluateGates, type GateResult } from '../../../core/gate/evaluateGates.ts';
import type { NextDeployment } from '../../../core/gate/gateApprovals.ts';
import { gatesOfBinding, type Limit } from '../../../core/gate/gateRefs.ts';
import { withoutEmpty } from '../../../core/kube/json.ts';
import { byRefKey, identityOf, refKey } from '../../../core/kube/names.ts';
import { targetName } from '../../../core/rollout/deployment/progress.ts';
import { versionUsers } from '../../../core/rollout/evaluation/versionApprovals.ts';
import { mayBypass } from '../../../core/suspension/bypassGrant.ts';
import { withoutCommands } from '../../../core/text/commands.ts';
import { firstFew } from '../../../core/text/firstFew.ts';
import { objectRef, type Step } from '../application.ts';
import { gateFacts, gateText } from '../gateText.ts';
import { finder, type RelatedObjects, relatedGates, unreadReason } from '../related.ts';

/** The steps for Gates. `version`: the one that waits; undefined: the steps show which Gates would hold any version. */
export function gateSteps(
  rollout: Rollout,
  bound: readonly FluxBinding[],
  related: RelatedObjects,
  version: string | undefined,
  now: EpochMs,
): Step[] {
  const reported = new Map(
    (rollout.status?.gates ?? []).filter(({ kind }) => kind === KINDS.Gate.kind).map((gate) => [gate.name, gate]),
  );
  const ofBound = bound.flatMap(({ spec }) => gatesOfBinding(spec));
  const find = finder(related.gates);
  const [head] = rollout.status?.history ?? [];
  const isBypassed = mayBypass(rollout, head, version);
  // At a Gate that a bound object requires, an opening for one version does not count.
  const ofObjects = new Set(ofBound.map(refKey));
  const next = version === undefined ? undefined : nextDeployment(rollout, version);
  const { refs, limit } = relatedGates(rollout, bound);
  const steps = refs.map((ref) => {
    const wanted = ofObjects.has(refKey(ref)) ? undefined : next;
    const gate = find(ref);
    const step = gateStep(ref, gate, reported.get(refKey(ref)), related, { version, wanted, isBypassed }, now);
    const isOpenForVersion = gate && next && evaluateGates([ref], byRefKey([gate]), now, next)[0]!.isOpen;
    if (step.state !== 'blocks' || !isOpenForVersion) return step;
    const holders = bound.filter(({ spec }) => gatesOfBinding(spec).some((own) => refKey(own) === refKey(ref)));
    return { ...step, detail: `${step.detail}; still holds ${firstFew(holders.map(targetName), 3)}` };
  });
  return limit ? [limitStep(limit, version, reported.get(limit)), ...steps] : steps;
}

/** The step for a limit: it blocks every version, and the Gates behind it are unknown. */
function limitStep(limit: Limit, version: string | undefined, reported: GateSummary | undefined): Step {
  return {
    id: `gate/${limit}`,
    kind: 'gate',
    title: 'Gates',
    ...withoutEmpty({ version, detail: reported?.message && withoutCommands(reported.message) }),
    state: 'blocks',
    unread: true,
  };
}

interface StepInputs {
  version: string | undefined;
  wanted: NextDeployment | undefined;
  /** Whether the version may bypass the closed Gate. */
  isBypassed: ReturnType<typeof mayBypass>;
}

function gateStep(
  ref: NamespacedName,
  gate: Gate | undefined,
  reported: GateSummary | undefined,
  related: RelatedObjects,
  { version, wanted, isBypassed }: StepInputs,
  now: EpochMs,
): Step {
  const step = {
    id: `gate/${refKey(ref)}`,
    kind: 'gate' as const,
    title: `Gate ${refKey(ref)}`,
    ...withoutEmpty({ version }),
    object: objectRef('Gate', ref),
  };
  const reportedText = reported?.message && withoutCommands(reported.message);
  const why = gate ? undefined : unreadReason(related, 'Gate', ref.namespace);
  if (why !== undefined) {
    const detail = reported ? reportedText : `the Gate itself could not be read: ${why}`;
    return { ...step, state: reported ? 'blocks' : 'unknown', unread: true, ...withoutEmpty({ detail }) };
  }
  if (!gate) {
    const state = isBypassed({ key: refKey(ref), closure: ABSENCE }) ? 'passed' : 'blocks';
    return { ...step, state, detail: 'does not exist, and a missing Gate counts as closed', missing: true };
  }
  const evaluated = evaluateGates([ref], byRefKey([gate]), now, wanted)[0]!;
  const facts = {
    ...gateFacts(gate, now),
    detail: detailOf(gateText(gate, now), evaluated),
    ...(gate.spec.approvals && { needsApproval: true as const }),
  };
  if (!evaluated.isOpen) {
    if (!isBypassed(evaluated)) return { ...step, ...facts, state: 'blocks' };
    return { ...step, ...facts, state: 'passed', detail: `${facts.detail}; bypassed for this version` };
  }
  const isUnseen = reported !== undefined && version !== undefined;
  if (isUnseen)
    return {
      ...step,
      ...facts,
      state: 'waits',
      detail: `${facts.detail}; the status of the Rollout doesn't show it yet`,
    };
  return { ...step, ...facts, state: 'passed' };
}

/** The Gate's state, with the missing approvals of the version. */
function detailOf(text: string, { missingApprovals }: GateResult): string {
  return missingApprovals ? `${text}; ${missingApprovals.names ?? missingApprovals.count}` : text;
}

/** The version with all that a Gate's evaluation needs. */
export function nextDeployment(rollout: Rollout, version: string): NextDeployment {
  const users = versionUsers(rollout, rollout.status?.releaseAuthors ?? [], version);
  return { version, rollout: refKey(identityOf(rollout)), uid: rollout.metadata.uid, users };
}
