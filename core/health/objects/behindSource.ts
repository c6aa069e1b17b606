/**
 * Flux objects that are ready with an older version than their source has. A chart's or source's new version changes
 * nothing in the objects that use it: until their controller begins, which takes as long as it is down, they are Ready.
 */
import type { FluxObject } from '../../../api/flux.ts';
import { KINDS } from '../../../api/kinds.ts';
import type { AnyObject } from '../../../api/kubernetes.ts';
import { fieldAt, stringAt } from '../../kstatus/fields.ts';
import { groupOf, refKey } from '../../kube/names.ts';
import { fetchedRevision, namesArtifact, sourceOf } from '../../managedField/source.ts';

const isKind = ({ apiVersion, kind }: AnyObject, known: { group: string; kind: string }) =>
  kind === known.kind && groupOf(apiVersion) === known.group;

/** The artifacts that the OCIRepositories among the objects have fetched, by `namespace/name`. */
export function fetchedArtifacts(objects: readonly AnyObject[]): ReadonlyMap<string, string> {
  const sources = objects.filter((object) => isKind(object, KINDS.OCIRepository));
  return new Map(
    sources.flatMap((source): [string, string][] => {
      const { namespace = '', name = '' } = source.metadata;
      const revision = fetchedRevision(source as FluxObject);
      return revision === undefined ? [] : [[refKey({ namespace, name }), revision]];
    }),
  );
}

/** Why the object doesn't run what its source has fetched; undefined if it does, or if that isn't known. */
export function whyBehindSource(object: AnyObject, artifacts: ReadonlyMap<string, string>): string | undefined {
  const isRelease = isKind(object, KINDS.HelmRelease);
  if (!isRelease && !isKind(object, KINDS.Kustomization)) return undefined;
  const source = sourceOf(object as FluxObject);
  const artifact = source?.kind === KINDS.OCIRepository.kind ? artifacts.get(refKey(source)) : undefined;
  const applied = isRelease
    ? stringAt(object, ['status', 'history', 0, 'ociDigest'])
    : stringAt(object, ['status', 'lastAppliedRevision']);
  if (!source || artifact === undefined || applied === undefined || namesArtifact(applied, artifact)) return undefined;
  const suspended = fieldAt(object, ['spec', 'suspend']) === true ? ' and is suspended' : '';
  return `${source.kind} ${source.name} has ${artifact}, it has ${applied}${suspended}`;
}
