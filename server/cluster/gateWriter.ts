/** The port `GateWriter`: a merge patch that fails when the Gate has changed since it was read. */
import { GATES } from '../../api/kinds.ts';
import type { GateWriter } from '../../api/ports.ts';
import { isApiError } from './apiError.ts';
import { resourcePath, withQuery } from './paths.ts';
import type { Transport } from './transport.ts';

/** Must not begin with `kubectl`: Flux removes the fields of such field managers from objects in Git. */
const FIELD_MANAGER = 'rollout-hooks';

export function createGateWriter(transport: Transport): GateWriter {
  return {
    async annotate({ metadata: { namespace, name, resourceVersion } }, annotations) {
      const path = resourcePath({ ...GATES, namespace: namespace! }, name!);
      try {
        await transport.send({
          method: 'PATCH',
          path: withQuery(path, { fieldManager: FIELD_MANAGER }),
          contentType: 'application/merge-patch+json',
          body: { metadata: { resourceVersion, annotations } },
        });
        return 'stored';
      } catch (error) {
        if (isApiError(error, 409)) return 'conflict';
        if (isApiError(error, 403)) return 'forbidden';
        throw error;
      }
    },
  };
}
