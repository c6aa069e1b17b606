/**
 * The size of a Rollout's status. Its parts are bounded, but together they may still be too large to be stored, and
 * then the Rollout would never change again.
 * So fields that decide nothing are shortened, the least important first, and a condition reports it.
 */
import { STATUS_SHORTENED } from '../../api/conditions.ts';
import type { EpochMs } from '../../api/kubernetes.ts';
import type { HistoryEntry, RolloutStatus, VersionInfo } from '../../api/types.ts';
import { setCondition, trueCondition } from '../kube/conditions.ts';
import { goJsonBytes } from '../kube/json.ts';
import { LIMITS } from '../limits.ts';

const FEW_ENTRIES = 20;
const FEW_TAGS = 5;
/** Characters of a message in `status.gates`, and of a condition. */
const GATE_MESSAGE = 200;
const CONDITION_MESSAGE = 1024;

interface Step {
  /** The clause for the condition. */
  what: string;
  shorten: (status: RolloutStatus) => RolloutStatus;
}

/**
 * The steps that shorten a status, in this order, until it fits.
 * No decision reads these fields: candidates, rejections and Gates are computed each time.
 */
const STEPS: readonly Step[] = [
  {
    what: `candidates are the first ${FEW_ENTRIES}, by tag`,
    shorten: ({ releaseCandidates = [], gatedReleaseCandidates = [], ...rest }) => ({
      ...rest,
      releaseCandidates: tagsOf(releaseCandidates),
      gatedReleaseCandidates: tagsOf(gatedReleaseCandidates),
    }),
  },
  {
    what: `rejectedReleases has the last ${FEW_ENTRIES}`,
    shorten: ({ rejectedReleases, ...rest }) => ({ ...rest, rejectedReleases: rejectedReleases?.slice(-FEW_ENTRIES) }),
  },
  {
    what: `status.blockers has the first ${FEW_ENTRIES}`,
    shorten: ({ blockers, ...rest }) => ({ ...rest, blockers: blockers?.slice(0, FEW_ENTRIES) }),
  },
  {
    what: 'status.gates has shorter lists and messages',
    shorten: ({ gates = [], ...rest }) => ({
      ...rest,
      gates: gates.map(({ allowedVersions, message, ...gate }) => ({
        ...gate,
        allowedVersions: allowedVersions?.slice(0, FEW_TAGS),
        message: message?.slice(0, GATE_MESSAGE),
      })),
    }),
  },
  {
    what: 'messages of conditions are shorter',
    shorten: ({ conditions = [], ...rest }) => ({
      ...rest,
      conditions: conditions.map((each) => ({ ...each, message: each.message.slice(0, CONDITION_MESSAGE) })),
    }),
  },
];

function tagsOf(releases: readonly VersionInfo[]): VersionInfo[] {
  return releases.slice(0, FEW_ENTRIES).map(({ tag }) => ({ tag }));
}

/**
 * The status, shortened until it can be stored.
 * @param leftOut the parts that it lacks already, a clause each
 */
export function fitStatus(status: RolloutStatus, leftOut: readonly string[], now: EpochMs): RolloutStatus {
  const shortened: string[] = [];
  let next = status;
  for (const { what, shorten } of STEPS) {
    if (goJsonBytes(next) <= LIMITS.statusBytes) break;
    next = shorten(next);
    shortened.push(what);
  }
  return { ...next, conditions: withNote(next.conditions, leftOut, shortened, now) };
}

function withNote(
  conditions: RolloutStatus['conditions'],
  leftOut: readonly string[],
  shortened: readonly string[],
  now: EpochMs,
) {
  const all = [...leftOut, ...shortened];
  if (all.length === 0) return (conditions ?? []).filter(({ type }) => type !== STATUS_SHORTENED);
  const reason = shortened.length > 0 ? 'TooLarge' : 'TooMany';
  const message = `The status was shortened so that it can be stored: ${all.join('; ')}`;
  return setCondition(conditions, trueCondition(STATUS_SHORTENED, reason, message), now);
}

/** The size to which a deployment is cut. */
interface EntrySize {
  /** Characters of texts. */
  words: number;
  /** Characters of the reasons of approvals and of a bypass. */
  reasons: number;
  /** Approvals, and Gates of a bypass. */
  records: number;
}

const READABLE = 256;
const SHORT = 16;

/**
 * The sizes, tried in turn. The requester's texts are cut first: they must not push out the users who approved, or the
 * Gates that were bypassed. Those records are dropped only if they alone exceed the share.
 */
const ENTRY_SIZES: readonly EntrySize[] = [
  { words: READABLE, reasons: Infinity, records: Infinity },
  { words: SHORT, reasons: Infinity, records: Infinity },
  { words: SHORT, reasons: SHORT, records: Infinity },
  { words: SHORT, reasons: SHORT, records: 2 },
];

/**
 * The history, with its newest deployment cut to its share of the bytes. `knownHealth` doesn't count: it has limits of
 * its own, and is dropped with the next deployment, whereas texts that are cut for it would be lost.
 * A deployment is cut only while it is the newest, since older entries never change; once it is stored, only the fields
 * of its bake are cut.
 * @param length how many deployments the history may have
 */
export function withBoundedHead(
  history: readonly HistoryEntry[],
  stored: HistoryEntry | undefined,
  length: number,
): HistoryEntry[] {
  const [head, ...older] = history;
  if (!head) return [];
  const share = LIMITS.historyBytes / Math.max(length, history.length);
  const fits = ({ knownHealth: _, ...kept }: HistoryEntry) => goJsonBytes(kept) <= share;
  if (fits(head)) return [head, ...older];
  const known = stored?.id === head.id ? stored : undefined;
  const cuts = ENTRY_SIZES.map((each) => cutEntry(head, known, each));
  return [cuts.find(fits) ?? cuts.at(-1)!, ...older];
}

function cutEntry(
  head: HistoryEntry,
  known: HistoryEntry | undefined,
  { words, reasons, records }: EntrySize,
): HistoryEntry {
  const isShort = words === SHORT;
  const { bakeStatusMessage, failedHealthChecks } = head;
  const bake = {
    ...head,
    bakeStatusMessage: bakeStatusMessage?.slice(0, words),
    failedHealthChecks: failedHealthChecks
      ?.slice(0, isShort ? 2 : 16)
      .map((each) => ({ ...each, message: each.message?.slice(0, words) })),
  };
  const { tag, digest } = head.version;
  // The metadata of the release can be read from its manifest again.
  if (known) return { ...bake, ...(isShort && { version: known.version }) };
  const { message, reason, bypass, approvals } = head;
  return {
    ...bake,
    ...(isShort && { version: { tag, ...(digest && { digest }) } }),
    message: message?.slice(0, words),
    reason: reason?.slice(0, words),
    bypass: bypass && { ...bypass, reason: bypass.reason.slice(0, reasons), gates: bypass.gates.slice(0, records) },
    approvals: approvals?.slice(0, records).map((each) => ({ ...each, reason: each.reason?.slice(0, reasons) })),
  };
}
