/** Objects without a Rollout, and the plan to adopt one, as the page lists and requests them. */
import { BOUND_ROLLOUT } from '../../api/annotations.ts';
import type { FluxObject, ImagePolicy, ImageRepository, SourceRef } from '../../api/flux.ts';
import { KINDS } from '../../api/kinds.ts';
import type { NamespacedName } from '../../api/kubernetes.ts';
import type { Rollout } from '../../api/types.ts';
import { identityOf, refKey } from '../../core/kube/names.ts';
import { rolloutsOfObject } from '../../core/managedField/managedFields.ts';
import { type TextWithCommands, withCommands } from '../../core/text/commands.ts';
import { nameWord, shell } from '../../core/text/shell.ts';
import { type Adoption, adopt, type Choices, imagesOf } from '../actions/writes/adoption.ts';
import { FIELD_MANAGER, objectTitle } from '../actions/writes/plannedWrite.ts';
import type { Right } from '../explain/application.ts';
import { byNamespace } from '../explain/related.ts';
import { Problem } from '../problem.ts';
import type { Rights } from './pageMessages.ts';

type AdoptedKind = Adoption['object']['kind'];

/** A Kustomization, OCIRepository or HelmRelease without a Rollout. */
export interface UnboundObject extends NamespacedName {
  kind: AdoptedKind | 'HelmRelease';
  /** The running version and the name of the future Rollout, if they were detected. */
  found?: { version: string; rollout: string };
  /** Why they were not detected, or what to do instead. */
  problem?: string;
}

export interface AdoptList {
  /** Objects that can be adopted come first. */
  objects: UnboundObject[];
  /** The number of objects, including those that are not listed. */
  count: number;
  /** Kinds that could not be read, a sentence each. */
  unread: string[];
}

export interface AdoptRequest extends NamespacedName {
  kind: AdoptedKind;
  choices: Choices;
}

export interface AdoptPlan {
  version: string;
  rollout: string;
  /** All changes as text, which the user confirms and the request to adopt repeats. */
  diff: string;
  notes: TextWithCommands[];
  command: string;
  kubectl: string;
  needs: Right[];
}

export interface AdoptPreview {
  plan?: AdoptPlan;
  /** Why there is no plan; a choice of the user may solve it. */
  problem?: string;
  /** The reader's rights, by the key of the right. */
  rights: Rights;
  /** The choices: names of ImagePolicies and of variables. */
  policies: string[];
  variables: string[];
}

/** The related objects of all namespaces. */
export interface ClusterAdoptionContext {
  policies: readonly ImagePolicy[];
  repositories: readonly ImageRepository[];
  rollouts: readonly Rollout[];
}

/** The objects without a Rollout, in the page's order, of Kustomizations, OCIRepositories and HelmReleases. */
export function unboundObjects(objects: readonly FluxObject[], related: ClusterAdoptionContext): UnboundObject[] {
  const policies = byNamespace(related.policies);
  const repositories = byNamespace(related.repositories);
  const rollouts = byNamespace(related.rollouts);
  const sources = new Map(
    objects.filter(({ kind }) => kind === KINDS.OCIRepository.kind).map((each) => [refKey(identityOf(each)), each]),
  );
  const found = objects
    .filter((object) => rolloutsOfObject(object).length === 0)
    .map((object): UnboundObject => {
      const ref = identityOf(object);
      if (object.kind === KINDS.HelmRelease.kind) return unboundHelmRelease(object, sources);
      const kind = object.kind as AdoptedKind;
      const own = {
        policies: policies.get(ref.namespace) ?? [],
        images: imagesOf(repositories.get(ref.namespace) ?? []),
        rollouts: rollouts.get(ref.namespace) ?? [],
      };
      try {
        const { version, rolloutRef } = adopt(object, own, {});
        return { kind, ...ref, found: { version, rollout: rolloutRef.name } };
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        return { kind, ...ref, problem: error.message };
      }
    });
  return found.sort(
    (a, b) =>
      Number(b.found !== undefined) - Number(a.found !== undefined) ||
      refKey(a).localeCompare(refKey(b)) ||
      a.kind.localeCompare(b.kind),
  );
}

/** The row of a HelmRelease without a Rollout. Its version is that of its chart, whose OCIRepository is adopted. */
function unboundHelmRelease(object: FluxObject, sources: ReadonlyMap<string, FluxObject>): UnboundObject {
  const ref = identityOf(object);
  const chart = object.spec?.chartRef as SourceRef | undefined;
  const isLocal = chart?.kind === KINDS.OCIRepository.kind && (chart.namespace ?? ref.namespace) === ref.namespace;
  const row = { kind: 'HelmRelease' as const, ...ref };
  if (!isLocal) {
    return {
      ...row,
      problem: 'Its chart comes from no OCIRepository of its namespace, so no Rollout can set its version',
    };
  }
  const source = { namespace: ref.namespace, name: chart.name };
  const [rollout] = rolloutsOfObject(sources.get(refKey(source)) ?? object);
  const name = nameWord(rollout);
  const command = shell`kubectl -n ${ref.namespace} annotate --field-manager=${FIELD_MANAGER} helmrelease/${ref.name} ${BOUND_ROLLOUT}=${name}`;
  return {
    ...row,
    problem: rollout
      ? withCommands(`Its chart is that of Rollout ${rollout}, which does not wait for it`, [
          'To make it wait',
          command,
        ])
      : `Its chart sets its version: adopt ${objectTitle('OCIRepository', source)} instead`,
  };
}
