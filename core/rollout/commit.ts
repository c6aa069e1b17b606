/** Carrying a decision into the draft: the new head, what it uses up, and what history and releases are kept. */
import { REQUESTED_BY } from '../../api/annotations.ts';
import { READY } from '../../api/conditions.ts';
import { deploy } from '../deployment/entry.ts';
import { readyMessage } from '../deployment/messages.ts';
import { bakeFailureDisabled } from '../deployment/recovery.ts';
import { withMetadata } from '../release/metadata.ts';
import { retained } from '../release/retention.ts';
import { type Draft, put } from './draft.ts';
import type { Situation } from './evaluation.ts';
import type { Requests } from './requests.ts';

export function commit(draft: Draft, { selection, verdict, unhealthy }: Situation, requests: Requests): void {
  const { observed, config, now } = draft;
  const { manual, next, back } = selection;
  if (next === undefined) return;
  const [previous] = draft.history;
  const kind = {
    manual,
    forced: manual && requests.forceDeploy === next,
    bypassed: verdict.condition.reason === 'GatesBypassed' && requests.bypassGates === next,
    unblocked: requests.unblockFailed && previous?.bakeStatus === 'Failed' && back === undefined,
    rollbackFrom: back?.from,
  };
  const version =
    back?.to ?? draft.available.find(({ tag }) => tag === next) ?? withMetadata({ tag: next }, observed.metadata[next]);
  const { history, news } = deploy(
    draft.history,
    {
      ...kind,
      version,
      bakes: config.bakes,
      message: requests.deployMessage,
      user: requests.deployUser,
      requestedBy: observed.rollout.metadata.annotations?.[REQUESTED_BY],
    },
    now,
  );
  draft.commits = true;
  // Whoever deploys a version that was rolled back wants it tried again.
  draft.rolledBack = [...draft.rolledBack.filter((tag) => tag !== next), ...(back ? [back.from] : [])];
  draft.history = history.slice(0, config.historyLimit);
  if (history.length > draft.history.length) {
    const retention = { days: config.retentionDays, minCount: config.minReleases };
    draft.available = retained(draft.available, draft.history, retention, now);
  }
  draft.news.push(...news);
  put(
    draft,
    bakeFailureDisabled({
      previous,
      manual,
      unblocked: kind.unblocked,
      onFailure: config.onFailure,
      unhealthy: unhealthy !== undefined,
    }),
  );
  const message = readyMessage(kind, draft.history[0]!);
  put(draft, { type: READY, status: 'True', reason: 'RolloutSucceeded', message });
  useUpWith(draft, requests, next);
}

/** Nothing that was asked before a deployment may act on a later one, except a force-deploy of another version. */
function useUpWith(draft: Draft, requests: Requests, deployed: string): void {
  for (const key of requests.pending) {
    if (key !== 'force-deploy' || requests.forceDeploy === deployed) draft.used.add(key);
  }
}
