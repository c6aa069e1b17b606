/** The cluster that the address names: a filter, or where something is made. Nothing with one cluster. */
import { clusters } from '../state/cluster.ts';
import { query, setQuery } from '../state/route.ts';

/** `none`: what it means to name none. */
export function ClusterChoice({ none }: { none: string }) {
  if (clusters.value.length === 0) return null;
  return (
    <select
      class="choice"
      aria-label="Cluster"
      value={query.value.cluster ?? ''}
      onChange={(event) => setQuery({ cluster: event.currentTarget.value })}
    >
      <option value="">{none}</option>
      {clusters.value.map(({ name }) => (
        <option key={name} value={name}>
          {name}
        </option>
      ))}
    </select>
  );
}
