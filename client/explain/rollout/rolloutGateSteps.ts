/** The steps for RolloutGates, upstream Rollouts and budgets: entries of `status.gates` that allow some versions. */
import {
  GATE_DESCRIPTION,
  GATE_PRETTY_NAME,
  LISTED,
  SCHEDULE_KIND_LABEL,
  SCHEDULE_NAME_LABEL,
} from '../../../api/annotations.ts';
import { KINDS, type KindName } from '../../../api/kinds.ts';
import type { EpochMs, NamespacedName } from '../../../api/kubernetes.ts';
import type { Blocker, GateSummary, Rollout, RolloutGate } from '../../../api/types.ts';
import { withoutEmpty } from '../../../core/kube/json.ts';
import { formatTime, parseTime } from '../../../core/kube/time.ts';
import { listedOn, parseListed } from '../../../core/record/listRecord.ts';
import { nextScheduledChange } from '../../../core/rollout/evaluation/rolloutGates.ts';
import { withoutCommands } from '../../../core/text/commands.ts';
import { countOf } from '../../../core/text/count.ts';
import { firstFew } from '../../../core/text/firstFew.ts';
import { objectRef, type Step, type StepState } from '../application.ts';
import { finder, parseRefKey, type RelatedObjects } from '../related.ts';
import type { StepKind } from '../stepKinds.ts';
import { isAbout, listsAllBlockers, storedBlockers } from './storedBlockers.ts';

const KIND_OF = {
  RolloutGate: 'rolloutGate',
  Rollout: 'upstream',
  RolloutBudget: 'budget',
  ClusterRolloutBudget: 'budget',
} as const satisfies Partial<Record<KindName, StepKind>>;
type Kind = keyof typeof KIND_OF;

/** An entry of `status.gates`, with all that decides about its step. */
interface Entry {
  rollout: Rollout;
  gate: GateSummary;
  kind: Kind;
  /** The RolloutGate, if it could be read. */
  object: RolloutGate | undefined;
  /** The blocker of the entry's object in the status. */
  blocker: Blocker | undefined;
  /** The waiting version. */
  version: string | undefined;
}

export function rolloutGateSteps(
  rollout: Rollout,
  related: RelatedObjects,
  version: string | undefined,
  now: EpochMs,
): Step[] {
  const find = finder(related.rolloutGates);
  const blockers = storedBlockers(rollout, version);
  return (rollout.status?.gates ?? [])
    .filter(({ kind }) => kind !== KINDS.Gate.kind)
    .map((gate) => {
      const { kind, shortName } = kindOf(gate);
      const ref = refOf(kind, shortName, rollout.metadata.namespace ?? '');
      const object = kind === 'RolloutGate' ? find(ref) : undefined;
      const blocker = blockers.find((each) => isAbout(each, { kind, ...ref }));
      const entry = { rollout, gate, kind, object, blocker, version };
      const state = stepState(entry);
      // A time that is past shows only that the schedule, or the Rollout, has not been evaluated since.
      const until = [object && nextScheduledChange(object), parseTime(blocker?.until)].find(
        (at) => at !== undefined && at > now,
      );
      return {
        id: KIND_OF[kind] === 'budget' ? gate.name : `${KIND_OF[kind]}/${shortName}`,
        kind: KIND_OF[kind],
        state,
        title: `${kind} ${shortName}`,
        object: objectRef(kind, ref),
        ...withoutEmpty({
          version,
          detail: detailOf(entry, state),
          until: until === undefined ? undefined : formatTime(until),
          since: kind === 'Rollout' ? blocker?.since : undefined,
          needsApproval: needsApproval(entry) ? true : undefined,
          ...listingFields(entry),
        }),
      };
    });
}

/** The kind and the name of an entry. Only an entry of a RolloutGate has no kind, and no prefix in its name. */
function kindOf({ kind, name }: GateSummary): { kind: Kind; shortName: string } {
  if (kind === undefined || !Object.hasOwn(KIND_OF, kind)) return { kind: 'RolloutGate', shortName: name };
  return { kind: kind as Kind, shortName: name.slice(name.indexOf('/') + 1) };
}

/** The user who closed the RolloutGate or listed the version, with reason and time, from the webhook's record. */
function listingFields({ gate, object, version }: Entry): Pick<Step, 'by' | 'reason' | 'since'> {
  const listed = object && listingOf(object, gate.passing === false, version);
  return listed ? withoutEmpty({ by: listed.by, reason: listed.reason, since: formatTime(listed.at) }) : {};
}

