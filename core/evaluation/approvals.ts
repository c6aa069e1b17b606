/** The approvals that RolloutGates ask for, per version of their Rollout. They hold deployments by hand too, but no rollback. */
import { APPROVALS, APPROVE, GATE_APPROVALS } from '../../api/annotations.ts';
import type { EpochMs } from '../../api/kubernetes.ts';
import type { Gate, Rollout, RolloutGate, RolloutStatus } from '../../api/types.ts';
import { parseApprovals } from '../approval/record.ts';
import { type ApprovalVerdict, type Background, judgeApprovals, verdictText } from '../approval/verdict.ts';
import { identityOf, refKey } from '../kube/names.ts';
import { requestersOf } from './requesters.ts';

/** Reason of DeploymentBlocked, and of Ready before a first deployment. */
export const WAITING_FOR_APPROVALS = 'WaitingForApprovals';

export type ReleaseAuthors = NonNullable<RolloutStatus['releaseAuthors']>[number];

/** What one RolloutGate with `spec.approvals` says of a version. */
export interface AskedApprovals {
  gate: RolloutGate;
  verdict: ApprovalVerdict;
}

/** Judges one version of a Rollout, each once. */
export type JudgeApprovals = (version: string) => readonly AskedApprovals[];

export function approvalJudge(
  rollout: Rollout,
  gates: readonly RolloutGate[],
  authors: readonly ReleaseAuthors[],
  now: EpochMs,
): JudgeApprovals {
  const asking = gates.flatMap((gate) => {
    const rule = gate.spec?.approvals;
    if (!rule) return [];
    const { given } = parseApprovals(gate.metadata.annotations?.[APPROVALS]);
    return [{ gate, rule, byVersion: Map.groupBy(given, ({ version }) => version) }];
  });
  const known = new Map<string, AskedApprovals[]>();
  return (version) => {
    const before = known.get(version);
    if (before) return before;
    const isGiven = asking.some(({ byVersion }) => byVersion.has(version));
    const background = isGiven ? backgroundOf(rollout, authors, version) : undefined;
    const judged = asking.map(({ gate, rule, byVersion }) => ({
      gate,
      verdict: judgeApprovals(rule, byVersion.get(version) ?? [], background, now),
    }));
    known.set(version, judged);
    return judged;
  };
}

export function backgroundOf(rollout: Rollout, authors: readonly ReleaseAuthors[], version: string): Background {
  return { ...requestersOf(rollout, version), authors: authors.find(({ tag }) => tag === version)?.authors };
}

export function isApproved(asked: readonly AskedApprovals[]): boolean {
  return asked.every(({ verdict }) => verdict.enough);
}

/** `1.2.0 has 1 of 2 approvals (alice): kubectl …`, for `status.gates`. */
export function approvalsText(version: string, { gate, verdict }: AskedApprovals): string {
  const how = verdict.enough ? '' : `; another person may: ${approveCommand(gate, version)}`;
  return `${version} has ${verdictText(verdict)}${how}`;
}

/** `RolloutGate 'qa' (1 of 2 approvals (alice))`. */
export function approvalsNeeded({ gate, verdict }: AskedApprovals): string {
  return `RolloutGate '${gate.metadata.name}': ${verdictText(verdict)}`;
}

export function approveCommand({ metadata }: RolloutGate, version: string): string {
  return `kubectl -n ${metadata.namespace} annotate rolloutgate/${metadata.name} ${APPROVE}=${version}`;
}

/** The versions whose authors have to be known: those with an approval that must not be theirs. */
export function authorsWanted(
  rolloutGates: readonly RolloutGate[],
  gates: readonly Gate[],
  rollout: Rollout,
): string[] {
  const own = rolloutGates.filter(({ spec }) => spec?.rolloutRef?.name === rollout.metadata.name);
  const asks = ({ spec }: RolloutGate | Gate) => spec?.approvals?.notBy?.includes('author');
  const key = refKey(identityOf(rollout));
  const onGates = gates
    .filter(asks)
    .flatMap(({ metadata }) => parseApprovals(metadata.annotations?.[GATE_APPROVALS]).given);
  return [
    ...new Set([
      ...own.filter(asks).flatMap(({ metadata }) => versionsOf(metadata.annotations?.[APPROVALS])),
      ...onGates.filter((each) => each.rollout === key).map(({ version }) => version),
    ]),
  ];
}

function versionsOf(record: string | undefined): string[] {
  return parseApprovals(record).given.map(({ version }) => version);
}

/** Whether it is there to be deployed, or asked for: an approval waits for nothing. */
export function knowsVersion({ spec, status }: Rollout, version: string): boolean {
  return spec?.wantedVersion === version || (status?.availableReleases ?? []).some(({ tag }) => tag === version);
}
