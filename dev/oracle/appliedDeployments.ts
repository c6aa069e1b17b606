/**
 * The deployments that each bound object has applied: an independent, minimal version of the rules in docs/rollouts.md.
 * Covers OCIRepositories, and Kustomizations whose source is Git or an OCIRepository that the same Rollout sets.
 */
import type { AnyObject } from '../client/send.ts';
import { type FluxObject, managedFieldsOf, managedValue } from '../reference/flux.ts';

const DEPLOYED = 'rollout.kuberik.com/deployed';

interface DeploymentMark {
  /** The entry as the annotation has it. */
  text: string;
  rollout: string;
  uid: string;
  id: number;
  version: string;
}

/** Deployments that the object's annotation names: `<rollout>=<id>/<version>/<uid>`, comma-separated. */
export function deploymentsOn(object: AnyObject): DeploymentMark[] {
  // A decorator's trigger that the webhook hasn't seen ends with `,@<minute>`.
  const entries = (object.metadata.annotations?.[DEPLOYED] ?? '').split(',').filter((entry) => /^[^@]/.test(entry));
  return entries.map((text: string) => {
    const [, rollout = '', id, version = '', uid = ''] = /^(.+)=(\d+)\/(.+)\/([^/]+)$/.exec(text.trim()) ?? [];
    return { text, rollout, uid, id: Number(id), version };
  });
}

/** A bound object, from its creation to its deletion. */
interface Bound {
  object: AnyObject;
  /** Since when each Rollout has had a managed field in the object, by the Rollout's name. */
  since: Map<string, number>;
  /** Applied deployments, as `<Rollout's uid>/<id>`. */
  applied: Set<string>;
}

export class AppliedDeployments {
  /** By key in etcd. */
  private readonly objects = new Map<string, Bound>();

  /** Takes the next stored version of a Flux object. `seenMs`: the version was stored then or earlier. */
  take(key: string, object: AnyObject | undefined, seenMs: number): void {
    if (!object) {
      this.objects.delete(key);
      return;
    }
    const known = this.objects.get(key);
    const isSame = known?.object.metadata.uid === object.metadata.uid;
    const since = new Map(
      [...managedFieldsOf(object as FluxObject).values()].map((name) => [
        name,
        (isSame && known?.since.get(name)) || seenMs,
      ]),
    );
    const current = deploymentsOn(object).filter(
      ({ rollout, version }) => hasVersion(object, rollout, version) && isApplied(object, version),
    );
    const applied = new Set([
      ...(isSame && known ? known.applied : []),
      ...current.map(({ uid, id }) => `${uid}/${id}`),
    ]);
    this.objects.set(key, { object, since, applied });
  }

  /** Objects, as `Kind name`, that were bound to the Rollout at `ms` or before and never applied the deployment. */
  objectsWithout({ metadata }: AnyObject, id: number, ms: number): string[] {
    const bound = [...this.objects.values()].filter(
      ({ object, since }) =>
        object.metadata.namespace === metadata.namespace &&
        !object.metadata.deletionTimestamp &&
        (since.get(metadata.name ?? '') ?? Number.POSITIVE_INFINITY) <= ms,
    );
    const without = bound.filter(({ applied }) => !applied.has(`${metadata.uid}/${id}`));
    return without.map(({ object }) => `${object.kind} ${object.metadata.name}`);
  }
}

function hasVersion(object: AnyObject, rollout: string, version: string): boolean {
  const fields = [...managedFieldsOf(object as FluxObject)].filter(([, owner]) => owner === rollout);
  return fields.every(([field]) => managedValue(object as FluxObject, field) === version);
}

function isApplied({ kind, metadata, spec, status }: AnyObject, version: string): boolean {
  const isCurrent = spec?.suspend !== true && status?.observedGeneration === metadata.generation;
  const begin = `${version}@`;
  if (kind === 'OCIRepository') return isCurrent && status?.artifact?.revision?.startsWith(begin) === true;
  const ready = status?.conditions?.find(({ type }: AnyObject) => type === 'Ready');
  const isReady = ready?.status === 'True' && ready.observedGeneration === metadata.generation;
  const isOfGit = spec?.sourceRef?.kind === 'GitRepository' && status?.lastAppliedRevision !== undefined;
  return isCurrent && isReady && (isOfGit || status?.lastAppliedRevision?.startsWith(begin) === true);
}
