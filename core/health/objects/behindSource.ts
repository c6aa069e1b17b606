/**
 * Flux objects whose Ready is about an older version than their source has. A new version of a chart changes nothing in
 * the HelmRelease that uses it: until helm-controller begins, which takes as long as it is down or ends an upgrade, the
 * HelmRelease reports the version before. The same holds for Kustomizations.
 */
import type { FluxObject } from '../../../api/flux.ts';
import { KINDS } from '../../../api/kinds.ts';
import type { AnyObject } from '../../../api/kubernetes.ts';
import { fieldAt, stringAt } from '../../kstatus/fields.ts';
import { groupOf, refKey } from '../../kube/names.ts';
import { fetchedRevision, isCurrent, namesArtifact, sourceOf } from '../../managedField/source.ts';
import type { InventoryResource } from './inventory.ts';

/** The artifact of each OCIRepository, by `namespace/name`; undefined for one that has yet to fetch its spec. */
export type Artifacts = ReadonlyMap<string, string | undefined>;

const isKind = ({ apiVersion, kind }: AnyObject, known: { group: string; kind: string }) =>
  kind === known.kind && groupOf(apiVersion) === known.group;

/** The artifacts of the OCIRepositories among the objects. */
export function artifactsOf(objects: readonly AnyObject[]): Artifacts {
  const sources = objects.filter((object) => isKind(object, KINDS.OCIRepository)) as FluxObject[];
  return new Map(
    sources.flatMap((source): [string, string | undefined][] => {
      const { namespace = '', name = '' } = source.metadata;
      const revision = fetchedRevision(source);
      const isComing = source.spec?.suspend !== true && !isCurrent(source);
      return revision !== undefined || isComing ? [[refKey({ namespace, name }), revision]] : [];
    }),
  );
}

/** The OCIRepository that the object takes its version from; undefined for other objects, and other sources. */
export function ociSourceOf(object: AnyObject): InventoryResource | undefined {
  if (!isKind(object, KINDS.HelmRelease) && !isKind(object, KINDS.Kustomization)) return undefined;
  const source = sourceOf(object as FluxObject);
  return source?.kind === KINDS.OCIRepository.kind ? source : undefined;
}

type Which = 'runs' | 'tried';

/** The revisions in the status of an object: the one that it runs, and the one that its controller has tried last. */
const REVISIONS: ReadonlyMap<string, Record<Which, (string | number)[]>> = new Map([
  [
    KINDS.HelmRelease.kind,
    { runs: ['status', 'history', 0, 'ociDigest'], tried: ['status', 'lastAttemptedRevisionDigest'] },
  ],
  [KINDS.Kustomization.kind, { runs: ['status', 'lastAppliedRevision'], tried: ['status', 'lastAttemptedRevision'] }],
]);

/**
 * Why the object's Ready is not about the artifact of its source; undefined if it is, or if that isn't known.
 * @param which the revision that Ready is about: it `runs` if Ready is True, and was `tried` if it is False
 */
export function whyBehindSource(object: AnyObject, which: Which, artifacts: Artifacts): string | undefined {
  const source = ociSourceOf(object);
  if (!source || !artifacts.has(refKey(source))) return undefined;
  const reported = stringAt(object, REVISIONS.get(object.kind)?.[which] ?? []);
  const artifact = artifacts.get(refKey(source));
  if (reported === undefined || (artifact !== undefined && namesArtifact(reported, artifact))) return undefined;
  const suspended = fieldAt(object, ['spec', 'suspend']) === true ? ' and is suspended' : '';
  const has = artifact === undefined ? 'fetches another version' : `has ${artifact}`;
  return `${which} ${reported}${suspended}, and ${source.kind} ${source.name} ${has}`;
}
