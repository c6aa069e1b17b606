/** The steps for the Gates that a version has to pass: from the Rollout's status and from the Gates themselves. */
import { KINDS } from '../../../api/kinds.ts';
import type { EpochMs, NamespacedName } from '../../../api/kubernetes.ts';
import type { FluxBinding, GateSummary, Rollout } from '../../../api/types.ts';
import { closureKey, type Limit, requiredByBinding } from '../../../core/gate/closedGates.ts';
import { ABSENCE, evaluateGates } from '../../../core/gate/evaluateGates.ts';
import type { NextDeployment } from '../../../core/gate/gateApprovals.ts';
import { evaluateGate } from '../../../core/gate/gateTimeline.ts';
import { withoutEmpty } from '../../../core/kube/json.ts';
import { identityOf, refKey } from '../../../core/kube/names.ts';
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
  const ofBound = bound.flatMap(({ spec }) => requiredByBinding(spec).refs);
  const find = finder(related.gates);
  const [head] = rollout.status?.history ?? [];
  const isBypassed = mayBypass(rollout, head, version);
  const ofObjects = new Set(ofBound.map(refKey));
  const next = version === undefined ? undefined : nextDeployment(rollout, version);
  const { refs, limit } = relatedGates(rollout, bound);
  const steps = refs.map((ref): Step => {
    const key = refKey(ref);
    const gate = find(ref);
    const step = {
      id: `gate/${key}`,
      kind: 'gate',
      title: `Gate ${key}`,
      ...withoutEmpty({ version }),
      object: objectRef('Gate', ref),
    } as const;
    const isMissingBypassed = isBypassed(closureKey({ key, closure: ABSENCE }));
    if (!gate) return { ...step, ...absentGate(ref, reported.get(key), related, isMissingBypassed) };
    const evaluate = (counted?: NextDeployment) => evaluateGates([ref], new Map([[key, gate]]), now, counted)[0]!;
    const ofVersion = evaluate(next);
    // At a Gate that a bound object requires, an opening for one version does not count.
    const result = ofObjects.has(key) ? evaluate() : ofVersion;
    const isClosed = !result.isOpen && !isBypassed(closureKey(result));
    const isUnseen = result.isOpen && next !== undefined && reported.has(key);
    const holders = isClosed && ofVersion.isOpen ? bound.filter(({ spec }) => requires(spec, key)) : [];
    const { missingApprovals: missing } = result;
    const evaluation = evaluateGate(gate, now);
    const details = [
      gateText(gate, now, evaluation),
      missing && (missing.names ?? missing.count),
      !result.isOpen && !isClosed && 'bypassed for this version',
      isUnseen && "the status of the Rollout doesn't show it yet",
      holders.length > 0 && `still holds ${firstFew(holders.map(targetName), 3)}`,
    ];
    return {
      ...step,
      ...gateFacts(gate, evaluation),
      state: isClosed ? 'blocks' : isUnseen ? 'waits' : 'passed',
      detail: details.filter(Boolean).join('; '),
      ...(gate.spec.approvals && { needsApproval: true }),
    };
  });
  return limit ? [limitStep(limit, version, reported.get(limit)), ...steps] : steps;
}

function requires(spec: FluxBinding['spec'], key: string): boolean {
  return requiredByBinding(spec).refs.some((own) => refKey(own) === key);
}

/** The state of a Gate that does not exist, or could not be read. */
function absentGate(
  { namespace }: NamespacedName,
  reported: GateSummary | undefined,
  related: RelatedObjects,
  isBypassed: boolean,
): Pick<Step, 'state' | 'detail' | 'unread' | 'missing'> {
  const why = unreadReason(related, 'Gate', namespace);
  if (why === undefined) {
    const detail = 'does not exist, and a missing Gate counts as closed';
    return { state: isBypassed ? 'passed' : 'blocks', detail, missing: true };
  }
  if (!reported) return { state: 'unknown', detail: `the Gate itself could not be read: ${why}`, unread: true };
  const detail = reported.message && withoutCommands(reported.message);
  return { state: 'blocks', unread: true, ...withoutEmpty({ detail }) };
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

/** The version with all that a Gate's evaluation needs. */
export function nextDeployment(rollout: Rollout, version: string): NextDeployment {
  const users = versionUsers(rollout, rollout.status?.releaseAuthors ?? [], version);
  return { version, rollout: refKey(identityOf(rollout)), uid: rollout.metadata.uid, users };
}
