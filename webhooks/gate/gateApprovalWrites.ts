/**
 * Approvals in a write of a Gate: the Rollout that an approval is for, and the approvals that a close request revokes.
 */
import type { AdmissionRequest } from '../../api/admission.ts';
import { ROLLOUTS } from '../../api/kinds.ts';
import type { NamespacedName } from '../../api/kubernetes.ts';
import type { ClusterReader, WebhookCall } from '../../api/ports.ts';
import type { Gate, Rollout } from '../../api/types.ts';
import {
  type ApprovalsWritten,
  type ApprovalTarget,
  acceptApproval,
  approvedValue,
  unknownVersion,
} from '../../core/approval/acceptApproval.ts';
import { APPROVAL_KEYS, recordedOn, splitTarget } from '../../core/approval/approvalRecord.ts';
import type { AcceptedRequests } from '../../core/gate/acceptRequests.ts';
import {
  approveGateCommand,
  closeRequestOf,
  openRequestHasEffect,
  standingApprovals,
} from '../../core/gate/gateApprovals.ts';
import { CLOCK_TOLERANCE_MS } from '../../core/gate/gateRequests.ts';
import { reachesBeyond } from '../../core/gate/gateSelection.ts';
import { evaluateGate } from '../../core/gate/gateTimeline.ts';
import { type Requiring, requirersOf } from '../../core/gate/requirers.ts';
import { identityOf, refKey } from '../../core/kube/names.ts';
import { isServiceAccount } from '../../core/kube/users.ts';
import { LIMITS } from '../../core/limits.ts';
import { hasDiscovered, requestersOf } from '../../core/rollout/evaluation/versionApprovals.ts';
import type { TextWithCommands } from '../../core/text/commands.ts';
import { firstFew } from '../../core/text/firstFew.ts';
import { inWarning } from '../../core/text/oneLine.ts';
import { inParallel } from '../../live/inParallel.ts';
import { namespaceLabels } from '../../live/objectReads.ts';
import { readRequiring, readRolloutsIn } from '../../live/requiringReads.ts';

/** The Gate's approvals after the write. A request of the same write that closes the Gate revokes all before it. */
export async function writeGateApprovals(
  gate: Gate,
  old: Gate | undefined,
  { accepted }: AcceptedRequests,
  { userInfo }: AdmissionRequest,
  call: WebhookCall,
): Promise<ApprovalsWritten> {
  const closes = accepted.some(({ action, at }) => action === 'close' && at <= call.now + CLOCK_TOLERANCE_MS);
  const closeRequest = old && closeRequestOf(old, call.now);
  // A request to close may be dated up to a minute ahead; an approval made after it counts nevertheless.
  const now = closeRequest ? Math.max(call.now, closeRequest.at + 1000) : call.now;
  const write = { object: gate, old, keys: APPROVAL_KEYS.Gate, by: userInfo.username, now };
  const standing = old ? standingApprovals(old, call.now) : recordedOn(undefined, write.keys);
  const before = closes ? { ...standing, given: [] } : standing;
  const approved = approvedValue(write);
  return acceptApproval(write, before, approved === undefined ? undefined : await readTarget(gate, approved, call));
}

/**
 * Why a request to open is denied: no single user can open a Gate with approvals. A ServiceAccount's request is ignored
 * instead, because it may come from a sync.
 * @param gate with the record of the accepted requests
 */
export function openingProblem(
  gate: Gate,
  old: Gate | undefined,
  { accepted }: AcceptedRequests,
  { userInfo }: AdmissionRequest,
  { now }: WebhookCall,
): TextWithCommands | undefined {
  const opening = accepted.find(({ action }) => action === 'open');
  if (!opening || openRequestHasEffect(opening.for, gate, old, now) || isServiceAccount(userInfo.username))
    return undefined;
  return {
    text: 'a Gate with spec.approvals cannot be opened by a request: approve a version of a Rollout that requires it.',
    commands: [approveGateCommand(gate)],
  };
}

/**
 * A Warning if this write opens the Gate for a tag without a Rollout. Every Rollout that requires the Gate may deploy
 * that tag, and one tag of two Rollouts is two versions.
 */
export async function openForWarnings(gate: Gate, old: Gate | undefined, call: WebhookCall): Promise<string[]> {
  const { now } = call;
  const version = evaluateGate(gate, now).exception?.for;
  const isNew = old === undefined || version !== evaluateGate(old, now).exception?.for;
  if (version === undefined || !isNew || splitTarget(version).rollout !== undefined) return [];
  // A Warning must not deny an opening: if the Rollouts can't be read, there is none.
  const requiring = await readAllRequiring(gate, version, call).catch(() => ({ rollouts: [] }));
  const count = 'rollouts' in requiring ? requiring.rollouts.length : undefined;
  if (count !== undefined && count < 2) return [];
  const which = count === undefined ? 'every Rollout' : `each of ${count} Rollouts`;
  return [`opens for version ${inWarning(version)} of ${which}; for one only: <namespace>/<rollout>:<tag>`];
}

