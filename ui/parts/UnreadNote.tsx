/** Notices about the kinds that can't be shown. */
import { BOUND_KINDS } from '../../api/kinds.ts';
import type { KindState } from '../../client/board/pageMessages.ts';
import { pluralOf } from '../../core/text/count.ts';
import { kinds } from '../state/stream.ts';

/** The kinds of bound objects, of which the page reads only failures. */
const BOUND: readonly string[] = BOUND_KINDS.map(({ kind }) => kind);

/** The notices of all clusters. `of`: the kinds that are shown here besides Rollouts. */
export function UnreadNote({ of }: { of: readonly string[] }) {
  return (
    <>
      {[...Map.groupBy(kinds.value, ({ cluster }) => cluster)].map(([cluster, states]) => (
        <UnreadOf key={cluster} cluster={cluster} states={states} of={of} />
      ))}
    </>
  );
}

interface UnreadOfProps {
  cluster: string | undefined;
  states: readonly KindState[];
  of: readonly string[];
}

function UnreadOf({ cluster, states, of }: UnreadOfProps) {
  const isMissing = ({ state }: KindState) => state === 'forbidden' || state === 'absent';
  const hasNoRollouts = states.some((each) => each.kind === 'Rollout' && isMissing(each));
  // With one cluster, the page itself has the message.
  if (hasNoRollouts && cluster === undefined) return null;
  const shown = hasNoRollouts ? ['Rollout', ...of] : of;
  const ofHere = states.filter(({ kind }) => shown.includes(kind));
  const everywhere = ofHere.filter(isMissing).map(({ kind }) => pluralOf(kind));
  const inSome = ofHere.flatMap(({ kind, forbiddenIn }) =>
    forbiddenIn ? [`${pluralOf(kind)} in ${forbiddenIn.join(', ')}`] : [],
  );
  const missing = [...(everywhere.length > 0 ? [everywhere.join(', ')] : []), ...inSome];
  const narrowed = states.find(({ kind, namespace }) => namespace && !BOUND.includes(kind));
  const where = cluster === undefined ? '' : `Cluster ${cluster}: `;
  if (missing.length === 0 && !narrowed) return null;
  return (
    <div class="notice tone-held" role="status">
      {narrowed && (
        <p>
          {where}You aren't allowed to read the whole cluster: only namespace {narrowed.namespace} is shown.
        </p>
      )}
      {missing.length > 0 && (
        <p>
          {where}Not shown, because you aren't allowed to read them or they are not installed: {missing.join('; ')}.
          Steps that depend on them are marked as unknown.
        </p>
      )}
    </div>
  );
}
