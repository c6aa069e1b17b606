/** Approvals at a Gate in words: the rule, and who has approved which version. */
import type { EpochMs, NamespacedName } from '../../api/kubernetes.ts';
import type { ApprovalRule, Gate } from '../../api/types.ts';
import { type ApprovalVerdict, evaluateVersions, verdictText } from '../../core/approval/approvalVerdict.ts';
import { approvalsOn, type NextDeployment, standingApprovals } from '../../core/gate/gateApprovals.ts';
import type { GateEvaluation } from '../../core/gate/gateTimeline.ts';
import { withoutEmpty } from '../../core/kube/json.ts';
import { refKey } from '../../core/kube/names.ts';
import { formatTime } from '../../core/kube/time.ts';
import { parseRefKey } from './related.ts';

/** The recorded approvals of one version of one Rollout, evaluated. */
interface ApprovalsAt {
  rollout: NamespacedName;
  /** The uid of that Rollout, if the version waits. */
  uid?: string | undefined;
  version: string;
  verdict: ApprovalVerdict;
}

/**
 * The approvals of the versions that wait, then of others with valid approvals, the newest first. Approvals of
 * requesters and authors are recognized for waiting versions only.
 */
export function approvalsAt(gate: Gate, waiting: readonly NextDeployment[], now: EpochMs): ApprovalsAt[] {
  const rule = gate.spec.approvals;
  if (!rule) return [];
  const given = standingApprovals(gate, now).given.filter(({ rollout }) => rollout !== undefined);
  const others = evaluateVersions(rule, given, now).filter(
    (each) => !waiting.some(({ rollout, version }) => rollout === each.rollout && version === each.version),
  );
  const ofWaiting = waiting.map((next) => ({
    rollout: parseRefKey(next.rollout),
    uid: next.uid,
    version: next.version,
    verdict: approvalsOn(gate, next, now)!,
  }));
  return [...ofWaiting, ...others.map((each) => ({ ...each, rollout: parseRefKey(each.rollout!) }))];
}

/** The approval rule of a Gate, as text, and what a request to open does while the Gate is closed. */
export function approvalRuleText(
  { required, notBy = [], expireAfter }: ApprovalRule,
  { opened, opensByApprovalsOnly }: Pick<GateEvaluation, 'opened' | 'opensByApprovalsOnly'>,
): string {
  const who = required === 1 ? 'the approval of one user' : `the approvals of ${required} users`;
  const names = { requester: 'the user who requested it', author: 'its authors' };
  const without = notBy.length > 0 ? ` (not from ${notBy.map((each) => names[each]).join(' or ')})` : '';
  const lasts = expireAfter ? `, each valid for ${expireAfter}` : '';
  const opening = opensByApprovalsOnly ? "a request can't open the Gate" : 'a request to open ends the closure';
  return `A version needs ${who}${without}${lasts}${opened ? '' : `; ${opening}`}`;
}

const MAX_APPROVAL_VIEWS = 50;

/** The approvals at a Gate, in words. `waiting`: the versions that the Gate holds now. */
export function approvalViews(gate: Gate, waiting: readonly NextDeployment[], now: EpochMs): ApprovalView[] {
  return approvalsAt(gate, waiting, now)
    .slice(0, MAX_APPROVAL_VIEWS)
    .map(({ rollout, version, verdict }, index) => ({
      rollout: refKey(rollout),
      version,
      text: verdictText(verdict),
      enough: verdict.enough,
      waits: index < waiting.length,
      given: verdict.given.map(({ by, at, reason, doesNotCount }) => ({
        by,
        at: formatTime(at),
        ...withoutEmpty({ reason, doesNotCount }),
      })),
    }));
}

/** The approvals of one version at a Gate, in words. */
export interface ApprovalView {
  /** `namespace/name`. */
  rollout: string;
  version: string;
  /** `1 of 2 approvals (alice)`. */
  text: string;
  enough: boolean;
  /** Whether the version waits for this Gate now. */
  waits: boolean;
  given: { by: string; at: string; reason?: string; doesNotCount?: string }[];
}
