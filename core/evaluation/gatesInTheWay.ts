/** The Gates that a version of a Rollout has to pass: which hold it, and who let it through the others. */
import { LISTED } from '../../api/annotations.ts';
import type { EpochMs } from '../../api/kubernetes.ts';
import type { HistoryEntry, RolloutGate } from '../../api/types.ts';
import { listedOn, parseListed } from '../approval/listed.ts';
import type { Approval as GivenApproval } from '../approval/record.ts';
import { type JudgedGate, judgeGates, reveal } from '../gate/judge.ts';
import { identityOf, refKey } from '../kube/names.ts';
import { formatTime } from '../kube/time.ts';
import { closingsPassed } from '../suspend/passage.ts';
import { closingKey } from '../suspend/stateAnnotation.ts';
import { type AskedApprovals, backgroundOf, type ReleaseAuthors } from './approvals.ts';
import type { Observed } from './observed.ts';
import { boundGates } from './requiredGates.ts';

export type Approval = NonNullable<HistoryEntry['approvals']>[number];

export interface GatesInTheWay {
  closed: JudgedGate[];
  /** Those that are closed and that it may pass. */
  passed: JudgedGate[];
  /** The requests and approvals that opened the others. */
  approvals: Approval[];
  /** When one of them changes by itself. */
  requeueAt: EpochMs[];
}

/** An opening for one version is the Rollout's alone: an object that requires the same Gate sees it closed and could not take it. */
export function judgeRequired(
  { rollout, bindings, gateRefs, gates }: Observed,
  version: string,
  head: HistoryEntry | undefined,
  authors: readonly ReleaseAuthors[],
  now: EpochMs,
): GatesInTheWay {
  const byKey = new Map(gates.map((gate) => [`${gate.metadata.namespace}/${gate.metadata.name}`, gate]));
  const ofBound = new Set(boundGates(rollout, bindings).map(refKey));
  const { uid } = rollout.metadata;
  const background = backgroundOf(rollout, authors, version);
  const next = { version, rollout: refKey(identityOf(rollout)), uid, background };
  const judged = gateRefs.map((ref) => {
    const deployment = ofBound.has(refKey(ref)) ? undefined : next;
    return judgeGates([ref], (each) => byKey.get(refKey(each)), now, deployment);
  });
  const passes = closingsPassed(rollout, head, version);
  const all = reveal(
    judged.flatMap((each) => each.closed),
    rollout.metadata.namespace ?? '',
  );
  const { true: passed = [], false: closed = [] } = Object.groupBy(all, (gate) => `${passes.has(closingKey(gate))}`);
  const judgedGates = judged.flatMap((each) => each.all);
  return {
    closed,
    passed,
    approvals: judgedGates.slice(0, MAX_GATES).flatMap((gate) => approvalsOf(gate, rollout.metadata.namespace)),
    requeueAt: judgedGates.flatMap(({ until, approvalsUntil }) => [until, approvalsUntil]).filter(isTime),
  };
}

const isTime = (at: EpochMs | undefined): at is EpochMs => at !== undefined;

/** For how many Gates the history keeps who opened them, and how much of each reason. */
const MAX_GATES = 10;
const MAX_REASON = 256;

/** Who opened a Gate of another namespace, and why, is for those who may read that Gate. */
function approvalsOf({ ref, openedBy, approvedBy = [] }: JudgedGate, namespace: string | undefined): Approval[] {
  const given = openedBy ? [openedBy] : approvedBy;
  const latest = given.at(-1);
  if (!latest) return [];
  if (ref.namespace !== namespace) return [{ gate: refKey(ref), at: formatTime(latest.at) }];
  return given.map((each) => ({ gate: refKey(ref), ...stored(each) }));
}

/** Of a RolloutGate. */
export function givenOn({ gate, verdict }: AskedApprovals): Approval[] {
  return verdict.counted.map((each) => ({ kind: 'RolloutGate', gate: gate.metadata.name ?? '', ...stored(each) }));
}

/** Who put the version onto the list of a RolloutGate. */
export function listedFor({ metadata, spec }: RolloutGate, version: string): Approval[] {
  if (!spec?.allowedVersions?.includes(version)) return [];
  const listed = listedOn(parseListed(metadata.annotations?.[LISTED]), 'allowedVersions', version);
  return listed ? [{ kind: 'RolloutGate', gate: metadata.name ?? '', ...stored(listed) }] : [];
}

function stored({ at, by, reason }: Pick<GivenApproval, 'at' | 'reason'> & { by?: string }) {
  return { at: formatTime(at), ...(by && { by }), ...(reason && { reason: reason.slice(0, MAX_REASON) }) };
}
