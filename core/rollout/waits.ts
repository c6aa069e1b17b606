/** The waits of a Rollout in sentences, one per kind of blocker: conditions, Ready and Events print these. */
import {
  DEPLOYMENT_BLOCKED,
  GATE_CLOSED,
  PINNED,
  READY,
  WAITING_FOR_BUDGET,
  WAITING_FOR_ROLLOUT_GATES,
  WAITING_FOR_ROLLOUTS,
} from '../../api/conditions.ts';
import type { Blocker } from '../../api/types.ts';
import { type NewCondition, trueCondition } from '../kube/conditions.ts';
import type { TextWithCommands } from '../text/commands.ts';
import { firstFew } from '../text/firstFew.ts';
import type { DeploymentDecision } from './decideDeployment.ts';
import { unhealthyMessage } from './deployment/healthChecks.ts';
import { UNHEALTHY_HEALTH_CHECKS, WAITING_FOR_COPY } from './evaluation/blockers.ts';
import { isAutomatic } from './evaluation/nextVersion.ts';
import { requestedText } from './evaluation/rolloutRequests.ts';
import { WAITING_FOR_APPROVALS } from './evaluation/versionApprovals.ts';
import { RELEASE_TOO_YOUNG } from './release/candidates.ts';
import type { UpstreamRollouts } from './upstream/upstreamVerdict.ts';

interface WaitKind {
  /** The type of the condition that reports it. */
  condition: string;
  /** The sentence about all blockers of the kind, after the version. Absent if the condition has its text elsewhere. */
  sentence?(texts: readonly string[]): string;
  /**
   * The reason of Ready while this wait blocks the first deployment: DeploymentBlocked's reason, or the type of the
   * wait's own condition.
   */
  readyReason?: string;
  /** DeploymentBlocked is reported as an Event: a user has to act, or the end is known. */
  hasEvent?: true;
}

/** Gates and RolloutGates that one sentence names. */
const MAX_IN_SENTENCE = 5;
const waitsFor = (texts: readonly string[]) => `waits for ${firstFew(texts, MAX_IN_SENTENCE)}`;

// biome-ignore format: a table
export const WAIT_KINDS: Readonly<Record<Blocker['type'], WaitKind>> = {
  Problem: { condition: READY },
  Health: { condition: DEPLOYMENT_BLOCKED },
  Gate: { condition: DEPLOYMENT_BLOCKED, sentence: (texts) => `waits: ${texts.join('; ')}`, readyReason: GATE_CLOSED, hasEvent: true },
  Bake: { condition: DEPLOYMENT_BLOCKED, sentence: waitsFor },
  Failure: { condition: DEPLOYMENT_BLOCKED, sentence: ([text]) => `waits: ${text}` },
  Approvals: { condition: DEPLOYMENT_BLOCKED, sentence: (texts) => `waits for approvals: ${firstFew(texts, MAX_IN_SENTENCE)}`, readyReason: WAITING_FOR_APPROVALS, hasEvent: true },
  MinimumAge: { condition: DEPLOYMENT_BLOCKED, sentence: ([text]) => `waits ${text}`, readyReason: RELEASE_TOO_YOUNG, hasEvent: true },
  Copy: { condition: DEPLOYMENT_BLOCKED, sentence: waitsFor, readyReason: WAITING_FOR_COPY },
  Upstream: { condition: WAITING_FOR_ROLLOUTS, sentence: waitsFor, readyReason: WAITING_FOR_ROLLOUTS },
  RolloutGate: { condition: WAITING_FOR_ROLLOUT_GATES, sentence: waitsFor, readyReason: WAITING_FOR_ROLLOUT_GATES },
  Budget: { condition: WAITING_FOR_BUDGET, readyReason: WAITING_FOR_BUDGET },
  PinnedVersion: { condition: PINNED },
};

/** The reasons with which Ready repeats a wait before the first deployment. */
export const READY_REASONS: readonly string[] = Object.values(WAIT_KINDS).flatMap(
  ({ readyReason }) => readyReason ?? [],
);

/** All blockers of one kind in a sentence. The first one gives the reason. */
export interface Wait extends TextWithCommands {
  type: Blocker['type'];
  reason: string;
}

export function waitsOf({ context, evaluation, slotWait }: DeploymentDecision): Wait[] {
  const { rollout, upstream } = context.observed;
  const { choice, pendingVersion, unhealthyChecks, blockers } = evaluation;
  const by = pendingVersion !== undefined && choice.trigger === 'Manual' && requestedText(rollout, pendingVersion);
  const subject = `Version ${pendingVersion}${by ? `, ${by},` : ''}`;
  const reported = blockers.filter(({ version }) => version !== undefined && version === pendingVersion);
  const waits = [...Map.groupBy(reported, ({ type }) => type)].flatMap(([type, found]): Wait[] => {
    const texts = found.flatMap(({ text }) => text ?? []);
    const sentence = texts.length > 0 && WAIT_KINDS[type].sentence?.(texts);
    if (!sentence) return [];
    const commands = found.flatMap((each) => each.commands ?? []).slice(0, MAX_IN_SENTENCE);
    return [{ type, reason: found[0]!.reason, text: `${subject} ${sentence}`, commands }];
  });
  // As in the Go controller, also while no version waits.
  const [check] = isAutomatic(choice) ? unhealthyChecks : [];
  const health: Wait[] = check
    ? [{ type: 'Health', reason: UNHEALTHY_HEALTH_CHECKS, text: unhealthyMessage(check) }]
    : [];
  const budget: Wait[] = slotWait ? [{ type: 'Budget', reason: slotWait.reason, text: slotWait.text }] : [];
  return [...health, ...withOrderProblem(waits, upstream), ...budget];
}

/** A broken order of upstream Rollouts is reported as a whole, even while no version waits. */
function withOrderProblem(waits: readonly Wait[], upstream: UpstreamRollouts): readonly Wait[] {
  if (!upstream.problem) return waits;
  const { reason, message } = upstream.problem;
  const text = `${message}: no version is deployed automatically until spec.after is corrected`;
  return [...waits.filter(({ type }) => type !== 'Upstream'), { type: 'Upstream', reason, text }];
}

/** The condition that reports these waits; undefined if it has none of them. The first wait gives its reason. */
export function waitCondition(type: string, waits: readonly Wait[]): NewCondition | undefined {
  const stated = waits.filter((wait) => WAIT_KINDS[wait.type].condition === type);
  const [first] = stated;
  if (!first) return undefined;
  const commands = stated.flatMap((wait) => wait.commands ?? []);
  return { ...trueCondition(type, first.reason, stated.map(({ text }) => text).join('. ')), commands };
}

/** Ready before the first deployment, which repeats the first wait; undefined without one. Health doesn't block it. */
export function readyOfWaits(waits: readonly Wait[]): NewCondition | undefined {
  const blocking = waits.filter(({ type }) => type !== 'Health');
  for (const { type } of blocking) {
    const { condition, readyReason } = WAIT_KINDS[type];
    if (readyReason)
      return { ...waitCondition(condition, blocking)!, type: READY, status: 'False', reason: readyReason };
  }
  return undefined;
}
