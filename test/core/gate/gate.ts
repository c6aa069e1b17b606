import type { Gate } from '../../../api/types.ts';
import { evaluateGate } from '../../../core/gate/gateTimeline.ts';
import { formatTime } from '../../../core/kube/time.ts';
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

const TIMES = ['until', 'resetToDefaultAt'] as const;

/** The evaluation, with times in the stored form. */
export function evaluated(of: Gate, at: string): Record<string, unknown> {
  const {
    request,
    cause: _,
    closure: __,
    opensByApprovalsOnly: ___,
    exception,
    ...evaluation
  } = evaluateGate(of, Date.parse(at));
  const shown: Record<string, unknown> = { ...evaluation, ...(request && { requestedAt: formatTime(request.at) }) };
  for (const key of TIMES) if (evaluation[key] !== undefined) shown[key] = formatTime(evaluation[key]);
  if (request) shown.request = { ...request, at: formatTime(request.at) };
  if (exception) {
    const { at, until } = exception;
    shown.exception = { ...exception, at: formatTime(at), ...(until !== undefined && { until: formatTime(until) }) };
  }
  return shown;
}

/** The expected values of a table, in which null stands for undefined. */
export function expectedOf(table: object): object {
  return Object.fromEntries(Object.entries(table).map(([key, value]) => [key, value ?? undefined]));
}
