/** Checks for references to objects that do not exist, and for closed Gates that do not hold their objects. */
import { HEALTHCHECK_KUSTOMIZATION, WATCHED_FROM } from '../../api/annotations.ts';
import type { ImagePolicy } from '../../api/flux.ts';
import { KINDS, type KindName, NAMESPACES } from '../../api/kinds.ts';
import type { AnyObject, KubeObject, NamespacedName } from '../../api/kubernetes.ts';
import type { FluxBinding, Gate, HealthCheck, Rollout, RolloutGate } from '../../api/types.ts';
import { PROGRAM_WORD } from '../../client/actions/writes/plannedWrite.ts';
import { type KubeClient, unlessRefused } from '../../connection/kube/kubeClient.ts';
import { requiredByBinding } from '../../core/gate/closedGates.ts';
import { ANY_REF, gatesNamedBy } from '../../core/gate/gateRefs.ts';
import { KUSTOMIZATION_CLASS, kustomizationRef } from '../../core/health/kustomizationCheck.ts';
import { byRefKey, identityOf, refKey, uniqueRefs } from '../../core/kube/names.ts';
import { policyRef } from '../../core/policy/imagePolicy.ts';
import { consentingRollouts, upstreamRefs } from '../../core/rollout/upstream/dependencies.ts';
import { countOf } from '../../core/text/count.ts';
import { nameWord, shell } from '../../core/text/shell.ts';
import { checkOf, type Found, findingsOrFine, problem } from './finding.ts';

export const checkReferences = checkOf('References', async ({ client, list, kind, unread }) => {
  const flux = async <T extends AnyObject>(name: 'ImagePolicy' | 'Kustomization') => {
    const apiVersion = await servedVersion(client, name);
    return apiVersion ? list<T>({ apiVersion, resource: KINDS[name].resource }) : undefined;
  };
  const [rollouts, rolloutGates, bindings, gates, policies, checks] = await Promise.all([
    kind<Rollout>('Rollout'),
    kind<RolloutGate>('RolloutGate'),
    kind<FluxBinding>('FluxBinding'),
    // Gates of other namespaces may hold objects of the checked one.
    kind<Gate>('Gate', { namespace: undefined }),
    flux<ImagePolicy>('ImagePolicy'),
    kind<HealthCheck>('HealthCheck'),
  ]);
  const isAboutFlux = checks?.some(({ spec }) => spec?.class === KUSTOMIZATION_CLASS);
  const kustomizations = isAboutFlux ? await flux('Kustomization') : undefined;
  const hasUpstreams = rollouts?.some((rollout) => upstreamRefs(rollout).length > 0);
  // Upstream Rollouts may be in other namespaces, and a Namespace may consent for all of its Rollouts.
  const [upstreams, namespaces] = hasUpstreams
    ? await Promise.all([kind<Rollout>('Rollout', { namespace: undefined }), list<KubeObject>(NAMESPACES)])
    : [];
  const found = [
    ...absentFindings({ rollouts, rolloutGates, bindings, gates, policies, checks, kustomizations }),
    ...upstreamFindings(rollouts ?? [], upstreams, namespaces),
  ];
  return unread.size > 0 ? found : findingsOrFine(found, 'every referenced object exists');
});

/** The served version of a kind; undefined if none is served or the user can't read that. */
async function servedVersion(client: KubeClient, kind: KindName): Promise<string | undefined> {
  const { group, versions, resource } = KINDS[kind];
  for (const version of versions) {
    const resources = await unlessRefused(client.resources(`${group}/${version}`), 403);
    if (resources?.some(({ name }) => name === resource)) return `${group}/${version}`;
  }
  return undefined;
}

/** Lists of objects. A list that could not be read is absent, and leads to no finding. */
interface ReferringObjects {
  rollouts?: readonly Rollout[] | undefined;
  rolloutGates?: readonly RolloutGate[] | undefined;
  gates?: readonly Gate[] | undefined;
  bindings?: readonly FluxBinding[] | undefined;
  policies?: readonly ImagePolicy[] | undefined;
  checks?: readonly HealthCheck[] | undefined;
  kustomizations?: readonly AnyObject[] | undefined;
}

