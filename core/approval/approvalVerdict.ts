/** Whether a version has the approvals that a Gate or RolloutGate requires. */
import type { EpochMs } from '../../api/kubernetes.ts';
import type { ApprovalRule } from '../../api/types.ts';
import { Memo } from '../collection/memo.ts';
import { parseDuration } from '../kube/duration.ts';
import { earliestTime, formatTime } from '../kube/time.ts';
import { serviceAccountOf } from '../kube/users.ts';
import { countOf } from '../text/count.ts';
import { firstFew } from '../text/firstFew.ts';
import type { Approval } from './approvalRecord.ts';

/** The users behind one version of one Rollout. */
export interface VersionUsers {
  /** The authenticated users who requested its deployment. */
  requesters: readonly string[];
  /** Whether a request has no record of its user: no webhook has seen it, or an earlier commit has recorded it. */
  isRequesterUnknown?: boolean;
  /** The users on whose behalf they claim to have requested it: free text. */
  onBehalfOf?: string | undefined;
  /** The authors that the release's manifest names; undefined if unknown. */
  authors: string | undefined;
}

/** An approval, and whether it counts. */
export interface EvaluatedApproval extends Approval {
  /** Why the approval doesn't count: a text after the user's name, `requested it`, or the rule's problem. */
  doesNotCount?: string;
}

/** Whether one version has the approvals that a rule requires, and which of them count. */
export interface ApprovalVerdict {
  required: number;
  /** The approvals that have not expired, the oldest first. */
  given: EvaluatedApproval[];
  /** The given approvals that count. */
  counted: Approval[];
  enough: boolean;
  /** Why no approval counts. */
  problem?: string;
  /** When the next approval expires, whether it counts or not. */
  until?: EpochMs;
  /** When the next approval that counts expires. */
  countedUntil?: EpochMs;
}

/**
 * Whether one version has the approvals that the rule requires.
 * @param given the approvals of that version
 * @param users undefined if the users behind the version are unknown: `rule.notBy` is not checked then
 */
export function evaluateApprovals(
  rule: ApprovalRule,
  given: readonly Approval[],
  users: VersionUsers | undefined,
  now: EpochMs,
): ApprovalVerdict {
  const byUser = new Map(given.map((approval) => [approval.by, approval]));
  const unexpired = [...byUser.values()]
    .filter((approval) => !isExpired(approval, rule, now))
    .sort((a, b) => a.at - b.at);
  const problem = problemOfRule(rule, unexpired, users);
  const evaluated: EvaluatedApproval[] = unexpired.map((approval) => {
    const doesNotCount = whyNotCounted(approval, rule, users) ?? problem;
    return doesNotCount === undefined ? approval : { ...approval, doesNotCount };
  });
  const counted = evaluated.filter(({ doesNotCount }) => doesNotCount === undefined);
  return {
    required: rule.required,
    given: evaluated,
    counted,
    enough: problem === undefined && counted.length >= rule.required,
    ...(problem !== undefined && { problem }),
    until: nextExpiry(unexpired, rule),
    countedUntil: nextExpiry(counted, rule),
  };
}

interface VersionVerdict {
  version: string;
  /** `namespace/name`, on a Gate. */
  rollout?: string | undefined;
  verdict: ApprovalVerdict;
}

/**
 * The verdict on each version that has approvals, the last approved one first.
 * @param usersBehind absent if the users behind the versions are unknown: see evaluateApprovals
 */
export function evaluateVersions(
  rule: ApprovalRule,
  given: readonly Approval[],
  now: EpochMs,
  usersBehind?: (version: string) => VersionUsers | undefined,
): VersionVerdict[] {
  const byVersion = Map.groupBy(given, ({ version, rollout = '' }) => `${rollout}:${version}`);
  return [...byVersion.values()]
    .sort((a, b) => b.at(-1)!.at - a.at(-1)!.at)
    .map((approvals) => {
      const { version, rollout } = approvals[0]!;
      return { version, rollout, verdict: evaluateApprovals(rule, approvals, usersBehind?.(version), now) };
    })
    .filter(({ verdict }) => verdict.given.length > 0);
}

/** The problem of a rule that cannot be evaluated: admission denies it, and a stored one approves nothing. */
export function ruleProblem({ expireAfter }: ApprovalRule): string | undefined {
  if (expireAfter === undefined || parseDuration(expireAfter) !== undefined) return undefined;
  return `spec.approvals.expireAfter: ${JSON.stringify(expireAfter)} is not a duration such as 30m or 24h`;
}

/** The time at which the approval expires, in whole seconds; undefined if it never does. */
export function expiryOf({ at }: Approval, { expireAfter }: ApprovalRule): EpochMs | undefined {
  const lasts = parseDuration(expireAfter);
  return lasts === undefined ? undefined : at + Math.ceil(lasts / 1000) * 1000;
}

function nextExpiry(approvals: readonly Approval[], rule: ApprovalRule): EpochMs | undefined {
  return earliestTime(approvals.map((approval) => expiryOf(approval, rule)));
}

export function isExpired(approval: Approval, rule: ApprovalRule, now: EpochMs): boolean {
  const at = expiryOf(approval, rule);
  return at !== undefined && at <= now;
}

