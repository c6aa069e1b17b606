/** What a step says, beside its state. */
import type { Step } from './application.ts';

/** What the deployed version has passed, and the one that waits has not come to yet. */
export function isOfEarlier({ kind, state }: Step, waiting: string | undefined): boolean {
  return waiting !== undefined && state === 'passed' && (kind === 'binding' || kind === 'bake');
}

/** A bound object that Flux could not bring to its spec. */
export function isFailedObject({ kind, state }: Step): boolean {
  return kind === 'binding' && state === 'failed';
}
