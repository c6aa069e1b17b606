/** Reviews of other accounts' rights: those of our ServiceAccounts, and the hook server's rights to read for a bake. */
import type { FluxObject } from '../../api/flux.ts';
import { planReads } from '../../core/health/inventoryReads.ts';
import { evaluatedHere, parseInventory } from '../../core/health/objects/inventory.ts';
import { groupOf } from '../../core/kube/names.ts';
import { LIMITS } from '../../core/limits.ts';
import { type KubeClient, unlessRefused } from '../kube/kubeClient.ts';

export const HOOK_SERVER = 'system:serviceaccount:rollout-hooks:rollout-hooks';

/** A right that an account needs. Without a namespace: in the whole cluster. */
export interface Need {
  verb: string;
  group: string;
  resource: string;
  subresource?: string | undefined;
  namespace?: string;
}

/** Whether the account has a right; undefined if the user isn't allowed to review that. */
export function isAllowed(client: KubeClient, user: string, resourceAttributes: Need): Promise<boolean | undefined> {
  const apiVersion = 'authorization.k8s.io/v1';
  const spec = { user, groups: ['system:serviceaccounts', 'system:authenticated'], resourceAttributes };
  const review = { apiVersion, kind: 'SubjectAccessReview', spec };
  const created = client.create<{ status?: { allowed?: boolean } }>(
    { apiVersion, resource: 'subjectaccessreviews' },
    review,
  );
  return unlessRefused(
    created.then(({ object }) => object.status?.allowed === true),
    403,
  );
}

/**
 * A function that returns the resources of a Kustomization's inventory, as `canaries.flagger.app`, that the hook server
 * isn't allowed to read for HealthChecks; undefined if the user isn't allowed to review that. It reviews each right
 * once.
 */
export function unreadableReviewer(client: KubeClient) {
  const answers = new Map<string, Promise<boolean | undefined>>();
  const mayRead = (need: Need) => {
    const key = JSON.stringify(need);
    const answer = answers.get(key) ?? isAllowed(client, HOOK_SERVER, need);
    answers.set(key, answer);
    return answer;
  };
  return async (kustomization: FluxObject): Promise<string[] | undefined> => {
    // The hooks read nothing of another cluster.
    if (kustomization.spec?.kubeConfig) return [];
    const { inventory } = (kustomization.status ?? {}) as { inventory?: { entries?: unknown } };
    const { resources } = evaluatedHere(kustomization as never, parseInventory(inventory?.entries));
    const unreadable = new Set<string>();
    for (const { apiVersion, kind, namespace, how } of planReads(resources).slice(0, LIMITS.inventoryKinds)) {
      if (how === 'nothing') continue;
      const served = (await client.resources(apiVersion)).find((each) => each.kind === kind);
      if (!served) continue;
      const need = { verb: how === 'get' ? 'get' : 'list', group: groupOf(apiVersion), resource: served.name };
      // Most rights are of the whole cluster, so this answer serves many namespaces.
      let may = await mayRead(need);
      if (may === false && namespace !== '') may = await mayRead({ ...need, namespace });
      if (may === undefined) return undefined;
      if (!may) unreadable.add(need.group ? `${need.resource}.${need.group}` : need.resource);
    }
    return [...unreadable].sort();
  };
}
