/**
 * Objects whose status is about an older version than that of their source or spec. A new version of a chart changes
 * nothing in the HelmRelease that uses it. The HelmRelease reports the previous version until helm-controller begins,
 * which may be down or busy with an upgrade. The same holds for Kustomizations, and for Rollouts of Argo with the Pod
 * template of another workload.
 */
import type { FluxObject } from '../../../api/flux.ts';
import { KINDS } from '../../../api/kinds.ts';
import type { AnyObject, EpochMs } from '../../../api/kubernetes.ts';
import { fieldAt, stringAt } from '../../kstatus/fields.ts';
import { groupOf, isKind, refKey } from '../../kube/names.ts';
import { latestTime, parseTime } from '../../kube/time.ts';
import { lastSpecChange } from '../../kube/writers.ts';
import {
  fetchedRevision,
  isCurrent,
  isOfTag,
  namesArtifact,
  releasedDigest,
  sourceOf,
} from '../../managedField/source.ts';
import { keepsPods } from './broken.ts';
import type { InventoryResource } from './inventory.ts';

const ARGO_ROLLOUT = { group: 'argoproj.io', kind: 'Rollout' };
const CANARY = { group: 'flagger.app', kind: 'Canary' };

/** Objects by kind, namespace and name. */
export type KnownObjects = ReadonlyMap<string, AnyObject>;

const keyOf = ({ apiVersion, kind, ...ref }: InventoryResource) => `${groupOf(apiVersion)}/${kind} ${refKey(ref)}`;

export function knownObjects(objects: readonly AnyObject[]): KnownObjects {
  return new Map(
    objects.map((object) => {
      const { apiVersion, kind, metadata } = object;
      return [keyOf({ apiVersion, kind, namespace: metadata.namespace ?? '', name: metadata.name ?? '' }), object];
    }),
  );
}

/** The source that the object takes its version from; undefined for other objects. */
function versionSourceOf(object: AnyObject): InventoryResource | undefined {
  const hasSource = isKind(object, KINDS.HelmRelease) || isKind(object, KINDS.Kustomization);
  return hasSource ? sourceOf(object as FluxObject) : undefined;
}

/**
 * Another object that the object's health depends on, and that is read if the inventory lacks it: the primary of a
 * Canary, or a source if that is an OCIRepository. Other sources count only if the inventory has them, and so sets
 * their version: a GitRepository that many objects share changes with each commit.
 */
export function relatedObjectOf(object: AnyObject): InventoryResource | undefined {
  const target = isKind(object, CANARY) ? refAt(object, 'targetRef') : undefined;
  if (target) return keepsPods(target) ? primaryOf(target) : undefined;
  const source = versionSourceOf(object);
  return source?.kind === KINDS.OCIRepository.kind ? source : undefined;
}

/**
 * The last change of what a workload or HelmRelease is to run: of its spec, or of its chart. undefined if that isn't
 * known. Other kinds may get a version without a change of their spec.
 */
export function lastChange(object: AnyObject, known: KnownObjects): EpochMs | undefined {
  if (keepsPods(object)) return lastSpecChange(object);
  if (!isKind(object, KINDS.HelmRelease)) return undefined;
  const ref = versionSourceOf(object);
  const fetched = ref && parseTime(stringAt(known.get(keyOf(ref)), ['status', 'artifact', 'lastUpdateTime']));
  return ref && fetched === undefined ? undefined : latestTime([lastSpecChange(object), fetched]);
}

type Which = 'runs' | 'tried';

/** The revision in the status of an object: the one that it runs, or the one that its controller tried last. */
function reportedRevision(object: AnyObject, which: Which): string | undefined {
  const isHelmRelease = isKind(object, KINDS.HelmRelease);
  if (which === 'runs' && isHelmRelease) return releasedDigest(object as FluxObject);
  if (which === 'runs') return stringAt(object, ['status', 'lastAppliedRevision']);
  return stringAt(object, ['status', isHelmRelease ? 'lastAttemptedRevisionDigest' : 'lastAttemptedRevision']);
}

/**
 * Why the object's status is not about the version of its source; undefined if it is, or if that isn't known.
 * @param which the revision that Ready is about: it `runs` if Ready is True, and was `tried` if it is False
 */
