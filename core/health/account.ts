/** As whom Flux applies a Kustomization: as far as that account may reach, its inventory is read. */
import type { UserInfo } from '../../api/admission.ts';
import type { Kustomization } from '../../api/flux.ts';

/** undefined: as the controller itself, which by Flux's own installation is cluster admin. */
export function applyingAccount({ metadata, spec }: Kustomization, fallback: string | undefined): UserInfo | undefined {
  const name = (spec as { serviceAccountName?: string } | undefined)?.serviceAccountName || fallback;
  const { namespace = '' } = metadata;
  if (!name) return undefined;
  return {
    username: `system:serviceaccount:${namespace}:${name}`,
    groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
  };
}
