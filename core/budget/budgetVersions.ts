/**
 * The versions in a budget's status: the Rollouts in which a version has failed, and whether a user has continued it
 * despite that. Failures are only added, so that a Rollout's stale status removes none; only a user can excuse them.
 */
import type { Budget, BudgetVersion, Slot } from '../../api/types.ts';
import { refKey } from '../kube/names.ts';
import { formatTime } from '../kube/time.ts';
import { LIMITS } from '../limits.ts';
import { firstFew, MAX_LISTED } from '../text/firstFew.ts';
import type { BudgetConfig } from './budgetConfig.ts';
import { type ContinueRequest, pendingContinue } from './continueRequest.ts';
import type { Member } from './fleet.ts';
import { ByVersion, type ImageVersion, isOneOf, isSameImage, versionKey } from './imageVersion.ts';

/** The most failed Rollouts whose names are stored for a version. */
const MAX_FAILURES = 100;

type Failure = NonNullable<BudgetVersion['failures']>[number];

interface Versions {
  list: BudgetVersion[];
  /** Whether failures keep a version from starting anywhere. */
  isBlocked: (version: ImageVersion) => boolean;
  /** The Rollouts whose failures of a version a user has excused: those stored when the user continued it. */
  excused: (version: ImageVersion) => ReadonlySet<string>;
  /** Why no slot can be granted. */
  problem?: string;
  /** Whether a user's request to continue excused a failure. */
  hasContinued: boolean;
}

/** The version of an entry, or of the deployment of a slot. */
export function versionOf({ image, version, digest }: BudgetVersion | Slot): ImageVersion {
  return { image: image ?? '', tag: version, digest };
}

/**
 * The versions that the budget tracks. A dropped version is found again in the histories in which it failed.
 * @param slots the slots in the next status
 * @param requested the requested versions, the most requested first, which take precedence
 */
export function recallVersions(
  budget: Budget,
  { maxFailures }: BudgetConfig,
  fleet: readonly Member[],
  slots: readonly Slot[],
  requested: readonly ImageVersion[],
): Versions {
  const before = budget.status?.versions ?? [];
  const request = pendingContinue(budget);
  const seen = failuresIn(fleet, slots);
  const current = [...requested, ...slots.map(versionOf)];
  const failing = fleet.flatMap(({ head, image }) =>
    head?.bakeStatus === 'Failed' ? [{ image, tag: head.version.tag, digest: head.version.digest }] : [],
  );
  const tracked = distinctVersions([...current, ...failing, ...before.map(versionOf)]);
  const found = tracked.map((version) => entryOf(version, before, seen.of(version)));
  const isContinued = (entry: BudgetVersion) =>
    request !== undefined && entry.failed > 0 && isNamed(versionOf(entry), request.version);
  const all = found.map((entry) => withBlock(isContinued(entry) ? withExcuse(entry, request!) : entry, maxFailures));
  const isCurrent = isOneOf(current);
  const inUse = all.filter((entry) => isCurrent(versionOf(entry)));
  const past = all.filter((entry) => !isCurrent(versionOf(entry)));
  const hasFailed = ({ failed }: BudgetVersion) => failed > 0;
  const tooMany = inUse.filter(hasFailed).length > LIMITS.budgetVersions;
  const mostImportantFirst = new Set([...inUse.filter(hasFailed), ...past.filter(hasFailed), ...all]);
  const kept = new Set([...mostImportantFirst].slice(0, LIMITS.budgetVersions));
  const list = [...inUse, ...past].filter((entry) => kept.has(entry));
  const problem = `more than ${LIMITS.budgetVersions} requested versions have failed (limit budgetVersions)`;
  const entries = new ByVersion<BudgetVersion>();
  for (const entry of all) entries.add(versionOf(entry), '', entry);
  const excused = (version: ImageVersion) => {
    const { failures = [], failuresExcused = 0 } = entries.first(version) ?? {};
    return new Set(failures.slice(0, failuresExcused).map(({ uid }) => uid));
  };
  const isBlocked = (version: ImageVersion) => {
    if (maxFailures === undefined) return false;
    const known = entries.first(version);
    return known ? known.blocked === true : seen.count(version) >= maxFailures;
  };
  return { list, isBlocked, excused, hasContinued: found.some(isContinued), problem: tooMany ? problem : undefined };
}

/** The Rollouts in which a version failed: `team-a/app, team-b/app`. */
export function failedIn({ failures = [], failed }: BudgetVersion): string {
  return firstFew(failures.map(refKey), MAX_LISTED, failed);
}

/** The entry of a version, with its known failures and those that are seen now. */
function entryOf(version: ImageVersion, before: readonly BudgetVersion[], seen: readonly Failure[]): BudgetVersion {
  const known = before.find((each) => isSameImage(versionOf(each), version));
  const { failed = 0, failuresExcused = 0, continuedBy, continuedAt } = known ?? {};
  const failures = mergedFailures(known?.failures ?? [], seen);
  return {
    image: version.image,
    version: version.tag,
    digest: (known?.digest ?? version.digest) || undefined,
    // The count stays: failures without a stored name may no longer be in any history.
    failed: Math.max(failures.length, failed),
    ...(failures.length > 0 && { failures: failures.slice(0, MAX_FAILURES) }),
    ...(failuresExcused > 0 && { failuresExcused, continuedBy, continuedAt }),
  };
}

function withExcuse(entry: BudgetVersion, { by, at }: ContinueRequest): BudgetVersion {
  return { ...entry, failuresExcused: entry.failed, continuedBy: by, continuedAt: formatTime(at) };
}

function withBlock(entry: BudgetVersion, maxFailures: number | undefined): BudgetVersion {
  const { failed, failuresExcused = 0 } = entry;
  return maxFailures !== undefined && failed - failuresExcused >= maxFailures ? { ...entry, blocked: true } : entry;
}

/** The failures that histories and overdue slots show, by version. */
function failuresIn(fleet: readonly Member[], slots: readonly Slot[]): ByVersion<Failure> {
  const found = new ByVersion<Failure>();
  const owners = new Map(fleet.map((member) => [member.uid, member]));
  for (const { rollout, uid, image, accountable } of fleet) {
    const { namespace = '', name = '' } = rollout.metadata;
    for (const { bakeStatus, version } of accountable) {
      if (bakeStatus === 'Failed') found.add({ ...version, image }, uid, { namespace, name, uid });
    }
  }
  for (const slot of slots) {
    const { namespace, name, uid, state } = slot;
    const owner = owners.get(uid);
    const isExempt = owner?.head !== undefined && !owner.accountable.includes(owner.head);
    if (state === 'Overdue' && !isExempt) found.add(versionOf(slot), uid, { namespace, name, uid });
  }
  return found;
}

/** The failures of both lists, with each Rollout once. */
function mergedFailures(known: readonly Failure[], seen: readonly Failure[]): Failure[] {
  return [...new Map([...known, ...seen].map((failure) => [failure.uid, failure])).values()];
}

function distinctVersions(versions: readonly ImageVersion[]): ImageVersion[] {
  const known = new ByVersion<true>();
  return versions.filter((version) => {
    if (known.first(version)) return false;
    known.add(version, '', true);
    return true;
  });
}

function isNamed(version: ImageVersion, text: string): boolean {
  return text === version.tag || text === versionKey(version);
}
