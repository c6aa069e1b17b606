/** RolloutGates, stages and budgets: entries of `status.gates` that let some versions through. */
import {
  GATE_DESCRIPTION,
  GATE_PRETTY_NAME,
  GATE_UNTIL,
  SCHEDULE_KIND_LABEL,
  SCHEDULE_NAME_LABEL,
} from '../../../api/annotations.ts';
import { KINDS } from '../../../api/kinds.ts';
import type { GateSummary, Rollout, RolloutGate } from '../../../api/types.ts';
import { formatTime, parseTime } from '../../kube/time.ts';
import type { Step, StepKind, StepState } from '../application.ts';
import { defined } from '../defined.ts';
import { objectRef } from '../objectRef.ts';
import { finder, type Surroundings } from '../surroundings.ts';

/** No RolloutGate can have a slash in its name: these are stages and budgets. */
const PREFIXES: [prefix: string, kind: StepKind, title: string][] = [
  ['after/', 'stage', 'Rollout'],
  ['budget/', 'budget', 'RolloutBudget'],
];

export function rolloutGateSteps(rollout: Rollout, around: Surroundings, version: string | undefined): Step[] {
  const namespace = rollout.metadata.namespace ?? '';
  const find = finder(around.rolloutGates);
  return (rollout.status?.gates ?? [])
    .filter(({ kind }) => kind !== KINDS.Gate.kind)
    .map((gate) => {
      const [prefix, kind, title] = PREFIXES.find(([each]) => gate.name.startsWith(each)) ?? [
        '',
        'rolloutGate' as const,
        'RolloutGate',
      ];
      const name = gate.name.slice(prefix.length);
      const object = kind === 'rolloutGate' ? find({ namespace, name }) : undefined;
      const until = parseTime(object?.metadata.annotations?.[GATE_UNTIL]);
      return {
        id: `${kind}/${name}`,
        kind,
        state: stateOf(gate, version),
        title: `${title} ${name}`,
        ...(kind === 'rolloutGate' && { object: objectRef('RolloutGate', { namespace, name }) }),
        ...(kind === 'stage' && { object: objectRef('Rollout', stageOf(name, namespace)) }),
        ...defined({
          version,
          detail: detailOf(gate, object, version),
          until: until === undefined ? undefined : formatTime(until),
        }),
      };
    });
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
  if (!isGeneric) return message;
  if (!allowedVersions) return 'passing';
  const isAllowed = version === undefined || allowedVersions.includes(version);
  return isAllowed ? `allows ${version ?? allowedVersions.join(', ')}` : `does not allow ${version}`;
}

function stageOf(name: string, home: string): { namespace: string; name: string } {
  const [stage = '', namespace = home] = name.split('/').reverse();
  return { namespace, name: stage };
}
