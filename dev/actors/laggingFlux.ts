/**
 * A kustomize-controller with stale caches: each version of Kustomization and source is seen in order, a random number
 * of versions late, and then applied. As in kustomize-controller, the attempt is written first, and ends if that write
 * is refused.
 */
import type { AnyObject } from '../client/send.ts';
import { ApiError } from '../client/send.ts';
import { appliedStatus, conditionAt, conditions, echo } from './fluxStatus.ts';
import { ref } from './objects.ts';
import type { User } from './user.ts';

/** An apply: the tag of the artifact, and the value of the variable. */
interface Applied {
  artifact: string;
  variable: string | undefined;
}

interface LaggingFlux {
  /** Every apply so far, without consecutive repetitions. */
  readonly applied: Applied[];
  /** Number of attempts that the API server refused. */
  readonly refused: number;
  stop(): Promise<void>;
}

interface LagOptions {
  namespace: string;
  /** Name of the Kustomization and of its OCIRepository. */
  name: string;
  variable: string;
  /** From 0 to below 1. */
  random: () => number;
}

export function laggingFlux(flux: User, { namespace, name, variable, random }: LagOptions): LaggingFlux {
  const applied: Applied[] = [];
  let refused = 0;
  let stopped = false;
  const [object, source] = [ref('kustomization', namespace, name), ref('ociRepository', namespace, name)];
  const [objects, sources] = [cacheOf(random), cacheOf(random)];

  async function attempt(seen: AnyObject, artifact: AnyObject): Promise<void> {
    const revision: string | undefined = artifact.status?.artifact?.revision;
    if (seen.spec.suspend) await flux.patchStatus(object, echo(seen));
    if (seen.spec.suspend || revision === undefined) return;
    const message = `Building manifests for revision ${revision} with a timeout of 10m`;
    // Trap: conditions get the generation that is stored when they are written, not the one that is being applied.
    const begin = async () => {
      const live = await flux.get(object);
      const reconciling = conditionAt(flux, 'Reconciling', live.metadata.generation, 'True', 'Progressing', message);
      await flux.patchStatus(object, { conditions: conditions(live, [reconciling]) });
    };
    if (
      !(await accepted(begin)) ||
      !(await accepted(() => flux.patchStatus(object, { lastAttemptedRevision: revision })))
    ) {
      refused++;
      await accepted(() => flux.patchStatus(object, { lastAttemptedRevision: revision, ...echo(seen) }));
      return;
    }
    const pair = { artifact: revision.split('@')[0] ?? '', variable: seen.spec.postBuild?.substitute?.[variable] };
    const last = applied.at(-1);
    if (last?.artifact !== pair.artifact || last.variable !== pair.variable) applied.push(pair);
    await flux.patchStatus(object, appliedStatus(flux, seen, revision, await flux.get(object)));
  }

  const loop = (async () => {
    while (!stopped) {
      const [seen, artifact] = [objects(await flux.get(object)), sources(await flux.get(source))];
      await attempt(seen, artifact);
    }
  })();
  return {
    applied,
    get refused() {
      return refused;
    },
    stop: async () => {
      stopped = true;
      await loop;
    },
  };
}

async function accepted(write: () => Promise<unknown>): Promise<boolean> {
  try {
    await write();
    return true;
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 422) throw error;
    return false;
  }
}

/** A stale cache: returns the versions that it is given in order, each a random number of calls late. */
function cacheOf(random: () => number): (newest: AnyObject) => AnyObject {
  const behind: AnyObject[] = [];
  return (newest) => {
    if (behind.at(-1)?.metadata.resourceVersion !== newest.metadata.resourceVersion) behind.push(newest);
    while (behind.length > 1 && random() < 0.4) behind.shift();
    return behind[0]!;
  };
}
