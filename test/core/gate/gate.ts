import type { Gate } from '../../../api/types.ts';

/** A Gate as the API server would hand it over. */
export function gate(spec: Gate['spec'], annotations?: Record<string, string>, metadata: Gate['metadata'] = {}): Gate {
  return {
    apiVersion: 'gating.toolkit.fluxcd.io/v1alpha1',
    kind: 'Gate',
    metadata: {
      name: 'freeze',
      namespace: 'platform',
      uid: 'u-1',
      generation: 1,
      ...metadata,
      ...(annotations && { annotations }),
    },
    spec,
  };
}
