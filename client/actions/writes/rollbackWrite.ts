/** A rollback that a user requests: to a version that ran before, never forward. */

import type { ImagePolicy } from '../../../api/flux.ts';
import type { HistoryEntry, Rollout } from '../../../api/types.ts';
import { few } from '../../../core/kube/firstFew.ts';
import { identityOf } from '../../../core/kube/names.ts';
import { policyRules } from '../../../core/policy/rules.ts';
import { releaseOrder } from '../../../core/rollout/evaluation/nextVersion.ts';
import { withCommands } from '../../../core/text/commands.ts';
import { isRequest, named, type PlannedWrite, wrong } from './plannedWrite.ts';
import { deploy, onRollout, pin } from './rolloutWrites.ts';

export interface RollbackRequest {
  /** Absent: the version that ran before. */
  version?: string | undefined;
  /** Whether to pin the version: nothing newer is deployed until it is unpinned. */
  stays: boolean;
  reason?: string | undefined;
}

/** The order if the user may not read the ImagePolicy: tags that are not semantic versions keep the order of their discovery. */
const SEMVER = { spec: { policy: { semver: { range: '*' } } } } as ImagePolicy;

/**
 * The write of a rollback. `policy`: the Rollout's ImagePolicy, which defines what is newer. The write is only for the
 * deployment that was read: if another one has started meanwhile, it would undo that.
 */
export function rollback(rollout: Rollout, policy: ImagePolicy | undefined, wanted: RollbackRequest): PlannedWrite {
  const { availableReleases = [], history = [] } = rollout.status ?? {};
  const name = named('Rollout', identityOf(rollout));
  const [head] = history;
  if (!head) return wrong(`${name} has not deployed anything yet: there is nothing to go back to.`);
  const from = head.version.tag;
  const { stands, left } = replayed(history);
  const order = releaseOrder(availableReleases, policyRules(policy ?? SEMVER));
  const refusal = (tag: string): string | undefined => {
    if (tag === from) return `${from} is what runs`;
    if (order.isNewer(tag, from)) return `${tag} is newer than ${from}, which runs`;
    return left.has(tag) ? `${tag} was rolled back from` : undefined;
  };
  if (wanted.version !== undefined) {
    const why = refusal(wanted.version);
    if (why)
      return wrong(
        withCommands(`${name} cannot go back to ${wanted.version}: ${why}.`, [
          'To deploy it anyway, and stay on it',
          onRollout(rollout, 'pin', wanted.version),
        ]),
      );
  }
  const succeeded = new Set(
    history.flatMap(({ bakeStatus, version }) => (bakeStatus === 'Succeeded' ? version.tag : [])),
  );
  const before = stands.findLast((tag) => succeeded.has(tag) && refusal(tag) === undefined);
  const to = wanted.version ?? before;
  if (to === undefined) return wrong(`${name} runs ${from}, and ${nothingBefore(history, refusal)}`);
  const why = wanted.reason ?? `Back from ${from}`;
  const requested = wanted.stays ? pin(rollout, to, why) : deploy(rollout, to, why);
  if (!isRequest(requested)) return requested;
  const { resourceVersion } = rollout.metadata;
  const change = `${from} → ${to}`;
  return {
    ...requested,
    text: `Asked ${name} to go back: ${change}${wanted.stays ? ', and to stay there until it is unpinned' : ''}`,
    body: { ...requested.body, metadata: { ...requested.body.metadata, ...(resourceVersion && { resourceVersion }) } },
    concerns: [`${name} goes back: ${change}`, ...requested.concerns],
    basis: `deployment ${head.id} (${from})`,
  };
}

/**
 * The history from its start. Each deployed version stands on those before it, and a rollback removes those above its
 * target. `stands`: the versions that remain, the newest last. `left`: the removed ones.
 */
function replayed(history: readonly HistoryEntry[]): { stands: string[]; left: Set<string> } {
  const stands: string[] = [];
  const left = new Set<string>();
  for (const { version, rolledBackFrom } of history.toReversed()) {
    const known = stands.indexOf(version.tag);
    if (known >= 0) for (const tag of stands.splice(known + 1)) left.add(tag);
    // The target of the rollback may be older than the kept history.
    if (rolledBackFrom !== undefined) {
      left.add(rolledBackFrom);
      if (stands.at(-1) === rolledBackFrom) stands.pop();
    }
    if (stands.at(-1) !== version.tag) stands.push(version.tag);
    left.delete(version.tag);
  }
  return { stands, left };
}

function nothingBefore(history: readonly HistoryEntry[], refusal: (tag: string) => string | undefined): string {
  const tags = [...new Set(history.slice(1).map(({ version }) => version.tag))];
  const skipped = tags.flatMap((tag) => {
    const why = refusal(tag) ?? `${tag} has not succeeded`;
    return tag === history[0]?.version.tag ? [] : [why];
  });
  const none = 'its history has no version before it that succeeded';
  return `${none}${skipped.length > 0 ? ` (${few(skipped, 5)})` : ''}: name the version to go back to.`;
}
