/** Who has approved which version at a Gate, and what it lacks, in the words of conditions and of `why`. */
import type { EpochMs } from '../../api/kubernetes.ts';
import type { Gate } from '../../api/types.ts';
import { verdictText } from '../../core/approval/verdict.ts';
import type { NextDeployment } from '../../core/gate/approved.ts';
import { refKey } from '../../core/kube/names.ts';
import { formatTime } from '../../core/kube/time.ts';
import { approvalsAt } from '../explain/approvals.ts';
import type { ApprovalView } from './pageMessages.ts';

const MOST = 50;

/** `waiting`: the versions that the Gate holds now. */
export function approvalViews(gate: Gate, waiting: readonly NextDeployment[], now: EpochMs): ApprovalView[] {
  return approvalsAt(gate, waiting, now)
    .slice(0, MOST)
    .map(({ rollout, version, verdict }, index) => {
      const all = [
        ...verdict.counted.map((approval) => ({ approval, why: undefined })),
        ...verdict.excluded.map(({ approval, why }) => ({ approval, why })),
      ];
      return {
        rollout: refKey(rollout),
        version,
        text: verdictText(verdict),
        enough: verdict.enough,
        waits: index < waiting.length,
        given: all
          .sort((a, b) => a.approval.at - b.approval.at)
          .map(({ approval: { by, at, reason }, why }) => ({
            by,
            at: formatTime(at),
            ...(reason && { reason }),
            ...(why && { doesNotCount: why }),
          })),
      };
    });
}