/** Findings about references to objects that don't exist, and about closed Gates that don't hold all their objects. */
export function absentFindings(of: ReferringObjects): Found[] {
  const { rollouts, rolloutGates, gates, bindings, policies, checks, kustomizations } = of;
  const ownName = ({ metadata }: AnyObject, name: string) => ({ namespace: metadata.namespace ?? '', name });
  const targetOf = ({ spec, metadata }: FluxBinding) =>
    `${spec!.target.kind} ${metadata.namespace}/${spec!.target.name}`;
  return [
    ...missingReferences(
      rollouts,
      policies,
      (rollout) => policyRef(rollout) ?? [],
      ({ by, ref }) => [
        `Rollout ${refKey(by)} references ImagePolicy ${refKey(ref)}, which does not exist: the Rollout has no releases`,
        'create the ImagePolicy, or correct spec.releasesImagePolicy',
        shell`kubectl -n ${nameWord(ref.namespace)} get imagepolicies`,
      ],
    ),
    ...missingReferences(
      rollouts,
      gates,
      (rollout) => gatesNamedBy(rollout, ANY_REF),
      ({ by, ref }) => [
        `Rollout ${refKey(by)} requires Gate ${refKey(ref)}, which does not exist and so counts as closed: nothing is deployed`,
        'create the Gate, or remove it from the Rollout: this lists the commands',
        shell`${PROGRAM_WORD} why ${by.name} -n ${by.namespace}`,
      ],
    ),
    ...missingReferences(
      bindings,
      gates,
      ({ spec }) => requiredByBinding(spec).refs,
      ({ object, by, ref }) => [
        `${targetOf(object)} requires Gate ${refKey(ref)}, which does not exist and so counts as closed: the object is suspended`,
        'create the Gate: this prints the command',
        shell`${PROGRAM_WORD} why ${object.spec!.target.kind.toLowerCase()}/${nameWord(object.spec!.target.name)} -n ${by.namespace}`,
      ],
    ),
    ...missingReferences(
      bindings,
      rollouts,
      (binding) => (binding.spec?.fields ?? []).map(({ rollout }) => ownName(binding, rollout)),
      ({ object, ref }) => [
        `${targetOf(object)} is bound to Rollout ${refKey(ref)}, which does not exist: the object gets no version`,
        `create the Rollout, or remove the annotation of the ${object.spec!.target.kind}`,
      ],
    ),
    ...missingReferences(
      rolloutGates,
      rollouts,
      (gate) => (gate.spec ? ownName(gate, gate.spec.rolloutRef.name) : []),
      ({ by, ref }) => [
        `RolloutGate ${refKey(by)} is for Rollout ${refKey(ref)}, which does not exist: the RolloutGate blocks nothing`,
        'correct spec.rolloutRef, or delete it',
        shell`kubectl -n ${by.namespace} delete rolloutgate ${by.name}`,
      ],
    ),
    ...missingReferences(
      checks?.filter(({ spec }) => spec?.class === KUSTOMIZATION_CLASS),
      kustomizations,
      (check) => {
        const ref = kustomizationRef(check);
        return 'problem' in ref ? [] : ref;
      },
      ({ by, ref }) => [
        `HealthCheck ${refKey(by)} is about Kustomization ${refKey(ref)}, which does not exist: the HealthCheck is never Healthy`,
        `create the Kustomization, or correct the annotation ${HEALTHCHECK_KUSTOMIZATION}`,
      ],
    ),
    ...(gates ?? []).flatMap(notHeldFinding),
  ];
}

/** Findings about upstream Rollouts that do not exist or have not consented, so that every version waits for them. */
export function upstreamFindings(
  rollouts: readonly Rollout[],
  upstreams: readonly Rollout[] | undefined,
  namespaces: readonly KubeObject[] | undefined,
): Found[] {
  const existing = byRefKey(upstreams ?? []);
  return rollouts.flatMap((rollout) => {
    const by = identityOf(rollout);
    return upstreamRefs(rollout).flatMap((ref): Found[] => {
      const upstream = existing.get(refKey(ref));
      const text = `Rollout ${refKey(by)} deploys nothing: its upstream Rollout ${refKey(ref)} (spec.after)`;
      if (upstreams && !upstream) {
        const edit = shell`kubectl -n ${by.namespace} edit rollout ${by.name}`;
        return [problem(`${text} does not exist`, 'create it, or correct spec.after', edit)];
      }
      if (!upstream || !namespaces || consentingRollouts(rollout, [upstream], namespaces).length > 0) return [];
      const others = upstream.metadata.annotations?.[WATCHED_FROM];
      const consent = `${WATCHED_FROM}=${others ? `${others},` : ''}${by.namespace}`;
      const allow = shell`kubectl -n ${ref.namespace} annotate --overwrite rollout ${ref.name} ${consent}`;
      return [problem(`${text} has not consented`, 'add the consent', allow)];
    });
  });
}

/** The finding about a closed Gate that does not hold all of its Flux objects. */
function notHeldFinding({ metadata: { namespace, name }, status }: Gate): Found[] {
  const { notHeld = 0, notHeldObjects: [first] = [] } = status ?? {};
  if (notHeld === 0) return [];
  const text = `Gate ${namespace}/${name} is closed, but fails to hold ${countOf(notHeld, 'Flux object')}`;
  const example = first
    ? `, such as ${first.kind} ${first.namespace}/${first.name}: ${first.message ?? first.reason}`
    : '';
  return [{ about: 'Gates', ...problem(`${text}${example}`, 'see the runbook of GateNotHolding (docs/runbooks.md)') }];
}

interface MissingReference<T> {
  object: T;
  by: NamespacedName;
  ref: NamespacedName;
}

/** A finding for each reference to a target that does not exist, each once per object. */
function missingReferences<T extends AnyObject>(
  objects: readonly T[] | undefined,
  targets: readonly AnyObject[] | undefined,
  refsOf: (object: T) => readonly NamespacedName[] | NamespacedName,
  findingOf: (missing: MissingReference<T>) => [text: string, fix: string, command?: string],
): Found[] {
  if (!objects || !targets) return [];
  const existing = new Set(targets.map((target) => refKey(identityOf(target))));
  return objects.flatMap((object) => {
    const missing = uniqueRefs([refsOf(object)].flat()).filter((ref) => !existing.has(refKey(ref)));
    return missing.map((ref) => problem(...findingOf({ object, by: identityOf(object), ref })));
  });
}
