/** A take-over as objects and as writes: what `adopt` has found out, in the order in which it is made. */

import type { FluxObject } from '../../../api/flux.ts';
import type { KubeObject, NamespacedName } from '../../../api/kubernetes.ts';
import { withCommands } from '../../../core/text/commands.ts';
import { quoted, shell } from '../../../core/text/shell.ts';
import type { Adoption, Choices } from './adopt.ts';
import { creating, named, OURS, PROGRAM, patching, type WriteRequest } from './write.ts';

export interface TakeOverWrites {
  /** Absent where nothing newer is out. */
  hold?: WriteRequest;
  /** Absent where there is such a Rollout. */
  begin?: WriteRequest;
  /** Only after the Rollout has begun: bound before that, the object would have nobody's version for a moment. */
  bind: WriteRequest;
}

export function takeOverWrites({ gate, rollout, object, annotations, version, rolloutName }: Adoption): TakeOverWrites {
  const ref = rolloutRef({ object, rolloutName });
  const holds = named('RolloutGate', { ...ref, name: gate?.metadata.name ?? '' });
  return {
    ...(gate && { hold: creating('RolloutGate', gate, { text: `Made ${holds}, which holds what comes next` }) }),
    ...(rollout && {
      begin: creating('Rollout', rollout, { text: `Made ${named('Rollout', ref)}, which begins with ${version}` }),
    }),
    bind: patching(
      object.kind,
      object,
      { metadata: { annotations } },
      { text: `Bound ${named(object.kind, object)} to ${named('Rollout', ref)}: ${version} stays` },
    ),
  };
}

/** New objects in the order in which they are made. */
export function newObjects({ gate, rollout }: Pick<Adoption, 'gate' | 'rollout'>): KubeObject<any, any>[] {
  return [gate, rollout].flatMap((each) => each ?? []);
}

/** The object as far as Git has to know. */
export function boundObject({ apiVersion, kind, metadata }: FluxObject, found: Adoption): KubeObject<any, any> {
  const { name, namespace } = metadata;
  return { apiVersion, kind, metadata: { name, namespace, annotations: found.annotations } } as KubeObject<any, any>;
}

export function rolloutRef({ object, rolloutName }: Pick<Adoption, 'object' | 'rolloutName'>): NamespacedName {
  return { namespace: object.namespace, name: rolloutName };
}

/** Why the object cannot be bound yet. */
export function notBegunText({ object, rolloutName, version }: Adoption, seconds: number): string {
  const ref = rolloutRef({ object, rolloutName });
  return withCommands(
    `${named('Rollout', ref)} has not begun with ${version} in ${seconds} s: a closed Gate holds it, or Metacontroller does not run. Nothing is bound yet: run this again once it has begun.`,
    ['To see what it waits for', shell`${OURS} why ${ref.name} -n ${ref.namespace}`],
  );
}

/** The command that does the same: `kubectl rollouts -n shop adopt kustomization/checkout --apply`. */
export function adoptCommandOf(
  { kind, namespace, name }: Adoption['object'],
  choices: Choices,
  program = PROGRAM,
): string {
  const chosen = (['policy', 'variable', 'rollout', 'runs'] as const).flatMap((key) =>
    choices[key] ? [`--${key}`, choices[key]] : [],
  );
  const bake = [
    ...(choices.bakeTime ? ['--bake-time', choices.bakeTime] : []),
    ...(choices.deployTimeout ? ['--deploy-timeout', choices.deployTimeout] : []),
    ...(choices.noBake ? ['--no-bake'] : []),
  ];
  return `${program} ${['-n', namespace, 'adopt', `${kind.toLowerCase()}/${name}`, ...chosen, ...bake, '--apply'].map(quoted).join(' ')}`;
}
