import { formatTime } from '../kube/time.ts';
import type { GateEvaluation } from './evaluate.ts';

/**
 * Tells one closing of a Gate from any other: by which request it is, and until when by itself. Empty for a Gate that is closed
 * by default. A planned request is none before its time.
 */
export function closingOf({ request, planned, until }: GateEvaluation): string {
  const by = request ? `${request.action}=${formatTime(request.at)}` : '';
  return until === undefined || until === planned?.at ? by : `${by}~${formatTime(until)}`;
}
