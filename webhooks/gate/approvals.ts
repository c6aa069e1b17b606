/** Approvals in a write of a Gate: for which Rollouts one may be meant, and which a closing revokes. */
import type { AdmissionRequest } from '../../api/admission.ts';
import { APPROVE_FOR, APPROVE_FOR_REASON, GATE_APPROVALS, UNAPPROVE_FOR } from '../../api/annotations.ts';
import { NAMESPACES, ROLLOUTS } from '../../api/kinds.ts';
import type { WebhookCall } from '../../api/ports.ts';
import type { Gate, Rollout } from '../../api/types.ts';
import { namedIn, type Target, versionProblem } from '../../core/approval/accept.ts';
import { isServiceAccount } from '../../core/approval/persons.ts';
import { knowsVersion } from '../../core/evaluation/approvals.ts';
import { requestersOf } from '../../core/evaluation/requesters.ts';
import type { Acceptance } from '../../core/gate/accept.ts';
import { approveForCommand, closingOf, standingApprovals, takesOpening } from '../../core/gate/approved.ts';
import { requirersOf } from '../../core/gate/requirers.ts';
import { firstFew } from '../../core/kube/firstFew.ts';
import { identityOf, refKey } from '../../core/kube/names.ts';
import { type ApprovalsWritten, writeApprovals } from '../approvals.ts';

const KEYS = { approve: APPROVE_FOR, unapprove: UNAPPROVE_FOR, reason: APPROVE_FOR_REASON, record: GATE_APPROVALS };

/** `accepted`: the requests of the same write. One that closes the Gate now revokes what was approved before. */
export function writeGateApprovals(
  gate: Gate,
  old: Gate | undefined,
  { accepted }: Acceptance,
  request: AdmissionRequest,
  call: WebhookCall,
): Promise<ApprovalsWritten> {
  const newest = closingOf(gate, call.now);
  const closes = newest && accepted.some(({ action, at }) => action === 'close' && at === newest.at);
  const closing = old && closingOf(old, call.now);
  // A closing may be dated up to a minute ahead: what is approved after it counts all the same.
  const now = closing ? Math.max(call.now, closing.at + 1000) : call.now;
  return writeApprovals(
    gate,
    old,
    KEYS,
    request,
    { ...call, now },
    () => targetsOf(gate, request, call),
    (record) => (closes ? { ...record, given: [] } : old ? standingApprovals(old, call.now) : record),
  );
}

/** Why a request to open is refused: with approvals one person's word opens nothing. A ServiceAccount's, perhaps a sync's, is only ignored. */
export function refuseOpening(
  gate: Gate,
  old: Gate | undefined,
  { accepted }: Acceptance,
  { userInfo }: AdmissionRequest,
  { now }: WebhookCall,
): string | undefined {
  const opens = accepted.some(({ action }) => action === 'open');
  if (!opens || !gate.spec.approvals || isServiceAccount(userInfo.username)) return undefined;
  if (old && takesOpening({ ...old, spec: gate.spec }, now)) return undefined;
  return (
    'the Gate has spec.approvals and is opened by no request: approve a version of a Rollout that requires it: ' +
    approveForCommand(gate)
  );
}

/** Live, of all namespaces: an approval is rare. */
async function targetsOf(
  gate: Gate,
  request: AdmissionRequest,
  { cluster }: WebhookCall,
): Promise<(value: string) => Target> {
  const [rollouts, namespaces] = await Promise.all([
    cluster.list<Rollout>(ROLLOUTS),
    gate.spec.selects?.namespaceSelector ? cluster.listMetadata(NAMESPACES) : [],
  ]);
  const labels = new Map(namespaces.map(({ metadata }) => [metadata.name ?? '', metadata.labels ?? {}] as const));
  const requiring = new Set(requirersOf(gate, { bindings: [], rollouts, namespaces: labels }).map(refKey));
  const known = rollouts.filter((rollout) => requiring.has(refKey(identityOf(rollout))));
  return (value) => targetOf(value, known, request.userInfo.username);
}

/** An approval is for one Rollout: an equal tag of another application is another version. */
function targetOf(value: string, requiring: readonly Rollout[], user: string): Target {
  const { version, rollout: named } = namedIn(value);
  const meant = requiring.filter((rollout) => named === undefined || refKey(identityOf(rollout)) === named);
  if (named !== undefined && !meant[0]) return { problem: `no Rollout '${named.slice(0, 128)}' requires this Gate` };
  const [found, ...others] = meant.filter((rollout) => knowsVersion(rollout, version));
  const names = firstFew(meant.map((rollout) => refKey(identityOf(rollout))));
  if (!found) {
    const which = names || 'none that requires this Gate';
    return { problem: versionProblem(version, false, which) ?? '' };
  }
  const problem = versionProblem(version, true, names);
  if (problem !== undefined) return { problem };
  const rollout = refKey(identityOf(found));
  if (others.length > 0) {
    const all = firstFew([found, ...others].map((each) => refKey(identityOf(each))));
    return { problem: `several Rollouts that require this Gate have ${version} (${all}): write ${rollout}:${version}` };
  }
  const isRequester = requestersOf(found, version).requesters.includes(user);
  return { version, rollout, uid: found.metadata.uid, isRequester };
}
