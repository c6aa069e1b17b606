/** RolloutGates, stages and budgets: entries of `status.gates` that let some versions through. */
import {
  GATE_DESCRIPTION,
  GATE_PRETTY_NAME,
  GATE_UNTIL,
  LISTED,
  SCHEDULE_KIND_LABEL,
  SCHEDULE_NAME_LABEL,
} from '../../../api/annotations.ts';
import { WAITING_FOR_BUDGET } from '../../../api/conditions.ts';
import { KINDS, type KindName } from '../../../api/kinds.ts';
import type { NamespacedName } from '../../../api/kubernetes.ts';
import type { GateSummary, Rollout, RolloutGate } from '../../../api/types.ts';
import { listedOn, parseListed } from '../../../core/approval/listed.ts';
import { formatTime, parseTime } from '../../../core/kube/time.ts';
import type { Step, StepKind, StepState } from '../application.ts';
import { defined } from '../defined.ts';
import { objectRef } from '../objectRef.ts';
import { finder, type Surroundings } from '../surroundings.ts';

/** No RolloutGate can have a slash in its name: these are stages and budgets. */
const PREFIXES: [prefix: string, kind: StepKind, of: KindName][] = [
  ['after/', 'stage', 'Rollout'],
  ['budget/', 'budget', 'RolloutBudget'],
  ['clusterbudget/', 'budget', 'ClusterRolloutBudget'],
];

export function rolloutGateSteps(rollout: Rollout, around: Surroundings, version: string | undefined): Step[] {
  const namespace = rollout.metadata.namespace ?? '';
  const find = finder(around.rolloutGates);
  return (rollout.status?.gates ?? [])
    .filter(({ kind }) => kind !== KINDS.Gate.kind)
    .map((gate) => {
      const [prefix, kind, of] = PREFIXES.find(([each]) => gate.name.startsWith(each)) ?? ROLLOUT_GATE;
      const name = gate.name.slice(prefix.length);
      const object = kind === 'rolloutGate' ? find({ namespace, name }) : undefined;
      const until = parseTime(object?.metadata.annotations?.[GATE_UNTIL]);
      const state = stateOf(gate, version);
      return {
        id: kind === 'budget' ? gate.name : `${kind}/${name}`,
        kind,
        state: kind === 'budget' && state === 'blocks' && !isClosed(rollout) ? 'waits' : state,
        title: `${of} ${name}`,
        object: objectRef(of, refOf(of, name, namespace)),
        ...defined({
          version,
          detail: detailOf(gate, object, version),
          until: until === undefined ? undefined : formatTime(until),
          asksApproval: object?.spec?.approvals ? true : undefined,
          ...whoListed(gate, object, version),
        }),
      };
    });
}

const ROLLOUT_GATE: (typeof PREFIXES)[number] = ['', 'rolloutGate', 'RolloutGate'];

/** Who closed it, who put the version onto its list, or off it, and why: as the webhook has recorded it. */
function whoListed(
  { passing }: GateSummary,
  object: RolloutGate | undefined,
  version: string | undefined,
): Pick<Step, 'by' | 'reason' | 'since'> {
  if (!object) return {};
  const listed = listingOf(object, passing === false, version);
  return listed ? defined({ by: listed.by, reason: listed.reason, since: formatTime(listed.at) }) : {};
}

/** What there is to tell of a RolloutGate and a version. */
export function listingOf({ metadata, spec }: RolloutGate, isClosed: boolean, version: string | undefined) {
  const record = parseListed(metadata.annotations?.[LISTED]);
  if (version !== undefined && spec?.rejectedVersions?.includes(version))
    return listedOn(record, 'rejectedVersions', version);
  if (isClosed) return listedOn(record, 'passing');
  return version !== undefined && spec?.allowedVersions?.includes(version)
    ? listedOn(record, 'allowedVersions', version)
    : undefined;
}

/** A stage of another namespace is named with it. */
function refOf(kind: KindName, name: string, home: string): NamespacedName {
  if (kind === 'ClusterRolloutBudget') return { namespace: '', name };
  const [last = '', namespace = home] = name.split('/').reverse();
  return { namespace, name: last };
}

/** A slot comes free by itself; what is held after failures, or by a mistake in a budget, does not. */
function isClosed({ status }: Rollout): boolean {
  const waiting = status?.conditions?.find(({ type }) => type === WAITING_FOR_BUDGET);
  return waiting?.status === 'True' && waiting.reason !== 'NoSlot';
}

/** A list lets only what is on it through; an entry that is bypassed lets its version through whatever it says. */
function stateOf({ passing, allowedVersions, bypassGates }: GateSummary, version: string | undefined): StepState {
  if (bypassGates) return 'passed';
  if (passing === false) return 'blocks';
  if (!allowedVersions || version === undefined) return 'passed';
  return allowedVersions.includes(version) ? 'passed' : 'blocks';
}

function detailOf(gate: GateSummary, object: RolloutGate | undefined, version: string | undefined): string {
  const labels = object?.metadata.labels ?? {};
  const [kind, name] = [labels[SCHEDULE_KIND_LABEL], labels[SCHEDULE_NAME_LABEL]];
  const annotations = object?.metadata.annotations ?? {};
  return [
    sayingOf(gate, version),
    ...(kind && name ? [`of ${kind} ${name}`] : []),
    ...[annotations[GATE_PRETTY_NAME], annotations[GATE_DESCRIPTION]].flatMap((text) => text || []),
  ].join(', ');
}

function sayingOf(gate: GateSummary, version: string | undefined): string {
  const { passing, allowedVersions, message = '' } = gate;
  if (passing === false) return 'not passing';
  const isGeneric = message === '' || message === 'Gate is passing' || message.startsWith('Gate does not allow');
  // What to do about it is a remedy, with the right that it takes.
  if (!isGeneric) return message.split('; another person may: ')[0] ?? message;
  if (!allowedVersions) return 'passing';
  const isAllowed = version === undefined || allowedVersions.includes(version);
  if (!isAllowed) return `does not allow ${version}`;
  return version === undefined && allowedVersions.length === 0
    ? 'allows no version yet'
    : `allows ${version ?? allowedVersions.join(', ')}`;
}