/** Why the approval does not count: `requested it`, `is named as its author`. */
function whyNotCounted({ by }: Approval, rule: ApprovalRule, users: VersionUsers | undefined): string | undefined {
  if (whyIneligible(by, rule) !== undefined) return 'is not allowed to approve';
  const { requesters = [], onBehalfOf, authors } = users ?? {};
  if (rule.notBy?.includes('requester')) {
    if (requesters.includes(by)) return 'requested it';
    if (onBehalfOf !== undefined && mayNameUser(onBehalfOf, by)) return 'is named as its requester';
  }
  if (rule.notBy?.includes('author') && authors !== undefined && mayNameUser(authors, by))
    return 'is named as its author';
  return undefined;
}

function problemOfRule(
  rule: ApprovalRule,
  unexpired: readonly Approval[],
  users: VersionUsers | undefined,
): string | undefined {
  const problem = ruleProblem(rule);
  if (problem !== undefined || users === undefined || unexpired.length === 0) return problem;
  if (rule.notBy?.includes('author') && users.authors === undefined) return 'the authors of the release are unknown';
  if (rule.notBy?.includes('requester') && users.isRequesterUnknown)
    return 'the requester of the version is unknown, so remove the request, and make it again';
  return undefined;
}

const APPROVALS_IN_SENTENCE = 5;

/**
 * The verdict as text:
 * `1 of 2 approvals (alice; bob's approval doesn't count: bob requested it; the next expires at 2026-01-02T12:00:00Z)`.
 */
export function verdictText({ required, given, counted, problem, countedUntil }: ApprovalVerdict): string {
  const users = counted.map(({ by }) => by);
  const excluded = given.filter(({ doesNotCount }) => doesNotCount !== undefined).slice(0, APPROVALS_IN_SENTENCE);
  const parts = [
    ...(users.length > 0 ? [firstFew(users, APPROVALS_IN_SENTENCE)] : []),
    ...(problem === undefined
      ? excluded.map(({ by, doesNotCount }) => `${by}'s approval doesn't count: ${by} ${doesNotCount}`)
      : [`none counts: ${problem}`]),
    ...(countedUntil === undefined ? [] : [`the next expires at ${formatTime(countedUntil)}`]),
  ];
  return `${countText(counted.length, required)}${parts.length > 0 ? ` (${parts.join('; ')})` : ''}`;
}

/** The number of approvals as text: `1 of 2 approvals`. */
export function countText(count: number, required: number): string {
  return `${count} of ${countOf(required, 'approval')}`;
}

// Approvals that can count: those of users, distinguished by name, and of the ServiceAccounts that the rule lists.

const SYSTEM = 'system:';
/** The only administrator's name in some distributions. */
const ADMINISTRATOR = 'system:admin';

/** A text with more words or characters counts as naming every user. */
const MAX_WORDS = 200;
const MAX_TEXT_CHARACTERS = 1024;

/** A cache of the words of texts: one decision compares each approval with the same text. */
const parsed = new Memo<ReadonlySet<string> | undefined>(128);

/** Why this user's approval never counts; undefined if it can count. */
export function whyIneligible(user: string, rule: Pick<ApprovalRule, 'serviceAccounts'>): string | undefined {
  if (!user.startsWith(SYSTEM) || user === ADMINISTRATOR) return undefined;
  const name = serviceAccountOf(user);
  if (name === undefined) return `${user} is a system user: approve as a person`;
  if (rule.serviceAccounts?.includes(name)) return undefined;
  return `${name} is a ServiceAccount: add it to spec.approvals.serviceAccounts, or approve as a person`;
}

/**
 * Whether a free text, such as `Alice Miller <alice@example.com>`, may mean this user. In doubt the result is true:
 * `oidc:Alice.Miller@example.com` matches an address with another domain, `alice.miller`, and any text with both names.
 */
export function mayNameUser(text: string, user: string): boolean {
  const words = text.length > MAX_TEXT_CHARACTERS ? undefined : parsed.get(text, () => wordsOf(text));
  const name = lastPart(user.toLowerCase());
  const [local = name] = name.split('@');
  if (words === undefined || words.has(user.toLowerCase()) || words.has(name) || words.has(local)) return true;
  const parts = local.split(/[._+-]/).filter((part) => part !== '');
  return parts.length > 0 && parts.every((part) => words.has(part));
}

/** The words, and their parts: before `@`, after `+`, and between dots; undefined if there are too many words. */
function wordsOf(text: string): ReadonlySet<string> | undefined {
  const words = text.toLowerCase().split(/[^\p{L}\p{N}._@+:#/-]+/u);
  if (words.length > MAX_WORDS) return undefined;
  const all = words.flatMap((word) => {
    const bare = lastPart(word.replace(/^[._+-]+|[._+-]+$/g, ''));
    const [local = bare] = bare.split('@');
    return [bare, local, ...local.split('+'), ...local.split(/[._+-]/)];
  });
  return new Set(all.filter((word) => word !== ''));
}

/** The name without an identity provider's prefix: `alice` of `oidc:alice` and `https://idp.example.com#alice`. */
function lastPart(name: string): string {
  return name.split(/[:#/]/).findLast((part) => part !== '') ?? name;
}