export function whyBehindSource(object: AnyObject, which: Which, known: KnownObjects): string | undefined {
  if (isKind(object, ARGO_ROLLOUT)) return whyBehindWorkload(object, known);
  if (isKind(object, CANARY)) return which === 'runs' ? whyNotPromoted(object, known) : undefined;
  if (isKind(object, KINDS.OCIRepository)) return which === 'runs' ? whyNotFetched(object as FluxObject) : undefined;
  const ref = versionSourceOf(object);
  const source = ref && (known.get(keyOf(ref)) as FluxObject | undefined);
  const reported = reportedRevision(object, which);
  if (!source || reported === undefined) return undefined;
  const artifact = fetchedRevision(source);
  // An ExternalArtifact reports no generation.
  const isSeen = source.status?.observedGeneration !== undefined;
  const isFetching = isSeen && source.spec?.suspend !== true && !isCurrent(source);
  if (artifact === undefined ? !isFetching : namesArtifact(reported, artifact)) return undefined;
  const suspended = fieldAt(object, ['spec', 'suspend']) === true ? ' (suspended)' : '';
  const has = artifact === undefined ? 'fetches another version' : `has ${artifact}`;
  const still = which === 'runs' ? 'still runs' : 'last tried';
  return `${still} ${reported}${suspended}; ${ref.kind} ${ref.name} ${has}`;
}

/** Why the source has not fetched its present spec; undefined if it has. */
export function whyNotFetched(source: FluxObject): string | undefined {
  const { generation, name } = source.metadata;
  const observed = source.status?.observedGeneration;
  if (generation !== undefined && observed !== undefined && generation !== observed) {
    return `${source.kind} ${name} has not yet fetched generation ${generation}`;
  }
  const ref = source.spec?.ref as { tag?: string; semver?: string; digest?: string } | undefined;
  // Flux ignores the tag if one of the other two is set.
  if (source.kind !== 'OCIRepository' || !ref?.tag || ref.semver || ref.digest) return undefined;
  const artifact = stringAt(source, ['status', 'artifact', 'revision']);
  if (isOfTag(artifact, ref.tag)) return undefined;
  return `${source.kind} ${name} has ${artifact ?? 'nothing'}, not ${ref.tag}`;
}

/** The object that a field of the spec names. */
function refAt(object: AnyObject, field: string): InventoryResource {
  const [apiVersion = '', kind = '', name = ''] = ['apiVersion', 'kind', 'name'].map((each) =>
    stringAt(object, ['spec', field, each]),
  );
  return { apiVersion, kind, namespace: object.metadata.namespace ?? '', name };
}

/** Why a Rollout of Argo has yet to observe the workload of its `spec.workloadRef`. */
function whyBehindWorkload(object: AnyObject, known: KnownObjects): string | undefined {
  const { kind, name, ...ref } = refAt(object, 'workloadRef');
  const observed = stringAt(object, ['status', 'workloadObservedGeneration']);
  const generation = known.get(keyOf({ kind, name, ...ref }))?.metadata.generation;
  if (generation === undefined || observed === undefined || observed === String(generation)) return undefined;
  return `${kind} ${name} has generation ${generation}, and the Rollout has observed ${observed}`;
}

/** The workload that serves the version that Flagger has promoted. */
function primaryOf(target: InventoryResource): InventoryResource {
  return { ...target, name: `${target.name}-primary` };
}

/**
 * Why a Canary at rest has yet to take the version of its target. While Flagger is down the target has no Pods, and the
 * Canary reports the result of the version before.
 */
function whyNotPromoted(object: AnyObject, known: KnownObjects): string | undefined {
  const target = refAt(object, 'targetRef');
  const [wanted, promoted] = [target, primaryOf(target)].map((ref) => imagesOf(known.get(keyOf(ref))));
  if (wanted === undefined || promoted === undefined || wanted === promoted) return undefined;
  return `Flagger has not promoted the images of ${target.kind} ${target.name} yet`;
}

/** The images of a workload's containers, as text; undefined if it has none. */
function imagesOf(workload: AnyObject | undefined): string | undefined {
  const containers = fieldAt(workload, ['spec', 'template', 'spec', 'containers']);
  return Array.isArray(containers) ? containers.map((each) => stringAt(each, ['image'])).join() : undefined;
}
