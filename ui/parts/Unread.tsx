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
  if (missing.length === 0 && !narrowed) return null;
  return (
    <div class="notice" role="status">
      {narrowed && <p>You may not read the whole cluster: only namespace {narrowed.namespace} is shown.</p>}
      {missing.length > 0 && (
        <p>
          Not shown, because you may not read them or they are not installed:{' '}
          {missing.map(({ kind }) => `${kind}s`).join(', ')}. What depends on them is marked as unknown.
        </p>
      )}
    </div>
  );
}
