/** Objects that wait for what does not exist, or for somebody to look at them. */
import type { ImagePolicy } from '../../../api/flux.ts';
import type { EpochMs, KubeObject } from '../../../api/kubernetes.ts';
import type { FluxBinding, Gate, Rollout, RolloutGate } from '../../../api/types.ts';
import { gateRefsOf, gatesOf, isTooMany } from '../../../core/gate/gateRefs.ts';
import { identityOf, refKey } from '../../../core/kube/names.ts';
import { parseTime } from '../../../core/kube/time.ts';
import { policyRef } from '../../../core/policy/imagePolicy.ts';
import { nameWord, shell } from '../../../core/text/shell.ts';
import { OURS } from '../../actions/writes/write.ts';
import { type Finding, problem } from './finding.ts';

/** Absent lists could not be read: nothing is said of what they would show. */
export interface Inhabitants {
  rollouts?: readonly Rollout[] | undefined;
  rolloutGates?: readonly RolloutGate[] | undefined;
  gates?: readonly Gate[] | undefined;
  bindings?: readonly FluxBinding[] | undefined;
  policies?: readonly ImagePolicy[] | undefined;
}

const ABOUT = 'References';

export function absentFindings({ rollouts, rolloutGates, gates, bindings, policies }: Inhabitants): Finding[] {
  return [
    ...missing(rollouts, policies, (rollout) => {
      const ref = policyRef(rollout);
      return ref ? [ref] : [];
    }).map(({ by, ref }) =>
      problem(
        ABOUT,
        `Rollout ${by} follows ImagePolicy ${ref}, which does not exist: it has no releases`,
        'create the ImagePolicy, or correct spec.releasesImagePolicy',
        shell`kubectl -n ${nameWord(home(ref))} get imagepolicies`,
      ),
    ),
    ...missing(rollouts, gates, gateRefsOf).map(({ by, ref }) =>
      problem(
        ABOUT,
        `Rollout ${by} requires Gate ${ref}, which does not exist and so counts as closed: nothing is deployed`,
        'create the Gate, or no longer require it: this lists the commands',
        shell`${OURS} why ${nameOf(by)} -n ${home(by)}`,
      ),
    ),
    ...missing(bindings, gates, ({ spec }) => gatesOf(spec).filter((ref) => !isTooMany(ref))).map(({ object, ref }) => {
      const { kind, name } = object.spec!.target;
      const namespace = object.metadata.namespace ?? '';
      return problem(
        ABOUT,
        `${kind} ${namespace}/${name} requires Gate ${ref}, which does not exist and so counts as closed: it is suspended`,
        'create the Gate: this prints the command',
        shell`${OURS} why ${kind.toLowerCase()}/${nameWord(name)} -n ${namespace}`,
      );
    }),
    ...missing(bindings, rollouts, ({ spec, metadata }) =>
      (spec?.pins ?? []).map(({ rollout }) => ({ namespace: metadata.namespace ?? '', name: rollout })),
    ).map(({ object, ref }) => {
      const { kind, name } = object.spec!.target;
      return problem(
        ABOUT,
        `${kind} ${object.metadata.namespace}/${name} is bound to Rollout ${ref}, which does not exist: it gets no version`,
        `create the Rollout, or take the annotation off the ${kind}`,
      );
    }),
    ...missing(rolloutGates, rollouts, ({ spec, metadata }) =>
      spec ? [{ namespace: metadata.namespace ?? '', name: spec.rolloutRef.name }] : [],
    ).map(({ by, ref }) =>
      problem(
        ABOUT,
        `RolloutGate ${by} is for Rollout ${ref}, which does not exist: it holds nothing`,
        'correct spec.rolloutRef, or delete it',
        shell`kubectl -n ${home(by)} delete rolloutgate ${nameOf(by)}`,
      ),
    ),
    ...(gates ?? []).flatMap(unheldFinding),
  ];
}

/** A closed Gate that Flux acts behind. */
function unheldFinding({ metadata: { namespace, name }, status }: Gate): Finding[] {
  const { notHeld = 0, notHeldObjects: [first] = [] } = status ?? {};
  if (notHeld === 0) return [];
  const example =
    first && `, ${first.kind} ${first.namespace}/${first.name} among them: ${first.message ?? first.reason}`;
  return [
    problem(
      'Gates',
      `Gate ${namespace}/${name} is closed and does not hold ${notHeld} Flux objects${example ?? ''}`,
      'docs/runbooks.md#gatenotholding',
    ),
  ];
}

interface Named {
  namespace: string;
  name: string;
}

function missing<T extends KubeObject<any, any>>(
  objects: readonly T[] | undefined,
  targets: readonly KubeObject<any, any>[] | undefined,
  refsOf: (object: T) => readonly Named[],
): { object: T; by: string; ref: string }[] {
  if (!objects || !targets) return [];
  const there = new Set(targets.map((target) => refKey(identityOf(target))));
  return objects.flatMap((object) => {
    const gone = new Set(
      refsOf(object)
        .map((ref) => refKey(ref))
        .filter((key) => !there.has(key)),
    );
    return [...gone].map((ref) => ({ object, by: refKey(identityOf(object)), ref }));
  });
}

const home = (key: string) => key.split('/')[0] ?? '';
const nameOf = (key: string) => key.split('/')[1] ?? '';

/** An object is synced within moments, a planned change to the second: after that somebody sleeps. */
const PATIENCE_MS = 60_000;

/** `Rollout shop/checkout`: whose status is of another generation than its spec, or names a next change that is over. */
export function behind(objects: readonly KubeObject<any, any>[], now: EpochMs): string[] {
  return objects
    .filter(({ metadata, status }) => {
      const isOld = (at: EpochMs | undefined) => at !== undefined && now - at > PATIENCE_MS;
      const observed = status?.observedGeneration;
      // What the CRD says of a Gate that nobody has looked at yet.
      const isUntouched = status === undefined || observed === -1;
      const isUnseen = !isUntouched && observed !== undefined && observed !== metadata.generation;
      const isNew = isUntouched && isOld(parseTime(metadata.creationTimestamp));
      return isUnseen || isNew || isOld(parseTime(status?.nextTransition));
    })
    .map((object) => `${object.kind} ${refKey(identityOf(object))}`);
}
