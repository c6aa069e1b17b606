/** What is not shown, and why: a page that leaves things out must say so. */
import { BOUND_KINDS } from '../../api/kinds.ts';
import { kinds } from '../state/stream.ts';

/** Of Flux: what is read of them says no more than whether an application has failed. */
const BOUND: readonly string[] = BOUND_KINDS.map(({ kind }) => kind);

/** `of`: the kinds that are shown here beside Rollouts. */
export function Unread({ of }: { of: readonly string[] }) {
  const rollouts = kinds.value.find(({ kind }) => kind === 'Rollout');
  const missing = kinds.value.filter(
    ({ kind, state }) => of.includes(kind) && (state === 'forbidden' || state === 'absent'),
  );
  const narrowed = kinds.value.find(({ kind, namespace }) => namespace && !BOUND.includes(kind));
  if (rollouts?.state === 'forbidden' || rollouts?.state === 'absent') return null;
  const behind = kinds.value.filter(({ state }) => state === 'reconnecting' || state === 'signed-out');
  if (missing.length === 0 && !narrowed && behind.length === 0) return null;
  return (
    <div class="notice" role="status">
      {behind.length > 0 && (
        <p>
          {behind.some(({ state }) => state === 'signed-out')
            ? 'Your credentials are no longer accepted: sign in again as you do for kubectl. '
            : `The cluster does not answer (${behind[0]?.why}). `}
          What you see is how it was.
        </p>
      )}
      {narrowed && <p>You may not read the whole cluster: only namespace {narrowed.namespace} is shown.</p>}
      {missing.length > 0 && (
        <p>
          Not shown, because you may not read {missing.length === 1 ? 'it' : 'them'} or{' '}
          {missing.length === 1 ? 'it is' : 'they are'} not installed:{' '}
          {missing.map(({ kind }) => `${kind}s`).join(', ')}. What depends on {missing.length === 1 ? 'it' : 'them'} is
          marked as unknown.
        </p>
      )}
    </div>
  );
}
