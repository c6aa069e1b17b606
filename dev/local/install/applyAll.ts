import type { Access } from '../../client/kubeconfig.ts';
import { applyObject } from '../../client/resources.ts';
import { type AnyObject, ApiError } from '../../client/send.ts';
import { Problem } from '../process/problem.ts';

export const MANAGER = 'rollout-hooks-local';

/** Applies objects in parallel. Unknown fields are errors. A refusal becomes a Problem that names the object. */
export async function applyAll(admin: Access, objects: AnyObject[]): Promise<void> {
  await Promise.all(
    objects.map(async (object) => {
      try {
        await applyObject(admin, object, { manager: MANAGER, force: true, strict: true });
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        throw new Problem(`The API server refuses ${object.kind} ${object.metadata.name}: ${error.message}`);
      }
    }),
  );
}
