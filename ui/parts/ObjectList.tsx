/** Objects with links to their pages. */
import type { NamespacedName } from '../../api/kubernetes.ts';
import { linkTo } from '../state/route.ts';

interface ObjectListProps {
  /** `isKnown` false: the page has no page for its kind. */
  objects: readonly (NamespacedName & { kind: string; isKnown?: boolean })[];
  /** The number of objects, including those that are not listed. */
  count: number;
}

export function ObjectList({ objects, count }: ObjectListProps) {
  return (
    <ul class="line held">
      {objects.map(({ kind, namespace, name, isKnown = true }) => (
        <li key={`${kind}/${namespace}/${name}`}>
          <span>{kind}</span>
          {isKnown && namespace ? (
            <a href={linkTo.object({ kind, namespace, name })}>{`${namespace}/${name}`}</a>
          ) : (
            <b>{namespace ? `${namespace}/${name}` : name}</b>
          )}
        </li>
      ))}
      {count > objects.length && objects.length > 0 && <li class="meta">and {count - objects.length} more</li>}
    </ul>
  );
}
