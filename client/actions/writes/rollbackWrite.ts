/** A rollback that a user requests: to a version that ran before, never to a newer one. */
import type { ImagePolicy } from '../../../api/flux.ts';
import type { HistoryEntry, Rollout } from '../../../api/types.ts';
import { policyRules } from '../../../core/policy/rules.ts';
import { succeededDeployments } from '../../../core/rollout/deployment/history.ts';
import { releaseOrder } from '../../../core/rollout/release/candidates.ts';
import { withCommands } from '../../../core/text/commands.ts';
import { firstFew } from '../../../core/text/firstFew.ts';
import { badRequest, isRequest, type PlannedWrite, titleOf } from './plannedWrite.ts';
import { deploy, deploymentBasis, pin, rolloutCommand, tagProblem } from './rolloutWrites.ts';

export interface RollbackRequest {
  /** The version to go back to; absent: the last one that succeeded. */
  version?: string | undefined;
  /** Whether to pin the version, so that nothing newer is deployed until it is unpinned. */
  stays: boolean;
  reason?: string | undefined;
}

/** The policy for users who can't read the ImagePolicy: other tags than semantic versions keep their order. */
const SEMVER = { spec: { policy: { semver: { range: '*' } } } } as ImagePolicy;

/**
 * The write of a rollback. `policy`: the Rollout's ImagePolicy, which defines what is newer. The API server rejects the
 * write if another deployment has started since the Rollout was read.
 */
export function rollback(rollout: Rollout, policy: ImagePolicy | undefined, wanted: RollbackRequest): PlannedWrite {
  const { availableReleases = [], history = [] } = rollout.status ?? {};
  const title = titleOf(rollout);
  const [head] = history;
  if (!head) return badRequest(`${title} has not deployed anything yet: there is nothing to go back to.`);
  const from = head.version.tag;
  const { remaining, undone } = replayHistory(history);
  const order = releaseOrder(availableReleases, policyRules(policy ?? SEMVER));
  const rejection = (tag: string): string | undefined => {
    if (tag === from) return `it is the newest deployment`;
    if (order.isNewer(tag, from)) return `${tag} is newer than ${from}, the newest deployment`;
    return undone.has(tag) ? `${tag} was replaced by an older version` : undefined;
  };
  if (wanted.version !== undefined) {
    const problem = tagProblem(wanted.version);
    const why = rejection(wanted.version);
    if (problem) return badRequest(problem);
    if (why)
      return badRequest(
        withCommands(`${title} cannot go back to ${wanted.version}: ${why}.`, [
          'To deploy it anyway, and stay on it',
          rolloutCommand(rollout, 'pin', wanted.version),
        ]),
      );
  }
  const succeeded = new Set(succeededDeployments(history).map(({ version }) => version.tag));
  const to = wanted.version ?? remaining.findLast((tag) => succeeded.has(tag) && rejection(tag) === undefined);
  if (to === undefined) {
    const older = availableReleases.map(({ tag }) => tag).filter((tag) => rejection(tag) === undefined);
    return badRequest(`${title} ${noTargetText(history, older.reverse(), rejection)}`);
  }
  const why = wanted.reason ?? `Back from ${from}`;
  const requested = wanted.stays ? pin(rollout, to, why) : deploy(rollout, to, why);
  if (!isRequest(requested)) return requested;
  const { resourceVersion } = rollout.metadata;
  return {
    ...requested,
    text: `Requested to roll ${title} back from ${from} to ${to}${wanted.stays ? ', pinned there' : ''}`,
    body: { ...requested.body, metadata: { ...requested.body.metadata, ...(resourceVersion && { resourceVersion }) } },
    concerns: [`It rolls ${title} back from ${from} to ${to}`, ...requested.concerns],
    basis: deploymentBasis(head),
  };
}

/**
 * The versions of the history, from its start: a deployment adds its version, and a rollback removes all versions after
 * its target. `remaining`: the newest last. `undone`: the removed ones.
 */
function replayHistory(history: readonly HistoryEntry[]): { remaining: string[]; undone: Set<string> } {
  const remaining: string[] = [];
  const undone = new Set<string>();
  for (const { version, rolledBackFrom } of history.toReversed()) {
    const known = remaining.indexOf(version.tag);
    if (known >= 0) for (const tag of remaining.splice(known + 1)) undone.add(tag);
    // The target of the rollback may be older than the kept history.
    if (rolledBackFrom !== undefined) {
      undone.add(rolledBackFrom);
      if (remaining.at(-1) === rolledBackFrom) remaining.pop();
    }
    if (remaining.at(-1) !== version.tag) remaining.push(version.tag);
    undone.delete(version.tag);
  }
  return { remaining, undone };
}

/** The end of the message if the history has no version to go back to. `older`: releases that the user may name. */
function noTargetText(
  history: readonly HistoryEntry[],
  older: readonly string[],
  rejection: (tag: string) => string | undefined,
): string {
  const [from, ...before] = new Set(history.map(({ version }) => version.tag));
  if (before.length === 0) {
    const what =
      older.length > 0 ? `name the version to go back to (${firstFew(older, 5)})` : 'there is nothing to go back to';
    return `has deployed nothing before ${from}: ${what}.`;
  }
  const skipped = before.map((tag) => rejection(tag) ?? `the last deployment of ${tag} has not succeeded`);
  const none = `runs ${from}, and its history has no version before it that succeeded`;
  return `${none} (${firstFew(skipped, 5)}): name the version to go back to.`;
}
