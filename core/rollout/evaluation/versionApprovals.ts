/**
 * The approvals that RolloutGates ask for, per version of their Rollout.
 * They hold manual deployments too, but no rollback.
 */
import { APPROVALS, APPROVE, GATE_APPROVALS } from '../../../api/annotations.ts';
import type { EpochMs } from '../../../api/kubernetes.ts';
import type { Gate, Rollout, RolloutGate, RolloutStatus } from '../../../api/types.ts';
import { type Approval, parseApprovals } from '../../approval/approvalRecord.ts';
import {
  type ApprovalVerdict,
  type Background,
  evaluateApprovals,
  expiriesOf,
  verdictText,
} from '../../approval/approvalVerdict.ts';
import { identityOf, refKey } from '../../kube/names.ts';
import { tagWord } from '../../kube/tag.ts';
import { type CommandLine, withCommands } from '../../text/commands.ts';
import { shell } from '../../text/shell.ts';
import { deployedFor, requestersOf } from './rolloutRequests.ts';

/** Reason of DeploymentBlocked, and of Ready before a first deployment. */
export const WAITING_FOR_APPROVALS = 'WaitingForApprovals';

export type ReleaseAuthors = NonNullable<RolloutStatus['releaseAuthors']>[number];

/** The verdict of one RolloutGate with `spec.approvals` on a version. */
export interface RequiredApprovals {
  gate: RolloutGate;
  verdict: ApprovalVerdict;
}

/** Evaluates approvals for versions of one Rollout. */
export interface ApprovalEvaluator {
  /** The verdict of each RolloutGate that asks for approvals. */
  of(version: string): readonly RequiredApprovals[];
  /** The verdict of one RolloutGate; undefined if it asks for none. */
  on(gate: RolloutGate, version: string): RequiredApprovals | undefined;
  /** Whether a version has all that each asks for. */
  isApproved(version: string): boolean;
  /** The versions that have as many approvals as one of them asks for. */
  approvedOn(gate: RolloutGate): ReadonlySet<string>;
  /** When approvals of these versions end by themselves. */
  expiries(versions: ReadonlySet<string>): EpochMs[];
}

/** Work and memory grow with the approvals given: all versions without approvals share one answer per RolloutGate. */
export function approvalEvaluator(
  rollout: Rollout,
  gates: readonly RolloutGate[],
  authors: readonly ReleaseAuthors[],
  now: EpochMs,
): ApprovalEvaluator {
  const asking = new Map(gates.flatMap((gate) => (gate.spec?.approvals ? [[gate, askingOf(gate, now)] as const] : [])));
  const given = new Set([...asking.values()].flatMap(({ byVersion }) => [...byVersion.keys()]));
  const none = [...asking.values()].map(({ nothing }) => nothing);
  const backgrounds = new Map<string, Background>();
  const on = (gate: RolloutGate, version: string): RequiredApprovals | undefined => {
    const asks = asking.get(gate);
    const approvals = asks?.byVersion.get(version);
    if (!asks || !approvals) return asks?.nothing;
    const background = backgrounds.get(version) ?? backgroundOf(rollout, authors, version);
    backgrounds.set(version, background);
    const evaluated = asks.evaluated.get(version) ?? {
      gate,
      verdict: evaluateApprovals(asks.rule, approvals, background, now),
    };
    asks.evaluated.set(version, evaluated);
    return evaluated;
  };
  const approvedOn = (gate: RolloutGate) => {
    const { rule, byVersion } = asking.get(gate) ?? { rule: undefined, byVersion: new Map<string, Approval[]>() };
    const many = [...byVersion].filter(([, approvals]) => approvals.length >= (rule?.required ?? 0));
    return new Set(many.flatMap(([version]) => (on(gate, version)?.verdict.enough ? [version] : [])));
  };
  return {
    on,
    isApproved(version) {
      for (const gate of asking.keys()) if (!on(gate, version)!.verdict.enough) return false;
      return true;
    },
    approvedOn,
    expiries: (versions) =>
      [...asking.values()].flatMap(({ rule, given: approvals }) =>
        expiriesOf(
          approvals.filter(({ version }) => versions.has(version)),
          rule,
          now,
        ),
      ),
    of: (version) => (given.has(version) ? [...asking.keys()].map((gate) => on(gate, version)!) : none),
  };
}

function askingOf(gate: RolloutGate, now: EpochMs) {
  const rule = gate.spec!.approvals!;
  const { given } = parseApprovals(gate.metadata.annotations?.[APPROVALS]);
  return {
    rule,
    given,
    byVersion: Map.groupBy(given, ({ version }) => version),
    evaluated: new Map<string, RequiredApprovals>(),
    nothing: { gate, verdict: evaluateApprovals(rule, [], undefined, now) },
  };
}

export function backgroundOf(rollout: Rollout, authors: readonly ReleaseAuthors[], version: string): Background {
  return { ...requestersOf(rollout, version), authors: authors.find(({ tag }) => tag === version)?.authors };
}

/**
 * The same for the status of a RolloutGate, which tells also of versions that wait no longer: a request ends with its
 * deployment, and what that had counted stays as it was.
 */
export function backgroundInStatus(rollout: Rollout, authors: readonly ReleaseAuthors[], version: string): Background {
  const waiting = backgroundOf(rollout, authors, version);
  if (version === rollout.status?.pendingVersion) return waiting;
  const { requesters, ...onBehalfOf } = deployedFor(rollout, version);
  return { ...onBehalfOf, ...waiting, requesters: [...waiting.requesters, ...requesters] };
}

export function isApproved(requiredApprovals: readonly RequiredApprovals[]): boolean {
  return requiredApprovals.every(({ verdict }) => verdict.enough);
}

/** `1.2.0 has 1 of 2 approvals (alice)`, and how another person approves it, for `status.gates`. */
export function approvalsText(version: string, { gate, verdict }: RequiredApprovals): string {
  const how = verdict.enough ? [] : [approvalCommand(gate, version)];
  return withCommands(`${version} has ${verdictText(verdict)}`, ...how);
}

/** `RolloutGate 'qa': 1 of 2 approvals (alice)`. */
export function approvalsNeeded({ gate, verdict }: RequiredApprovals): string {
  return `RolloutGate '${gate.metadata.name}': ${verdictText(verdict)}`;
}

export function approvalCommand({ metadata }: RolloutGate, version: string): CommandLine {
  const { namespace, name } = identityOf({ metadata });
  const line = shell`kubectl -n ${namespace} annotate rolloutgate/${name} ${APPROVE}=${tagWord(version)}`;
  return [`To approve it at RolloutGate ${name}, as another person`, line];
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

/**
 * Whether the version was discovered.
 * A requested version may not exist yet: its approvals would count for an image published later.
 */
export function knowsVersion({ status }: Rollout, version: string): boolean {
  return (status?.availableReleases ?? []).some(({ tag }) => tag === version);
}