/** The webhook's record of who rejected the version, closed the RolloutGate, or allowed the version. */
export function listingOf({ metadata, spec }: RolloutGate, isClosed: boolean, version: string | undefined) {
  const record = parseListed(metadata.annotations?.[LISTED]);
  if (version !== undefined && spec?.rejectedVersions?.includes(version))
    return listedOn(record, 'rejectedVersions', version);
  if (isClosed) return listedOn(record, 'passing');
  return version !== undefined && spec?.allowedVersions?.includes(version)
    ? listedOn(record, 'allowedVersions', version)
    : undefined;
}

/** The reference of an entry's object. An upstream Rollout of another namespace has its namespace in the name. */
function refOf(kind: Kind, name: string, home: string): NamespacedName {
  if (kind === 'ClusterRolloutBudget') return { namespace: '', name };
  return kind === 'Rollout' ? parseRefKey(name, home) : { namespace: home, name };
}

/** The state of an entry; `passed` without a blocker, since manual deployments wait for no RolloutGate. */
function stepState({ rollout, gate, blocker, version }: Entry): StepState {
  if (blocker?.reason === 'ReleaseRejected') return 'failed';
  // A wait with an end ends by the calendar; one without is in progress.
  if (blocker) return blocker.effect === 'Waits' && blocker.until === undefined ? 'waits' : 'blocks';
  return version !== undefined && listsAllBlockers(rollout) ? 'passed' : listState(gate, version);
}

/** The state by the entry's own fields: a list allows only its versions; a bypassed entry allows its version. */
function listState({ passing, allowedVersions, bypassGates }: GateSummary, version: string | undefined) {
  if (bypassGates) return 'passed';
  if (passing === false) return 'blocks';
  if (!allowedVersions || version === undefined) return 'passed';
  return allowedVersions.includes(version) ? 'passed' : 'blocks';
}

function detailOf(entry: Entry, state: StepState): string {
  const { gate, object, version } = entry;
  const { labels = {}, annotations = {} } = object?.metadata ?? {};
  const [scheduleKind, name] = [labels[SCHEDULE_KIND_LABEL], labels[SCHEDULE_NAME_LABEL]];
  const isBypassed = state === 'passed' && version !== undefined && listState(gate, version) === 'blocks';
  return [
    stateText(entry, state) + (isBypassed ? `; does not apply to ${version}` : ''),
    ...(scheduleKind && name ? [`of ${scheduleKind} ${name}`] : []),
    ...[annotations[GATE_PRETTY_NAME], annotations[GATE_DESCRIPTION]].flatMap((text) => text || []),
  ].join(', ');
}

function needsApproval({ object, blocker }: Entry): boolean {
  return object?.spec?.approvals !== undefined || blocker?.type === 'Approvals';
}

/** The most versions of a list that a text has. */
const MAX_VERSIONS = 5;

function stateText(entry: Entry, state: StepState): string {
  const { gate, kind, version, object } = entry;
  const { passing, allowedVersions, bypassGates, message } = gate;
  if (state === 'failed') return `rejects ${version}`;
  const reported = message && withoutCommands(message);
  if (bypassGates && reported) return reported;
  if (passing === false) return 'not passing';
  // Only the message has the approvals of the version, or the cause for an upstream Rollout or a budget.
  const isReported = kind === 'RolloutGate' ? version !== undefined && needsApproval(entry) : state !== 'passed';
  if (isReported && reported) return reported;
  const { rejectedVersions: rejected = [] } = object?.spec ?? {};
  const rejects = version === undefined && rejected.length > 0 ? `; rejects ${firstFew(rejected, MAX_VERSIONS)}` : '';
  if (!allowedVersions) return `passing${rejects}`;
  const isAllowed = version === undefined || allowedVersions.includes(version);
  if (!isAllowed) return `does not allow ${version}`;
  const allowed = version ? [version] : allowedVersions.filter((tag) => !rejected.includes(tag));
  if (allowed.length > 0) return `allows ${firstFew(allowed, MAX_VERSIONS)}${rejects}`;
  const required = object?.spec?.approvals?.required;
  return required === undefined ? 'allows no version yet' : `each version needs ${countOf(required, 'approval')}`;
}
