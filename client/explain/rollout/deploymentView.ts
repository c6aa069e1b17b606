/** An entry of the history, as people read it. */
import type { HistoryEntry } from '../../../api/types.ts';
import type { DeploymentView, Outcome } from '../application.ts';
import { defined } from '../defined.ts';

const OUTCOMES: readonly string[] = ['Deploying', 'InProgress', 'Succeeded', 'Failed', 'Cancelled'] satisfies Outcome[];

export function deploymentView(entry: HistoryEntry): DeploymentView {
  const { version, bakeStatus = '', triggeredBy, requestedBy, bypass } = entry;
  return {
    id: entry.id ?? 0,
    version: version.tag,
    outcome: OUTCOMES.includes(bakeStatus) ? (bakeStatus as Outcome) : 'Unknown',
    by: requestedBy ? { kind: 'User', name: requestedBy } : (triggeredBy ?? { kind: 'System', name: '' }),
    at: entry.timestamp,
    approvals: (entry.approvals ?? []).map((approval) => ({ ...approval })),
    failedChecks: (entry.failedHealthChecks ?? []).map((check) => ({ ...check })),
    ...defined({
      digest: version.digest,
      revision: version.revision,
      imageVersion: version.version,
      created: version.created,
      detail: entry.bakeStatusMessage,
      message: entry.message,
      reason: entry.reason,
      appliedAt: entry.appliedTime,
      bakeStartedAt: entry.bakeStartTime,
      endedAt: entry.bakeEndTime,
      retriedAt: entry.lastRetryTimestamp,
      heldSince: entry.waitingSince,
      heldSeconds: entry.waitedSeconds,
      rolledBackFrom: entry.rolledBackFrom,
    }),
    ...(bypass && { bypass: { ...bypass } }),
  };
}