/**
 * The version and Rollout that an approval is for, read live: an approval is rare.
 * If the value names a Rollout, only that one is read; otherwise all that require the Gate.
 */
async function readTarget(gate: Gate, value: string, call: WebhookCall): Promise<ApprovalTarget> {
  const { version, rollout: named } = splitTarget(value);
  const found =
    named === undefined
      ? await readAllRequiring(gate, version, call)
      : { rollouts: await readIfRequiring(gate, named, call.cluster) };
  return 'problem' in found ? found : targetAmong(found.rollouts, version, named);
}

/** The Rollout of this name, if it requires the Gate. */
async function readIfRequiring(gate: Gate, named: string, cluster: ClusterReader): Promise<Rollout[]> {
  const [namespace = '', ...name] = named.split('/');
  const rollout = await cluster.get<Rollout>({ ...ROLLOUTS, namespace, name: name.join('/') });
  if (!rollout) return [];
  const labels = reachesBeyond(gate.spec.selects) ? await namespaceLabels(namespace, cluster) : {};
  return requiringAmong(gate, [rollout], new Map([[namespace, labels]]));
}

function requiringAmong(gate: Gate, rollouts: readonly Rollout[], namespaces: Requiring['namespaces']): Rollout[] {
  const requiring = new Set(requirersOf(gate, { bindings: [], rollouts, namespaces }).map(refKey));
  return rollouts.filter((each) => requiring.has(refKey(identityOf(each))));
}

/**
 * The time limit for a list. The API server waits 5 s for the webhook, and the Rollouts that require the Gate are read
 * afterwards.
 */
const MAX_LIST_MS = 2500;

/** The Rollouts that require a Gate; `problem`, a sentence, if they are unknown or too many. */
type RequiringRead = { rollouts: Rollout[] } | { problem: string };

/**
 * All Rollouts that require the Gate. Those of other namespaces come from the list that all Gates share, because any
 * tenant may approve on a Gate again and again.
 */
async function readAllRequiring(gate: Gate, version: string, call: WebhookCall): Promise<RequiringRead> {
  const { namespace: home } = identityOf(gate);
  const lists = Promise.all([readRequiring(true, call), readRolloutsIn(home, call)]);
  const [known, own] = (await call.sharedReads.withinMs(MAX_LIST_MS, lists)) ?? [];
  if (!known || !own || own.isTruncated)
    return { problem: nameRolloutText('the Rollouts that require this Gate cannot be listed', version) };
  const { rollouts, namespaces } = known.of(gate);
  const elsewhere = rollouts.filter(({ metadata }) => metadata.namespace !== home);
  const refs = requirersOf(gate, { bindings: [], rollouts: [...own.listed, ...elsewhere], namespaces });
  const most = LIMITS.approvalRollouts;
  if (refs.length > most)
    return {
      problem: nameRolloutText(`more than ${most} Rollouts require this Gate (limit approvalRollouts)`, version),
    };
  const read = ({ namespace, name }: NamespacedName) => call.cluster.get<Rollout>({ ...ROLLOUTS, namespace, name });
  const found = (await inParallel(refs, read)).filter((rollout) => rollout !== undefined);
  // The shared list may be older.
  return { rollouts: requiringAmong(gate, found, namespaces) };
}

/** Characters of a user's text in a message. */
const MAX_QUOTED_CHARACTERS = 128;

function nameRolloutText(why: string, version: string): string {
  return `${why}: name the Rollout too, as <namespace>/<rollout>:${version.slice(0, MAX_QUOTED_CHARACTERS)}`;
}

/**
 * The only one of these Rollouts that has the version. Several are a problem, because the same tag of another
 * application is another version.
 */
function targetAmong(rollouts: readonly Rollout[], version: string, named: string | undefined): ApprovalTarget {
  if (!rollouts[0]) {
    const which = named === undefined ? 'no Rollout' : `no Rollout '${named.slice(0, MAX_QUOTED_CHARACTERS)}'`;
    return { problem: `${which} requires this Gate: name the Gate in the Rollout's spec.gates, or select the Rollout` };
  }
  const nameOf = (each: Rollout) => refKey(identityOf(each));
  const [found, ...others] = rollouts.filter((each) => hasDiscovered(each, version));
  if (!found) return { problem: unknownVersion(version, rollouts.map(nameOf)) };
  const rollout = nameOf(found);
  if (others.length > 0) {
    const all = firstFew([found, ...others].map(nameOf));
    return { problem: `several Rollouts that require this Gate have ${version} (${all}): write ${rollout}:${version}` };
  }
  const { requesters } = requestersOf(found, version);
  const target = { version, rollout, uid: found.metadata.uid, requesters };
  if (rollouts.length === 1) return target;
  // Any tenant can create a Rollout that requires the Gate and has the version before the intended Rollout has it.
  const what = inWarning(version);
  return {
    ...target,
    warning: `approved ${what} for Rollout '${rollout}' only: no other Rollout that requires this Gate has this release`,
  };
}
