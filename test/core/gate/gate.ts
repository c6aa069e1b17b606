import type { Gate } from '../../../api/types.ts';
import { objectOf } from '../../support/objects.ts';

/** A Gate as the API server would hand it over. */
export function gate(spec: Gate['spec'], annotations?: Record<string, string>, metadata: Gate['metadata'] = {}): Gate {
  return objectOf('Gate', {
    metadata: {
      name: 'freeze',
      namespace: 'platform',
      uid: 'u-1',
      generation: 1,
      ...metadata,
      ...(annotations && { annotations }),
    },
    spec,
  });
}
