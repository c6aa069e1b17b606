/**
 * The deployments that each bound object has shown as arrived: docs/rollouts.md "Arrival", a second time and as plainly as possible, for
 * OCIRepositories and for Kustomizations whose source is Git, or an OCIRepository that the same Rollout sets.
 */
import type { AnyObject } from '../client/send.ts';
import { managedFieldsOf, type Thing } from '../reference/flux.ts';

const DEPLOYED = 'rollout.kuberik.com/deployed';

export interface CarriedDeployment {
  /** The entry of the annotation. */
  text: string;
  rollout: string;
  uid: string;
  id: number;
  version: string;
}

/** The annotation has `<rollout>=<id>/<version>/<uid>`, comma-separated. */
export function deploymentsOn(object: AnyObject): CarriedDeployment[] {
  const entries = (object.metadata.annotations?.[DEPLOYED] ?? '').split(',').filter(Boolean);
  return entries.map((text: string) => {
    const [, rollout = '', id, version = '', uid = ''] = /^(.+)=(\d+)\/(.+)\/([^/]+)$/.exec(text.trim()) ?? [];
    return { text, rollout, uid, id: Number(id), version };
  });
}

/** One object, from its creation to its deletion. */
interface Bound {
  object: AnyObject;
  /** Since when the Rollouts set something in it, by name. */
  since: Map<string, number>;
  /** `<uid>/<id>` of deployments. */
  shown: Set<string>;
}

export class Arrivals {
  /** By key in etcd. */
  private readonly objects = new Map<string, Bound>();

  /** The next stored version of a Flux object; `seenMs`: it was stored then or earlier. */
  take(key: string, object: AnyObject | undefined, seenMs: number): void {
    if (!object) {
      this.objects.delete(key);
      return;
    }
    const known = this.objects.get(key);
    const isSame = known?.object.metadata.uid === object.metadata.uid;
    const since = new Map(
      [...managedFieldsOf(object as Thing).values()].map((name) => [
        name,
        (isSame && known?.since.get(name)) || seenMs,
      ]),
    );
    const arrived = deploymentsOn(object).filter(({ version }) => hasArrived(object, version));
    const shown = new Set([...(isSame && known ? known.shown : []), ...arrived.map(({ uid, id }) => `${uid}/${id}`)]);
    this.objects.set(key, { object, since, shown });
  }

  /** The objects that have been bound to the Rollout since `ms` or longer, and never showed the deployment: `Kind name`. */
  missing({ metadata }: AnyObject, id: number, ms: number): string[] {
    const bound = [...this.objects.values()].filter(
      ({ object, since }) =>
        object.metadata.namespace === metadata.namespace &&
        !object.metadata.deletionTimestamp &&
        (since.get(metadata.name ?? '') ?? Number.POSITIVE_INFINITY) <= ms,
    );
    const without = bound.filter(({ shown }) => !shown.has(`${metadata.uid}/${id}`));
    return without.map(({ object }) => `${object.kind} ${object.metadata.name}`);
  }
}

function hasArrived({ kind, metadata, spec, status }: AnyObject, version: string): boolean {
  const isCurrent = spec?.suspend !== true && status?.observedGeneration === metadata.generation;
  const begin = `${version}@`;
  if (kind === 'OCIRepository') return isCurrent && status?.artifact?.revision?.startsWith(begin) === true;
  const ready = status?.conditions?.find(({ type }: AnyObject) => type === 'Ready');
  const isReady = ready?.status === 'True' && ready.observedGeneration === metadata.generation;
  const isOfGit = spec?.sourceRef?.kind === 'GitRepository' && status?.lastAppliedRevision !== undefined;
  return isCurrent && isReady && (isOfGit || status?.lastAppliedRevision?.startsWith(begin) === true);
}
