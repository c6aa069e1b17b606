/** Where the API server serves our kinds. */
import type { ResourceRef } from './ports.ts';

const KUBERIK = 'kuberik.com/v1alpha1';
const GATING = 'gating.toolkit.fluxcd.io/v1alpha1';

export const GATES = { apiVersion: GATING, resource: 'gates' } as const satisfies ResourceRef;
export const ROLLOUTS = { apiVersion: KUBERIK, resource: 'rollouts' } as const satisfies ResourceRef;
export const FLUX_BINDINGS = { apiVersion: KUBERIK, resource: 'fluxbindings' } as const satisfies ResourceRef;
